"""Nodes that are out: what keeps them out, the slots in which they are repaired, and how they come back."""

from collections.abc import Callable, Sequence
from functools import partial
from heapq import heappush, heapreplace

import simpy

from clustersim.cluster.causes import Cause, Strike
from clustersim.cluster.clock import Alarm, Rank
from clustersim.cluster.failures import Failures
from clustersim.cluster.lifetimes import Lifetimes
from clustersim.cluster.pool import Pool
from clustersim.history import Outage
from clustersim.laws import NEVER, Law


class RepairShop:
    """Repairs in order of arrival in so many slots, or in as many as are needed.

    A repair has stages, each of which waits for a slot. Its end is known, and takes one alarm, if nothing ever waits.
    """

    def __init__(self, env: simpy.Environment, slots: int | None) -> None:
        self._env = env
        self._slots = slots
        self._free_at: list[int] = []  # a heap, of the slots that were ever needed

    def take_in(self, at: int, stages: Sequence[int], done: Callable[[Alarm], None]) -> None:
        """A repair arrives at a time that has not passed; its stages take so long (ns); call `done` at its end."""
        if self._slots is None:
            Alarm(self._env, at + sum(stages), Rank.REPAIR, done)
        elif at > self._env.now:
            Alarm(self._env, at, Rank.REPAIR, partial(self._next, stages, done))
        else:
            self._admit(at, self._slots, stages, done)

    def _next(self, stages: Sequence[int], done: Callable[[Alarm], None], alarm: Alarm) -> None:
        self.take_in(alarm.at_ns, stages, done)

    def _admit(self, now: int, slots: int, stages: Sequence[int], done: Callable[[Alarm], None]) -> None:
        """The first stage gets the next slot that is free; the end of it is known then."""
        if len(self._free_at) < slots and (not self._free_at or self._free_at[0] > now):
            until = now + stages[0]
            heappush(self._free_at, until)
        else:
            until = max(now, self._free_at[0]) + stages[0]
            heapreplace(self._free_at, until)
        Alarm(self._env, until, Rank.REPAIR, partial(self._next, stages[1:], done) if len(stages) > 1 else done)


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
        self._shop = RepairShop(env, slots)
        self._back = back
        self._out: dict[int, tuple[str, int]] = {}  # node that is out -> the cause and since when
        self._held_more: dict[int, int] = {}  # node -> repairs that hold it beside the first one, where there were any
        self._gone: dict[int, None] = {}  # nodes that will not come back
        self._over: list[Outage] = []

    @property
    def returning(self) -> int:
        """Nodes in repair that will come back."""
        return len(self._out) - len(self._gone)

    def outages(self, now: int) -> list[Outage]:
        """When which node was out, until now (ns); those that are over in the order in which they ended."""
        return self._over + [Outage(node, cause, since, now) for node, (cause, since) in self._out.items()]

    def begin(self, strike: Strike, nodes: Sequence[int], now: int, delay: int) -> tuple[int, ...]:
        """The nodes leave wherever they are; the repair that the strike asks for begins after a delay (ns).

        They may be other nodes than the one that failed: nothing of theirs is renewed then, and nothing mended.
        Returns those that the job loses.
        """
        cause, draws = strike.cause, self._lifetimes
        lost = self._hold(nodes, strike, now)
        if cause.out_ns:  # as long as the trace or the maintenance says, whatever the slots
            back = now + cause.out_ns[strike.k]
            Alarm(self._env, back, Rank.REPAIR, lambda alarm: self._release(nodes, cause, alarm.at_ns))
            return lost
        assert cause.repair is not None
        stages, fails = [draws.duration("repair", cause.repair, strike)], cause.repair_fails
        if delay >= NEVER or stages[0] >= NEVER:
            self._gone.update(dict.fromkeys(nodes))
            return lost
        if cause.manual_repair is not None and draws.chance("escalation", cause.escalates, strike):
            stages.append(draws.duration("manual repair", cause.manual_repair, strike))
            fails = cause.manual_fails
        mends = not draws.chance("failed repair", fails, strike)
        self._shop.take_in(now + delay, stages, partial(self._done, strike, nodes, mends))
        return lost

    def _done(self, strike: Strike, nodes: Sequence[int], mends: bool, alarm: Alarm) -> None:
        cause, entity, _ = strike
        life = None if mends else self.recurrence(strike)
        if cause.scope == "domain":
            self._failures.renew(cause, entity, alarm.at_ns, life)
        elif entity in nodes:
            self._failures.repaired(strike, mends, life)
        self._release(nodes, cause, alarm.at_ns)

    def recurrence(self, strike: Strike) -> int | None:
        """The life (ns) of what was not mended, None if it is one as any other."""
        law = strike.cause.recurs
        return None if law is None else self._lifetimes.duration("recurrence", law, strike)

    def replace(self, strike: Strike, node: int, replaced: Law, now: int) -> tuple[int, ...]:
        """The node is given up, and a new one stands in its place after a time by a law; itself if the job loses it."""
        lost = self._hold((node,), strike, now)
        duration = self._lifetimes.of_node("replacement", replaced, node, self._failures.generation(node))
        if duration < NEVER:
            Alarm(self._env, now + duration, Rank.REPAIR, partial(self._stands, strike.cause, node))
        else:
            self._gone[node] = None
        return lost

    def _stands(self, cause: Cause, node: int, alarm: Alarm) -> None:
        self._failures.replaced(node)
        self._release((node,), cause, alarm.at_ns)

    def _hold(self, nodes: Sequence[int], strike: Strike, now: int) -> tuple[int, ...]:
        """The nodes are out until they are released; those that the job loses."""
        lost: list[int] = []
        for node in nodes:
            if node in self._out:
                self._held_more[node] = self._held_more.get(node, 0) + 1
                continue
            self._out[node] = strike.cause.name, now
            if self._pool.break_down(node) == "job":
                lost.append(node)
                self._failures.leave(node, now)
            self._failures.take_out(node, strike)
        return tuple(lost)

    def _release(self, nodes: Sequence[int], cause: Cause, now: int) -> None:
        for node in nodes:
            if self._held_more.get(node):
                self._held_more[node] -= 1
                continue
            self._over.append(Outage(node, *self._out.pop(node), now))
            self._pool.bring_back(node)
            self._failures.bring_back(node, now)
            self._back(cause, node, now)
