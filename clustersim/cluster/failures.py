"""When which cause strikes which node: ages that survive other failures, two heaps instead of a process per node."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import simpy

from clustersim.cluster.causes import JOB, Cause, Strike
from clustersim.cluster.clock import Alarm, Rank
from clustersim.cluster.lifetimes import Lifetimes
from clustersim.cluster.machine import Machine


@dataclass(slots=True, eq=False)
class Life:
    """The present life of a node, of a domain or of the job under a cause; or one entry of a scripted cause."""

    k: int
    end: int | None = None  # by the cause's own time; None while the job does not hold the node, if it ages there
    left: int = 0  # of the life then (ns)


# (end, cause, entity, k, life); it is stale if the life ends at another time by now.
_Entry = tuple[int, int, int, int, Life]
_NOTHING_DUE = 2**64


class Failures:
    """The lives of all (cause, node) and (cause, domain) pairs, as heaps of those that end within the horizon.

    A cause ages by wall time (always, wherever the node is), in the job (while the job holds the node) or in training
    (while, besides, a leg runs). A life that ends while its node is being repaired ends unseen: the repair renews it.
    Cost: one vectorised draw at the start, then O(log) per failure; nothing per idle node. One alarm is set, for the
    first strike that is due; `strike` is told the time then, and pops all that strikes.
    """

    def __init__(
        self,
        env: simpy.Environment,
        causes: Sequence[Cause],
        lifetimes: Lifetimes,
        machine: Machine,
        horizon_ns: int,
        strike: Callable[[int], None],
    ) -> None:
        self._env = env
        self._strike = strike
        self._lifetimes = lifetimes
        self._horizon = horizon_ns
        self._causes = causes
        self._first_nodes = machine.nodes
        by_node = [cause for cause in causes if cause.life is not None and cause.scope == "node"]
        self._aged_by_node = [cause for cause in by_node if cause.ages != "wall"]
        self._of_node = [cause.index for cause in by_node]
        self._renewed: list[Sequence[int]] = [()] * len(causes)  # cause -> causes that a repair of its node renews
        for cause in by_node:
            self._renewed[cause.index] = self._of_node if cause.renews_all else (cause.index,)
        # Cause -> entity -> life; absent: the first, which ends beyond the horizon, or whose node was never in the job.
        self._lives: list[dict[int, Life]] = [{} for _ in causes]
        self._out: dict[int, dict[int, int | None]] = {}  # node in repair -> causes that begin anew then, with the life
        self._generation: dict[int, int] = {}  # node -> how many have stood in its place before
        self._lemons_cured = machine.lemons_cured
        self._cured: dict[int, None] = {}  # nodes that a repair has made sound
        self._armed: int | None = None  # when the alarm rings; None while something strikes
        self._wall: list[_Entry] = []  # by wall time
        self._training: list[_Entry] = []  # by training time
        self._trained = 0  # training time until the last leg's end
        self._behind: int | None = None  # while a leg runs: how far training time is behind wall time
        for cause, entity, k, end in self._first_ends(machine):
            life = self._lives[cause.index][entity] = Life(k, end)
            if end <= horizon_ns:
                heap = self._training if cause.ages == "training" else self._wall
                heap.append((end, cause.index, entity, k, life))
        heapify(self._wall)
        heapify(self._training)
        self.arm(0)

    def _first_ends(self, machine: Machine) -> Iterator[tuple[Cause, int, int, int]]:
        """(cause, entity, k, end of life k) of the first lives that end within the horizon, and of what is scripted."""
        aging: list[tuple[Cause, int]] = []
        for cause in self._causes:
            if cause.life is None:
                for entry, end in enumerate(cause.at_times_ns):
                    yield cause, cause.at_nodes[entry] if cause.at_nodes else JOB, entry, end
            elif cause.scope == "job":
                yield cause, JOB, 0, self._lifetimes.life(cause, JOB, 0)
            elif cause.ages != "wall":
                aging.append((cause, machine.nodes))
            elif cause.scope == "domain":
                aging.append((cause, machine.domains(cause.nodes_per_domain)))
            else:
                aging.append((cause, machine.all_nodes))
        for cause, entity, end in self._lifetimes.first_lives(aging, self._horizon):
            yield cause, entity, 0, end

    def _age(self, life: Life, cause: Cause, entity: int, now: int, lasts: int) -> None:
        """From now on the life ages, and lasts so long (ns)."""
        if cause.ages == "training":
            heap, end = self._training, self._trained_by(now) + lasts
        else:
            heap, end = self._wall, now + lasts
        life.end = end
        if end <= self._horizon:
            entry = (end, cause.index, entity, life.k, life)
            heappush(heap, entry)
            if heap[0] is entry:
                self._come_nearer(now)

    def _trained_by(self, now: int) -> int:
        """Training time until now."""
        return self._trained if self._behind is None else now - self._behind

    @property
    def training(self) -> bool:
        """Whether a leg runs."""
        return self._behind is not None

    def arm(self, now: int) -> None:
        """Set the alarm anew, as what struck has struck."""
        self._armed = _NOTHING_DUE
        self._come_nearer(now)

    def _come_nearer(self, now: int) -> None:
        """Set the alarm to what is due first if the job goes on as it is, unless it is set; a stale entry rings too."""
        due = self._wall[0][0] if self._wall else _NOTHING_DUE
        if self._training and self._behind is not None:
            due = min(due, max(now, self._training[0][0] + self._behind))
        if self._armed is not None and due < self._armed:
            self._armed = due
            Alarm(self._env, due, Rank.STRIKE, self._ring)

    def _ring(self, alarm: Alarm) -> None:
        if alarm.at_ns == self._armed:  # or else a nearer one replaced it
            self._armed = None
            self._strike(alarm.at_ns)
            if self._armed is None:
                self.arm(alarm.at_ns)

    def pop(self, now: int) -> Strike | None:
        """The next strike at or before `now`, in the order of (time, cause, node); first what ages by wall time."""
        while True:
            if self._wall and self._wall[0][0] <= now:
                end, index, entity, _, life = heappop(self._wall)
            elif self._training and self._behind is not None and self._training[0][0] + self._behind <= now:
                end, index, entity, _, life = heappop(self._training)
            else:
                return None
            if life.end != end:
                continue
            if entity in self._out and self._renewed[index]:
                self._out[entity].setdefault(index)  # a life that ends while its node is in repair ends unseen
            else:
                return Strike(self._causes[index], entity, life.k)

    def _first_life(self, cause: Cause, node: int) -> Life:
        """Of a node that the job has held all the time, or never, under a cause that ages in the job."""
        lasts = self._lifetimes.life(cause, node, 0, self._lifetimes.is_lemon(node, 0))
        life = Life(0, lasts) if node < self._first_nodes else Life(0, left=lasts)
        self._lives[cause.index][node] = life
        return life

    def _is_lemon(self, node: int) -> bool:
        return node not in self._cured and self._lifetimes.is_lemon(node, self.generation(node))

    def renew(self, cause: Cause, entity: int, now: int, lasts: int | None = None) -> None:
        """Begin the next life (ns; None: by its law): now, or when the node joins the job if it ages there.

        Of a scripted cause there is none.
        """
        if cause.life is None:
            return
        lives = self._lives[cause.index]
        life = lives.get(entity) or lives.setdefault(entity, Life(0))
        life.k += 1
        if lasts is None:
            is_lemon = cause.lemon_life is not None and self._is_lemon(entity)
            lasts = self._lifetimes.life(cause, entity, life.k, is_lemon, now)
        if cause.ages == "wall" or life.end is not None:
            self._age(life, cause, entity, now, lasts)
        else:
            life.left = lasts

    def take_out(self, node: int, strike: Strike) -> None:
        """The node goes to repair, which will renew the cause, or all causes if that is what the cause says.

        The failure of its domain, or of another node that it is mistaken for, leaves the node's own lives as they are.
        """
        self._out[node] = dict.fromkeys(self._renewed[strike.cause.index] if strike.entity == node else ())

    def repaired(self, strike: Strike, mended: bool, life: int | None) -> None:
        """The node's own repair is done, for better or not; it comes back when nothing else holds it.

        What is not mended has a life of its own (ns; None: as any other), and the node is as good as it was.
        """
        if mended and self._lemons_cured:
            self._cured[strike.entity] = None
        if life is not None:
            self._out[strike.entity][strike.cause.index] = life

    def replaced(self, node: int) -> None:
        """A new node, with lives of its own, stands in the place of one that was given up."""
        self._cured.pop(node, None)
        self._generation[node] = self.generation(node) + 1
        self._out[node] = dict.fromkeys(self._of_node)

    def generation(self, node: int) -> int:
        """How many nodes have stood in a node's place before."""
        return self._generation.get(node, 0)

    def bring_back(self, node: int, now: int) -> None:
        """The node is repaired: begin the lives that the repair renews."""
        for index, life in self._out.pop(node).items():
            self.renew(self._causes[index], node, now, life)

    def join(self, node: int, now: int) -> None:
        """The job takes the node: it ages again by the causes that age in the job."""
        for cause in self._aged_by_node:
            life = self._lives[cause.index].get(node) or self._first_life(cause, node)
            self._age(life, cause, node, now, life.left)

    def leave(self, node: int, now: int) -> None:
        """The job holds the node no more: it keeps what is left of its lives."""
        for cause in self._aged_by_node:
            life = self._lives[cause.index].get(node) or self._first_life(cause, node)
            assert life.end is not None
            life.left = life.end - (self._trained_by(now) if cause.ages == "training" else now)
            life.end = None

    def training_starts(self, now: int) -> None:
        """A leg begins: what ages in training ages."""
        self._behind = now - self._trained
        if self._training:
            self._come_nearer(now)

    def training_stops(self, now: int) -> None:
        """A leg ends."""
        assert self._behind is not None
        self._trained = now - self._behind
        self._behind = None
        if self._armed is None:
            self.arm(now)
