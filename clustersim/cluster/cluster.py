"""The cluster in simulated time: failures strike, nodes go to repair and come back, the job is told."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import simpy

from clustersim.cluster.causes import JOB, Cause, Kind, Strike
from clustersim.cluster.clock import Alarm, Rank
from clustersim.cluster.failures import Failures
from clustersim.cluster.lifetimes import Lifetimes
from clustersim.cluster.machine import Machine
from clustersim.cluster.planned import Plan, Slow
from clustersim.cluster.pool import Place, Pool
from clustersim.cluster.repair import Repairs
from clustersim.cluster.reserve import Reserve
from clustersim.cluster.retirement import Watch
from clustersim.history import Happening, Outage
from clustersim.laws import NEVER

# The kinds that the job trains on with: their next life has begun when they strike.
_TRAINS_ON = ("silent", "slow")


class Hit(NamedTuple):
    """What the job hears of a failure: it stops, unless it stands already, and recovers.

    After a silent failure the weights are corrupt since `corrupt_since_ns`, and so is every checkpoint made from them:
    the next leg starts from the newest one that was made before. None for every other kind.
    """

    cause: Cause
    k: int  # of a scripted cause: its entry
    lost: tuple[int, ...]  # nodes that the job held and holds no more
    detection_ns: int  # from now until it is noticed; NEVER if nothing ever notices
    corrupt_since_ns: int | None = None


class Cluster:
    """Nodes, failures, spares and repair. Two events a failure: the strike, and the end of the repair.

    The job hears of what concerns it through `on_hits` (failures of nodes that it holds, or of the job itself, all of
    one event), `on_return` (there is one spare more, or none left that will come), `on_plan` (nodes are to leave: it
    saves, and calls `let_go`) and `on_pace` (what is slow has changed); each is told the time.
    """

    def __init__(
        self,
        env: simpy.Environment,
        causes: Sequence[Cause],
        lifetimes: Lifetimes,
        machine: Machine,
        horizon_ns: int,
    ) -> None:
        self._env = env
        self._machine = machine
        self.lifetimes = lifetimes
        self.pool = Pool(machine)
        self.failures = Failures(env, causes, lifetimes, machine, horizon_ns, self._strike)
        self._repairs = Repairs(env, self.pool, self.failures, lifetimes, machine.repair_slots, self._repaired)
        self._reserve = Reserve(env, self.pool, lifetimes, machine, self._ready)
        self.happenings: list[Happening] = []
        self.leg = 0  # the job's current leg, for the log
        self._hits: list[Hit] = []  # that the job is to hear of when the event is over
        self.on_hits: Callable[[list[Hit], int], None] = lambda hits, now: None
        self.on_return: Callable[[int], None] = lambda now: None
        self.on_plan: Callable[[Plan, int], None] = lambda plan, now: None
        self.on_pace: Callable[[int], None] = lambda now: None
        self._slow = Slow(lambda node: self.pool.place(node) == "job")
        self._leaving: list[Strike] = []  # of nodes that the job holds until it has saved
        self._watch = None if machine.retirement is None else Watch(machine.retirement)
        # Kind -> what the log calls it, and what it does.
        self._meets: dict[Kind, tuple[str, Callable[[Strike, Sequence[int], Place, int], None]]] = {
            "crash": ("failure", self._stop),
            "hang": ("failure", self._stop),
            "false-alarm": ("false alarm", self._stop),
            "silent": ("failure", self._corrupt),
            "slow": ("slow", self._slow_down),
            "maintenance": ("maintenance", self._maintain),
        }
        self.has_reserve = machine.cold > 0 or machine.lent > 0
        """Whether nodes can be called up beside the spares."""
        self.call_up = self._reserve.call
        """Told how many nodes are missing to the job beside the spares, and the time."""
        self.training_starts, self.training_stops = self.failures.training_starts, self.failures.training_stops

    @property
    def returning(self) -> int:
        """Nodes that will come: from repair, from a cold start, or borrowed."""
        return self._repairs.returning + self._reserve.coming

    def outages(self, now: int) -> list[Outage]:
        """When which node was out, until now (ns); those that are over in the order in which they ended."""
        return self._repairs.outages(now)

    def _strike(self, now: int) -> None:
        while (strike := self.failures.pop(now)) is not None:
            self._break(strike, now)
        if not (self._hits and self.failures.training):  # or else a leg ends, and what ages in training with it
            self.failures.arm(now)
        self._tell(now)

    def _tell(self, now: int) -> None:
        """The last that happens in an event that strikes: what the job does about it may come at once."""
        if self._hits:
            hits, self._hits = self._hits, []
            self.on_hits(hits, now)

    def _break(self, strike: Strike, now: int) -> None:
        cause = strike.cause
        nodes, where = self._struck(strike)
        if where == "elsewhere":
            self.failures.renew(cause, strike.entity, now)  # it is others' business
            return
        event, meet = self._meets[cause.kind]
        self._log(now, event, cause, nodes[0] if nodes else JOB, where)
        meet(strike, nodes, where, now)

    def _stop(self, strike: Strike, nodes: Sequence[int], where: Place, now: int) -> None:
        """The job stands, and knows after a while."""
        cause = strike.cause
        detection = self.lifetimes.duration("detection", cause.detection, strike)
        lost = self._leave(strike, nodes, now, detection if cause.repair_at_detection else 0)
        if where == "job":
            self._hits.append(Hit(cause, strike.k, lost, detection))
        elif not self.returning:
            self.on_return(now)

    def _corrupt(self, strike: Strike, nodes: Sequence[int], where: Place, now: int) -> None:
        """The weights are corrupt until that is seen, if they change now."""
        cause = strike.cause
        self.failures.renew(cause, strike.entity, now)
        detection = self.lifetimes.duration("detection", cause.detection, strike)
        if where == "job" and self.failures.training and detection < NEVER:
            Alarm(self._env, now + detection, Rank.FIND, partial(self._seen, strike, now))

    def _slow_down(self, strike: Strike, nodes: Sequence[int], where: Place, now: int) -> None:
        """A step takes longer until that is found."""
        cause = strike.cause
        self.failures.renew(cause, strike.entity, now)
        self._slow.begins(strike)
        self.on_pace(now)
        detection = self.lifetimes.duration("detection", cause.detection, strike)
        Alarm(self._env, now + detection, Rank.FIND, partial(self._found, strike))

    def _maintain(self, strike: Strike, nodes: Sequence[int], where: Place, now: int) -> None:
        """A node that the job does not hold goes at once; one in repair is looked after there."""
        if strike.entity == JOB:
            self.on_plan(Plan(strike.cause.name, now + strike.cause.out_ns[strike.k]), now)
        elif where == "job":
            self._leave_later(strike, now)
        elif where != "repair":
            self._leave(strike, nodes, now, 0)

    def _found(self, strike: Strike, alarm: Alarm) -> None:
        """What is slow is found: a node that has no repair, or is in another one, goes on at full pace."""
        now = alarm.at_ns
        nodes, where = self._struck(strike)
        self._log(now, "detection", strike.cause, strike.entity, where)
        if where == "repair" or not self.lifetimes.takes_node(strike):
            self._slow.ends(strike)
            self.on_pace(now)
        elif where == "job":
            self._leave_later(strike, now)
        else:
            self._slow.ends(strike)
            self._leave(strike, nodes, now, 0)
            if not self.returning:
                self.on_return(now)

    def _leave_later(self, strike: Strike, now: int) -> None:
        self._leaving.append(strike)
        self.on_plan(Plan(strike.cause.name, 0), now)

    def let_go(self, now: int) -> Sequence[int]:
        """The job has saved, or stands anyway: what is to leave leaves; the nodes that the job loses."""
        if not self._leaving:
            return ()
        leaving, self._leaving = self._leaving, []
        lost: list[int] = []
        for strike in leaving:
            if strike.cause.kind == "slow":
                self._slow.ends(strike)
            if self.pool.place(strike.entity) != "repair":  # it did not break meanwhile
                lost += self._leave(strike, (strike.entity,), now, 0)
        return lost

    @property
    def pace(self) -> float:
        """How many times as long as at full pace a step takes."""
        return self._slow.pace if self._slow.slows else 1.0

    def _leave(self, strike: Strike, nodes: Sequence[int], now: int, delay: int) -> tuple[int, ...]:
        """Take out what a failure takes: for repair, after a delay (ns), or for good; the nodes that the job loses."""
        cause, entity, _ = strike
        takes = self.lifetimes.takes_node(strike)
        blamed = self._blamed(strike) if takes and cause.misdiagnosis else entity
        if blamed != entity:
            self._log(now, "misdiagnosis", cause, blamed, "job")
            self.failures.renew(cause, entity, now, self._repairs.recurrence(strike))
            nodes = (blamed,)
        if self._watch is not None and self._gives_up(self._watch, cause, blamed, now):
            return self._repairs.replace(strike, blamed, self._watch.replaced, now)
        if takes:
            return self._repairs.begin(strike, nodes, now, delay)
        if cause.kind not in _TRAINS_ON:
            self.failures.renew(cause, entity, now)
        return ()

    def _blamed(self, strike: Strike) -> int:
        """The node that is taken out: the one that failed, or after a misdiagnosis any other of the job."""
        cause, node, _ = strike
        if self.pool.place(node) != "job" or not self.lifetimes.chance("misdiagnosis", cause.misdiagnosis, strike):
            return node
        others = self.lifetimes.which(strike, self._machine.all_nodes)
        return next((other for other in others if other != node and self.pool.place(other) == "job"), node)

    def _gives_up(self, watch: Watch, cause: Cause, node: int, now: int) -> bool:
        """Put a failure on a node's record; whether that retires it."""
        if cause.scope != "node" or cause.kind in ("false-alarm", "maintenance") or not watch.failed(node, now):
            return False
        self._log(now, "retirement", cause, node, self.pool.place(node))
        return True

    def _struck(self, strike: Strike) -> tuple[Sequence[int], Place]:
        """The nodes that a strike concerns, and where the first of them is; in the job, if any is there."""
        cause, entity, _ = strike
        if cause.scope == "node":
            return (entity,), self.pool.place(entity)
        if cause.scope == "job":
            return (), "job"
        nodes = self._machine.domain(entity, cause.nodes_per_domain)
        any_in_job = any(self.pool.place(node) == "job" for node in nodes)
        return nodes, "job" if any_in_job else self.pool.place(nodes[0])

    def _seen(self, strike: Strike, since: int, alarm: Alarm) -> None:
        """A silent failure, which has corrupted the weights since then, is seen: stop the job, take the node out."""
        cause, entity, k = strike
        now = alarm.at_ns
        nodes, where = self._struck(strike)
        lost = () if where == "repair" else self._leave(strike, nodes, now, 0)
        self._log(now, "detection", cause, entity, "job")
        self._hits.append(Hit(cause, k, lost, 0, since))
        self._tell(now)

    def _log(self, now: int, kind: str, cause: Cause, node: int, where: Place) -> None:
        self.happenings.append(Happening(now, kind, cause.name, node, where, self.leg))

    def _ready(self, why: str, node: int, now: int) -> None:
        self.happenings.append(Happening(now, why, "", node, "spare", self.leg))
        self.on_return(now)

    def _repaired(self, cause: Cause, node: int, now: int) -> None:
        self._log(now, "service" if cause.kind == "maintenance" else "repair", cause, node, "repair")
        self.on_return(now)

    def strike_job(self, cause: Cause, entry: int, now: int) -> None:
        """A scripted failure hits the job."""
        self._break(Strike(cause, JOB, entry), now)
        self._tell(now)

    def take(self, now: int) -> int:
        """The job takes the spare with the lowest number."""
        node = self.pool.take()
        self.failures.join(node, now)
        return node

    def give_up(self, node: int, now: int) -> None:
        """The job gives a healthy node back to the spares."""
        self.failures.leave(node, now)
        self.pool.give_up(node)
