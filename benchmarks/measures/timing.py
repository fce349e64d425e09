"""Times that can be compared: taken in turns, as medians."""

from collections.abc import Callable
from statistics import median
from time import process_time

import simpy

TURNS = 8
_TIMEOUTS = 100_000


def medians_s(
    *actions: Callable[[], object], turns: int = TURNS, clock: Callable[[], float] = process_time
) -> list[float]:
    """The median time of each action, all of them taken in turns; seconds. The first of several does not count.

    It is the time of this process on its core, so that what else the machine does counts little. Where other processes
    do the work, `clock` has to be one of the time that passes.
    """
    times: list[list[float]] = [[] for _ in actions]
    for turn in range(turns):
        for action, taken in zip(actions, times, strict=True):
            began = clock()
            action()
            if turn or turns == 1:
                taken.append(clock() - began)
    return [median(taken) for taken in times]


def bare_timeouts(count: int = _TIMEOUTS) -> None:
    """So many timeouts of one SimPy process."""
    env = simpy.Environment()

    def process():
        for _ in range(count):
            yield env.timeout(1)

    env.process(process())
    env.run()


def beside_timeouts(*actions: Callable[[], object]) -> list[float]:
    """The median time of each action in bare timeouts, measured in turns with them."""
    bare, *times = medians_s(bare_timeouts, *actions)
    return [taken / bare * _TIMEOUTS for taken in times]


# The machine that the bars in milliseconds are about needs this long for a million bare timeouts.
REFERENCE_S = 0.62


def reference_ms(timeouts: float) -> float:
    """What so many bare timeouts take on the machine that the bars are about, in milliseconds."""
    return timeouts * REFERENCE_S / 1000
