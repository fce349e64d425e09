"""The cluster in simulated time: failures strike, nodes go to repair and come back, the job is told."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import simpy

from clustersim.cluster.causes import JOB, Cause, Lifetimes
from clustersim.cluster.clock import Alarm, Rank
from clustersim.cluster.failures import Failures, Strike
from clustersim.cluster.pool import Place, Pool, RepairShop
from clustersim.history import Happening
from clustersim.laws import NEVER


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
        self._log(now, "false alarm" if cause.kind == "false-alarm" else "failure", cause, node, where)
        detection = self.lifetimes.detection(cause, node, k)
        if cause.kind == "silent":
            if cause.life is not None:
                self.failures.renew(cause, node, now)
            if where == "job" and self.failures.training and detection < NEVER:
                Alarm(self._env, now + detection, Rank.STRIKE, lambda _: self._seen(strike, now))
            return
        lost: tuple[int, ...] = ()
        if self.lifetimes.takes_node(cause, node, k):
            self._take_out(strike, now, detection if cause.repair_at_detection else 0)
            lost = (node,)
        elif cause.life is not None:
            self.failures.renew(cause, node, now)
        if where == "job":
            self.on_hit(Hit(cause, k, lost, detection))

    def _seen(self, strike: Strike, since: int) -> None:
        """A silent failure, which has corrupted the weights since then, is seen: stop the job, take the node out."""
        cause, node, k = strike
        now: int = self._env.now  # type: ignore[assignment]
        lost: tuple[int, ...] = ()
        if node != JOB and (where := self.pool.place(node)) != "repair" and self.lifetimes.takes_node(cause, node, k):
            self._take_out(strike, now, 0)
            lost = (node,) if where == "job" else ()
        self._log(now, "detection", cause, node, "job")
        self.on_hit(Hit(cause, k, lost, 0, since))

    def _log(self, now: int, kind: str, cause: Cause, node: int, where: Place) -> None:
        self.happenings.append(Happening(now, kind, cause.name, node, where, self.leg))

    def _take_out(self, strike: Strike, now: int, delay: int) -> None:
        """The node leaves wherever it is; the repair that ends its life begins after a delay (ns)."""
        cause, node, k = strike
        self.pool.break_down(node)
        self.failures.take_out(node, cause, now)
        repair = self.lifetimes.repair(cause, node, k)
        if max(delay, repair) >= NEVER:
            return
        self.returning += 1
        if delay:
            Alarm(self._env, now + delay, Rank.REPAIR, lambda alarm: self._admit(strike, repair, alarm.at_ns))
        else:
            self._admit(strike, repair, now)

    def _admit(self, strike: Strike, repair: int, now: int) -> None:
        until = self._shop.admit(now, repair)
        Alarm(self._env, until, Rank.REPAIR, lambda _: self._repaired(strike.node, strike.cause, until))

    def _repaired(self, node: int, cause: Cause, now: int) -> None:
        self.pool.bring_back(node)
        self.failures.bring_back(node, now)
        self.returning -= 1
        self._log(now, "repair", cause, node, "repair")
        self.arm()
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
