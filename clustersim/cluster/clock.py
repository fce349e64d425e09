"""The order of what happens at one instant.

At one instant steps, saves and phases complete, repairs complete, failures strike, what is wrong already is found, and
then decisions are taken. The rank is the priority that SimPy's queue sorts by within an instant, so nothing depends on
the order in which things were created.
"""

from collections.abc import Callable
from enum import IntEnum

import simpy


class Rank(IntEnum):
    """Priorities within one instant, lowest first."""

    COMPLETE = 2
    REPAIR = 3
    STRIKE = 4
    FIND = 5
    DECIDE = 6
    END = 7


class Alarm(simpy.Event):
    """A timer with a rank and one callback, which finds in `at_ns` when it rings, nanoseconds from the run's start."""

    def __init__(self, env: simpy.Environment, at_ns: int, rank: Rank, call: Callable[["Alarm"], None]) -> None:
        # What Event's own constructor sets, and what makes it triggered, as simpy.Timeout does: it is half the cost.
        self.env = env
        self.callbacks = [call]
        self._ok = True
        self._value = None
        self.at_ns = at_ns
        env.schedule(self, priority=rank, delay=at_ns - env.now)  # type: ignore[arg-type]  # any integer serves


class Timer:
    """Rings at the time that was set last; it may be put off, or set to nothing, as often as one likes.

    SimPy cannot take an alarm back. One that comes too early is set again when it rings, so that a timer that is put
    off in each of many legs has one alarm in the queue.
    """

    def __init__(self, env: simpy.Environment, rank: Rank, call: Callable[[int], object]) -> None:
        """`call` is told the time."""
        self.at_ns: int | None = None
        self._env = env
        self._rank = rank
        self._call = call
        self._alarm: Alarm | None = None

    def set(self, at_ns: int | None) -> None:
        """Ring at a time that has not passed, or not at all."""
        self.at_ns = at_ns
        if at_ns is not None and (self._alarm is None or at_ns < self._alarm.at_ns):
            self._alarm = Alarm(self._env, at_ns, self._rank, self._ring)

    def _ring(self, alarm: Alarm) -> None:
        if alarm is not self._alarm:
            return
        self._alarm = None
        if self.at_ns is None:
            return
        if self.at_ns > alarm.at_ns:
            self.set(self.at_ns)
            return
        self.at_ns = None
        self._call(alarm.at_ns)
