"""The timetable of a leg some of whose steps take longer, because something in the job is slow."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import NamedTuple

from clustersim.training.leg import LegClock, Progress, Saving


class Pace(NamedTuple):
    """From a step of the leg on, until the next pace, each step takes so much (ns) longer than at full pace."""

    step: int
    extra: int
    gone: int
    """How much longer than at full pace all steps before it took."""


@dataclass(frozen=True, slots=True)
class Slowed:
    """A timetable that is another one's, later by what the steps until then took longer.

    Saves fall due after the same steps, and stall as long. Times are nanoseconds from the leg's start, as there.
    """

    clock: LegClock
    paces: tuple[Pace, ...]
    """In order of steps."""

    @property
    def step(self) -> int:
        """The time of a step at full pace."""
        return self.clock.step

    @property
    def savings(self) -> tuple[Saving, ...]:
        """What a leg saves."""
        return self.clock.savings

    def delay(self, steps: int) -> int:
        """How much longer than at full pace the first so many steps take."""
        number = bisect_left(self.paces, steps, key=_begin)
        if number == 0:
            return 0
        pace = self.paces[number - 1]
        return pace.gone + pace.extra * (steps - pace.step)

    def time_of(self, steps: int) -> int:
        """When so many steps are complete."""
        return self.clock.time_of(steps) + self.delay(steps)

    def at(self, elapsed: int) -> Progress:
        """Progress after `elapsed`."""
        steps = self._steps(elapsed)
        # As if at full pace, and still in the step that is in flight.
        normal = min(elapsed - self.delay(steps), self.clock.time_of(steps + 1) - 1)
        stalled = self.clock.at(normal).stalled
        return Progress(steps, elapsed - self.delay(steps) - steps * self.step - stalled, stalled)

    def _steps(self, elapsed: int) -> int:
        """Steps that are complete after `elapsed`."""
        return bisect_right(range(elapsed // self.step + 1), elapsed, key=self.time_of) - 1

    def due(self, tier: int, steps: int) -> int:
        """How many saves of a tier fall due up to the end of so many steps."""
        return self.clock.due(tier, steps)

    def next_due(self, tier: int, steps: int) -> int:
        """The first step, from `steps` on, after which a save of a tier falls due."""
        return self.clock.next_due(tier, steps)

    def made(self, tier: int, elapsed: int) -> int:
        """How many saves of a tier are made after `elapsed`."""
        if elapsed < 0:
            return 0
        due = self.due(tier, self._steps(elapsed))
        return due - (due > 0 and self.made_at(tier, due - 1) > elapsed)

    def durable(self, tier: int, elapsed: int) -> int:
        """How many saves of a tier are durable after `elapsed`."""
        return self.made(tier, elapsed - self.savings[tier].write)

    def step_of(self, tier: int, number: int) -> int:
        """The step that a save holds."""
        return self.clock.step_of(tier, number)

    def made_at(self, tier: int, number: int) -> int:
        """When the stall of a save is over."""
        return self.clock.made_at(tier, number) + self.delay(self.step_of(tier, number))

    def durable_at(self, tier: int, number: int) -> int:
        """When a save is durable."""
        return self.made_at(tier, number) + self.savings[tier].write


def slowed(clock: LegClock | Slowed, step: int, extra: int) -> LegClock | Slowed:
    """The timetable with another pace from a step on, whose time until then does not change."""
    if isinstance(clock, LegClock):
        return Slowed(clock, (Pace(step, extra, 0),)) if extra else clock
    # By bisection, here and in `delay`: a long leg of a large job changes its pace thousands of times.
    earlier = clock.paces[: bisect_left(clock.paces, step, key=_begin)]
    return Slowed(clock.clock, (*earlier, Pace(step, extra, clock.delay(step))))


def _begin(pace: Pace) -> int:
    return pace.step
