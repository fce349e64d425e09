"""The cluster in simulated time: failures strike, nodes go to repair and come back, the job is told."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import simpy

from clustersim.cluster.causes import JOB, Cause, Lifetimes
from clustersim.cluster.clock import Alarm, Rank
from clustersim.cluster.failures import Failures, Strike
from clustersim.cluster.pool import Pool, RepairShop
from clustersim.history import Happening
from clustersim.laws import NEVER


class Hit(NamedTuple):
    """What the job hears of a failure: it stops, unless it stands already, and recovers."""

    cause: Cause
    k: int  # of a scripted cause: its entry
    lost: tuple[int, ...]  # nodes that the job held and holds no more
    detection_ns: int  # from now until it is noticed


class Cluster:
    """Nodes, failures, spares and repair. Two events a failure: the strike, and the end of the repair.

    The job hears of what concerns it through `on_hit` (a failure of a node that it holds, or of the job itself) and
    `on_return` (a node is back from repair).
    """

    def __init__(
        self,
        env: simpy.Environment,
        causes: Sequence[Cause],
        lifetimes: Lifetimes,
        *,
        nodes: int,
        spares: int,
        repair_slots: int | None,
        horizon_ns: int,
    ) -> None:
        self._env = env
        self.lifetimes = lifetimes
        self.pool = Pool(nodes, spares)
        self.failures = Failures(causes, lifetimes, nodes + spares, nodes, horizon_ns)
        self.happenings: list[Happening] = []
        self.leg = 0  # the job's current leg, for the log
        self.returning = 0  # nodes in repair that will come back
        self.on_hit: Callable[[Hit], None] = lambda hit: None
        self.on_return: Callable[[], None] = lambda: None
        self._shop = RepairShop(repair_slots)
        self._armed: int | None = None

    def arm(self) -> None:
        """Set the alarm of the next strike; to be called whenever it may have come nearer."""
        due = self.failures.next_due(self._env.now)  # type: ignore[arg-type]  # the clock is an integer
        if due is not None and (self._armed is None or due < self._armed):
            self._armed = due
            Alarm(self._env, due, Rank.STRIKE, self._strike)

    def _strike(self, alarm: Alarm) -> None:
        now: int = self._env.now  # type: ignore[assignment]
        if now != self._armed:
            return  # an alarm that a nearer one replaced
        self._armed = None
        while (strike := self.failures.pop(now)) is not None:
            self._break(strike, now)
        self.arm()

    def _break(self, strike: Strike, now: int) -> None:
        cause, node, k = strike
        where = "job" if node == JOB else self.pool.place(node)
        self.happenings.append(Happening(now, "failure", cause.name, node, where, self.leg))
        down_until = None
        if cause.repair is not None:
            down_until = self._shop.admit(now, self.lifetimes.repair(cause, node, k))
            self.pool.break_down(node)
            if down_until < NEVER:
                self.returning += 1
                Alarm(self._env, down_until, Rank.REPAIR, lambda _: self._repaired(node, cause, down_until))
        self.failures.struck(strike, now, down_until)
        if where == "job":
            lost = () if cause.repair is None else (node,)
            self.on_hit(Hit(cause, k, lost, self.lifetimes.detection(cause, node, k)))

    def _repaired(self, node: int, cause: Cause, now: int) -> None:
        self.pool.bring_back(node)
        self.returning -= 1
        self.happenings.append(Happening(now, "repair", cause.name, node, "repair", self.leg))
        self.on_return()

    def strike_job(self, cause: Cause, entry: int) -> None:
        """A scripted failure hits the job now."""
        self._break(Strike(cause, JOB, entry), self._env.now)  # type: ignore[arg-type]

    def take(self) -> int:
        """The job takes the spare with the lowest number."""
        node = self.pool.take()
        self.failures.join(node, self._env.now)  # type: ignore[arg-type]
        return node

    def give_up(self, node: int) -> None:
        """The job gives a healthy node back to the spares."""
        self.failures.leave(node, self._env.now)  # type: ignore[arg-type]
        self.pool.give_up(node)

    def training_starts(self) -> None:
        """A leg begins: what ages in training ages."""
        self.failures.training_starts(self._env.now)  # type: ignore[arg-type]
        self.arm()

    def training_stops(self) -> None:
        """A leg ends."""
        self.failures.training_stops(self._env.now)  # type: ignore[arg-type]
