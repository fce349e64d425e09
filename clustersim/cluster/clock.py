"""The order of what happens at one instant.

At one instant steps, saves and phases complete, repairs complete, failures strike, and then decisions are taken. The
rank is the priority that SimPy's queue sorts by within an instant, so nothing depends on the order in which things were
created.
"""

from collections.abc import Callable
from enum import IntEnum

import simpy


class Rank(IntEnum):
    """Priorities within one instant, lowest first."""

    COMPLETE = 2
    REPAIR = 3
    STRIKE = 4
    DECIDE = 5
    END = 6


class Alarm(simpy.Event):
    """A timer with a rank and one callback; `now` is an integer number of nanoseconds."""

    def __init__(self, env: simpy.Environment, at_ns: int, rank: Rank, call: Callable[["Alarm"], None]) -> None:
        super().__init__(env)
        self.at_ns = at_ns
        self._ok = True
        self._value = None
        self.callbacks = [call]
        env.schedule(self, priority=rank, delay=at_ns - env.now)  # type: ignore[arg-type]  # any integer serves
