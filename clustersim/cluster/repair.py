"""Nodes that are out: what keeps them out, the slots in which they are repaired, and how they come back."""

from collections.abc import Callable, Sequence
from heapq import heappush, heapreplace

import simpy

from clustersim.cluster.causes import Cause
from clustersim.cluster.clock import Alarm, Rank
from clustersim.cluster.failures import Failures, Strike
from clustersim.cluster.lifetimes import Lifetimes
from clustersim.cluster.pool import Pool
from clustersim.history import Outage
from clustersim.laws import NEVER, Law


class RepairShop:
    """Repairs in order of arrival in so many slots. The end of a repair is known when it is admitted."""

    def __init__(self, slots: int | None) -> None:
        self._slots = slots
        self._free_at: list[int] = []  # a heap, of the slots that were ever needed

    def admit(self, now: int, duration: int) -> int:
        """The time (ns) at which a repair that arrives now, and takes `duration` in its slot, is done."""
        if self._slots is None:
            return now + duration
        if len(self._free_at) < self._slots and (not self._free_at or self._free_at[0] > now):
            heappush(self._free_at, now + duration)
            return now + duration
        end = max(now, self._free_at[0]) + duration
        heapreplace(self._free_at, end)
        return end


class Repairs:
    """The repairs under way. One repair may hold several nodes, and a node, whose domain fails too, be held twice.

    `back` is called for each node that nothing holds any longer, with the cause of the repair that was its last and the
    time.
    """

    def __init__(
        self,
        env: simpy.Environment,
        pool: Pool,
        failures: Failures,
        lifetimes: Lifetimes,
        slots: int | None,
        back: Callable[[Cause, int, int], None],
    ) -> None:
        self._env = env
        self._pool = pool
        self._failures = failures
        self._lifetimes = lifetimes
        self._shop = RepairShop(slots)
        self._back = back
        self._holds: dict[int, int] = {}  # node -> repairs that hold it
        self._gone: dict[int, None] = {}  # nodes that will not come back
        self._out: dict[int, tuple[str, int]] = {}  # node that is out -> the cause and since when
        self._over: list[Outage] = []

    @property
    def returning(self) -> int:
        """Nodes in repair that will come back."""
        return len(self._holds) - len(self._gone)

    def outages(self, now: int) -> list[Outage]:
        """When which node was out, until now (ns); those that are over in the order in which they ended."""
        return self._over + [Outage(node, cause, since, now) for node, (cause, since) in self._out.items()]

    def begin(self, strike: Strike, nodes: Sequence[int], now: int, delay: int) -> None:
        """The nodes leave wherever they are; the repair that the strike asks for begins after a delay (ns).

        They may be other nodes than the one that failed: nothing of theirs is renewed then, and nothing mended.
        """
        if strike.cause.out_ns:
            self._replay(strike, nodes, now)
            return
        assert strike.cause.repair is not None
        repair = self._lifetimes.duration("repair", strike.cause.repair, *strike)
        self._hold(nodes, strike, now, for_good=max(delay, repair) >= NEVER)
        if max(delay, repair) >= NEVER:
            return
        if delay:
            Alarm(self._env, now + delay, Rank.REPAIR, lambda alarm: self._admit(strike, nodes, repair, alarm.at_ns))
        else:
            self._admit(strike, nodes, repair, now)

    def _replay(self, strike: Strike, nodes: Sequence[int], now: int) -> None:
        """A node of a trace is out as long as the trace says, whatever the slots."""
        self._hold(nodes, strike, now, for_good=False)
        until = now + strike.cause.out_ns[strike.k]
        Alarm(self._env, until, Rank.REPAIR, lambda _: self._release(nodes, strike.cause, until))

    def replace(self, strike: Strike, node: int, replaced: Law, now: int) -> None:
        """The node is given up, and a new one stands in its place after a time by a law."""
        cause = strike.cause
        duration = self._lifetimes.of_node("replacement", replaced, node, self._failures.generation(node))
        self._hold((node,), strike, now, for_good=duration >= NEVER)
        if duration < NEVER:
            Alarm(self._env, now + duration, Rank.REPAIR, lambda alarm: self._stands(cause, node, alarm.at_ns))

    def _stands(self, cause: Cause, node: int, now: int) -> None:
        self._failures.replaced(node)
        self._release((node,), cause, now)

    def _hold(self, nodes: Sequence[int], strike: Strike, now: int, for_good: bool) -> None:
        for node in nodes:
            self._holds[node] = self._holds.get(node, 0) + 1
            if self._holds[node] == 1:
                self._out[node] = strike.cause.name, now
                self._pool.break_down(node)
                self._failures.take_out(node, strike, now)
            if for_good:
                self._gone[node] = None

    def _admit(self, strike: Strike, nodes: Sequence[int], repair: int, now: int, by_hand: bool = False) -> None:
        until = self._shop.admit(now, repair)
        Alarm(self._env, until, Rank.REPAIR, lambda _: self._done(strike, nodes, until, by_hand))

    def _done(self, strike: Strike, nodes: Sequence[int], now: int, by_hand: bool) -> None:
        cause, draws = strike.cause, self._lifetimes
        if not by_hand and cause.manual_repair and draws.chance("escalation", cause.escalates, *strike):
            repair = draws.duration("manual repair", cause.manual_repair, *strike)
            self._admit(strike, nodes, repair, now, by_hand=True)
            return
        share = cause.manual_fails if by_hand else cause.repair_fails
        fails = share > 0 and draws.chance("failed repair", share, *strike)
        life = self.recurrence(strike) if fails else None
        if cause.scope == "domain":
            self._failures.renew(cause, strike.entity, now, life)
        elif strike.entity in nodes:
            self._failures.repaired(strike, mended=not fails, life=life)
        self._release(nodes, cause, now)

    def recurrence(self, strike: Strike) -> int | None:
        """The life (ns) of what was not mended, None if it is one as any other."""
        law = strike.cause.recurs
        return None if law is None else self._lifetimes.duration("recurrence", law, *strike)

    def _release(self, nodes: Sequence[int], cause: Cause, now: int) -> None:
        for node in nodes:
            self._holds[node] -= 1
            if self._holds[node] == 0:
                del self._holds[node]
                self._over.append(Outage(node, *self._out.pop(node), now))
                self._pool.bring_back(node)
                self._failures.bring_back(node, now)
                self._back(cause, node, now)
