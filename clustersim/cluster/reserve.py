"""Nodes that the job gets after a while: cold spares that are started, and nodes that are borrowed from other work."""

from collections.abc import Callable
from functools import partial

import simpy

from clustersim.cluster.clock import Alarm, Rank
from clustersim.cluster.lifetimes import Lifetimes
from clustersim.cluster.machine import Machine
from clustersim.cluster.pool import Pool
from clustersim.laws import NEVER


class Reserve:
    """Called when spares are short. `ready` is told of each node that is a spare then: why (start or
    borrowing), its number and the time."""

    def __init__(
        self,
        env: simpy.Environment,
        pool: Pool,
        lifetimes: Lifetimes,
        machine: Machine,
        ready: Callable[[str, int, int], None],
    ) -> None:
        self._env = env
        self._pool = pool
        self._lifetimes = lifetimes
        self._machine = machine
        self._ready = ready
        self._due: dict[int, int] = {}  # node -> when its last start is done, unless it breaks before
        self._starts: dict[int, int] = {}  # node -> how often it was started
        self._asked: Alarm | None = None
        self._times_asked = 0

    @property
    def coming(self) -> int:
        """Nodes that are under way."""
        return self._pool.starting + (min(self._pool.missing, self._pool.elsewhere) if self._asked is not None else 0)

    @property
    def _wanted(self) -> int:
        """What is missing to the job, which has taken all spares then, and what makes them complete again."""
        return self._pool.missing + self._machine.spares if self._pool.missing else 0

    def call(self, missing: int, now: int) -> None:
        """So many nodes are missing now: start cold spares, and ask for nodes of others if those are too few."""
        self._pool.missing = missing
        while self._pool.starting < self._wanted and self._pool.cold:
            self._start(now)
        if missing <= self._pool.starting:
            self._asked = None  # what was asked for is not needed any longer
        elif self._asked is None and self._pool.elsewhere:
            after = self._lifetimes.of_node("borrowing", self._machine.lent_after, 0, self._times_asked)
            self._times_asked += 1
            if after < NEVER:
                self._asked = Alarm(self._env, now + after, Rank.REPAIR, self._arrive)

    def _start(self, now: int) -> None:
        node = self._pool.start()
        number = self._starts.get(node, 0)
        self._starts[node] = number + 1
        due = now + self._lifetimes.of_node("cold start", self._machine.cold_start, node, number)
        self._due[node] = due
        Alarm(self._env, due, Rank.REPAIR, partial(self._started, node))

    def _started(self, node: int, alarm: Alarm) -> None:
        if self._pool.place(node) == "starting" and self._due[node] == alarm.at_ns:
            self._pool.started(node)
            self._ready("start", node, alarm.at_ns)

    def _arrive(self, alarm: Alarm) -> None:
        """Borrow what is wanted, as far as it goes."""
        if alarm is not self._asked:
            return
        self._asked = None
        for _ in range(min(self._wanted, self._pool.elsewhere)):
            self._ready("borrowing", self._pool.borrow(), alarm.at_ns)
