"""When which cause strikes which node: ages that survive other failures, one heap instead of a process per node."""

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from clustersim.cluster.causes import JOB, Cause
from clustersim.cluster.lifetimes import Lifetimes
from clustersim.cluster.machine import Machine


class Strike(NamedTuple):
    """Life k of a node, of a domain or of the job under a cause ends; for a scripted cause k counts its entries."""

    cause: Cause
    entity: int  # the number of the node or of the domain, or JOB
    k: int


class Failures:
    """The lives of all (cause, node) and (cause, domain) pairs, as heaps of those that end within the horizon.

    A cause ages by wall time (always, wherever the node is), in the job (while the job holds the node) or in training
    (while, besides, a leg runs). A life that ends while its node is being repaired ends unseen: the repair renews it.
    Cost: one vectorised draw a cause at the start, then O(log) per failure; nothing per idle node.
    """

    def __init__(self, causes: Sequence[Cause], lifetimes: Lifetimes, machine: Machine, horizon_ns: int) -> None:
        self._lifetimes = lifetimes
        self._horizon = horizon_ns
        self._causes = causes
        self._by_node = [cause for cause in causes if cause.life is not None and cause.scope == "node"]
        self._aged_by_node = [cause for cause in self._by_node if cause.ages != "wall"]
        self._life: dict[tuple[int, int], int] = {}  # (cause, node) -> index of the current life; absent: 0
        self._out: dict[int, dict[int, int | None]] = {}  # node in repair -> causes that begin anew then, with the life
        self._generation: dict[int, int] = {}  # node -> how many have stood in its place before
        self._lemons_cured = machine.lemons_cured
        self._cured: dict[int, None] = {}  # nodes that a repair has made sound
        self._inside = set(range(machine.nodes)) if self._aged_by_node else set()
        self._due: dict[tuple[int, int], int] = {}  # aged pairs in the job: end of life by the cause's own time
        self.nearer = True
        """Whether a strike may have come nearer since `next_due` was asked last."""
        self._left: dict[tuple[int, int], int] = {}  # aged pairs outside the job: what is left of the life
        self._wall: list[tuple[int, int, int, int]] = []  # (due by wall time, cause, node, life)
        self._training: list[tuple[int, int, int, int]] = []  # the same by training time
        self._trained = 0  # training time until the last leg's end
        self._leg_began: int | None = None
        for cause in causes:
            self._begin(cause, machine)

    def _begin(self, cause: Cause, machine: Machine) -> None:
        """All first lives that end within the horizon."""
        heap = self._training if cause.ages == "training" else self._wall
        if cause.life is None:
            for entry, due in enumerate(cause.at_times_ns):
                heappush(heap, (due, cause.index, cause.at_nodes[entry] if cause.at_nodes else JOB, entry))
        elif cause.scope == "job":
            self._push(cause, JOB, 0, self._lifetimes.life(cause, JOB, 0))
        else:
            aging = machine.domains(cause.nodes_per_domain) if cause.scope == "domain" else machine.all_nodes
            if cause.ages != "wall":
                aging = machine.nodes
            for entity, life in self._lifetimes.first_lives(cause, aging, self._horizon):
                if cause.ages != "wall":
                    self._due[cause.index, entity] = life
                self._push(cause, entity, 0, life)

    def _push(self, cause: Cause, node: int, k: int, due: int) -> None:
        if due <= self._horizon:
            entry = (due, cause.index, node, k)
            heap = self._training if cause.ages == "training" else self._wall
            heappush(heap, entry)
            if heap[0] is entry:
                self.nearer = True

    def _time(self, cause: Cause, now: int) -> int:
        """The time that the cause ages by."""
        if cause.ages != "training":
            return now
        return self._trained + (now - self._leg_began if self._leg_began is not None else 0)

    @property
    def training(self) -> bool:
        """Whether a leg runs."""
        return self._leg_began is not None

    def next_due(self, now: int) -> int | None:
        """The wall time of the next strike if the job goes on as it is; a stale entry may make it too early."""
        self.nearer = False
        due = self._wall[0][0] if self._wall else None
        if self._training and self._leg_began is not None:
            trained = self._trained + now - self._leg_began
            by_training = now + max(0, self._training[0][0] - trained)
            due = by_training if due is None else min(due, by_training)
        return due

    def pop(self, now: int) -> Strike | None:
        """The next strike at or before `now`, in the order of (time, cause, node)."""
        while self._wall and self._wall[0][0] <= now:
            due, index, node, k = heappop(self._wall)
            cause = self._causes[index]
            if cause.life is None:
                return Strike(cause, node, k)
            if not self._current(cause, node, k, due):
                continue
            if cause.scope == "node" and node in self._out:
                self._out[node].setdefault(index)  # a life that ends while its node is in repair ends unseen
                continue
            return Strike(cause, node, k)
        if self._training and self._leg_began is not None:
            trained = self._trained + now - self._leg_began
            while self._training and self._training[0][0] <= trained:
                due, index, node, k = heappop(self._training)
                cause = self._causes[index]
                if self._current(cause, node, k, due):
                    return Strike(cause, node, k)
        return None

    def _current(self, cause: Cause, node: int, k: int, due: int) -> bool:
        """Whether a heap entry still stands for the pair's present life (and, for an aging one, its present stay)."""
        if self._life.get((cause.index, node), 0) != k:
            return False
        if cause.ages == "wall" or node == JOB:
            return True
        return node in self._inside and self._end(cause, node) == due

    def _end(self, cause: Cause, node: int) -> int:
        """The end of life, by the cause's own time, of an aging pair in the job since the start or since it joined."""
        due = self._due.get((cause.index, node))
        if due is None:
            due = self._due[cause.index, node] = self._first_life(cause, node)
        return due

    def _first_life(self, cause: Cause, node: int) -> int:
        return self._lifetimes.life(cause, node, 0, self._lifetimes.is_lemon(node, 0))

    def _is_lemon(self, node: int) -> bool:
        return node not in self._cured and self._lifetimes.is_lemon(node, self.generation(node))

    def renew(self, cause: Cause, node: int, now: int, life: int | None = None) -> None:
        """Begin the pair's next life (ns; None: by its law): now, or when the node joins the job if it ages there."""
        pair = (cause.index, node)
        k = self._life.get(pair, 0) + 1
        self._life[pair] = k
        if life is None:
            is_lemon = cause.lemon_life is not None and cause.scope == "node" and self._is_lemon(node)
            life = self._lifetimes.life(cause, node, k, is_lemon, now)
        if cause.ages == "wall":
            self._push(cause, node, k, now + life)
        elif node == JOB or node in self._inside:
            self._due[pair] = self._time(cause, now) + life
            self._push(cause, node, k, self._due[pair])
        else:
            self._left[pair] = life

    def take_out(self, node: int, strike: Strike, now: int) -> None:
        """The node goes to repair, which will renew the cause, or all causes if that is what the cause says.

        The failure of its domain, or of another node that it is mistaken for, leaves the node's own lives as they are.
        """
        cause = strike.cause
        renewed: dict[int, int | None] = {}
        if cause.life is not None and cause.scope == "node" and strike.entity == node:
            renewed = {other.index: None for other in self._by_node} if cause.renews_all else {cause.index: None}
        self._out[node] = renewed
        if self._aged_by_node:
            self.leave(node, now)

    def repaired(self, strike: Strike, mended: bool, life: int | None) -> None:
        """The node's own repair is done, for better or not; it comes back when nothing else holds it.

        What is not mended has a life of its own (ns; None: as any other), and the node is as good as it was.
        """
        if mended and self._lemons_cured:
            self._cured[strike.entity] = None
        self._out[strike.entity][strike.cause.index] = life

    def replaced(self, node: int) -> None:
        """A new node, with lives of its own, stands in the place of one that was given up."""
        self._cured.pop(node, None)
        self._generation[node] = self.generation(node) + 1
        self._out[node] = {cause.index: None for cause in self._by_node}

    def generation(self, node: int) -> int:
        """How many nodes have stood in a node's place before."""
        return self._generation.get(node, 0)

    def bring_back(self, node: int, now: int) -> None:
        """The node is repaired: begin the lives that the repair renews."""
        for index, life in self._out.pop(node).items():
            self.renew(self._causes[index], node, now, life)

    def join(self, node: int, now: int) -> None:
        """The job takes the node: it ages again by the causes that age in the job."""
        if not self._aged_by_node:
            return
        self._inside.add(node)
        for cause in self._aged_by_node:
            pair = (cause.index, node)
            k = self._life.get(pair, 0)
            left = self._left.pop(pair, None)
            if left is None:
                left = self._first_life(cause, node)
            self._due[pair] = self._time(cause, now) + left
            self._push(cause, node, k, self._due[pair])

    def leave(self, node: int, now: int) -> None:
        """The job gives the node up: it keeps what is left of its lives."""
        if node not in self._inside:
            return
        for cause in self._aged_by_node:
            pair = (cause.index, node)
            self._left[pair] = self._end(cause, node) - self._time(cause, now)
            self._due.pop(pair, None)
        self._inside.discard(node)

    def training_starts(self, now: int) -> None:
        """A leg begins."""
        self._leg_began = now
        if self._training:
            self.nearer = True

    def training_stops(self, now: int) -> None:
        """A leg ends."""
        assert self._leg_began is not None
        self._trained += now - self._leg_began
        self._leg_began = None
