"""A leg that is to end as planned: with a save, so that nothing that it trained is lost."""

from dataclasses import dataclass, field

from clustersim.training.leg import LegClock, Progress, Saving
from clustersim.training.slowed import Slowed


@dataclass(frozen=True, slots=True)
class Closing:
    """The timetable of a leg that trains `steps` steps and saves to the first tier; then it is over.

    Until its last step it is another timetable's. A save to the first tier that falls due with that step is the last
    save itself, which waits for the one before it to be written, if need be.
    """

    clock: LegClock | Slowed
    steps: int
    over: int = field(init=False)
    """When the last save is durable, and the leg is over."""
    _trained: int = field(init=False)
    _before: int = field(init=False)  # saves to the first tier before the last one
    _made: int = field(init=False)  # when the last one is made

    def __post_init__(self) -> None:
        """Work the end out."""
        clock, (saving, *_) = self.clock, self.clock.savings
        trained, before = clock.time_of(self.steps), clock.due(0, self.steps - 1)
        made = max(trained, clock.durable_at(0, before - 1) if before else 0) + saving.stall
        for name, value in (("_trained", trained), ("_before", before), ("_made", made), ("over", made + saving.write)):
            object.__setattr__(self, name, value)

    @property
    def step(self) -> int:
        """The time of a step."""
        return self.clock.step

    @property
    def savings(self) -> tuple[Saving, ...]:
        """What a leg saves."""
        return self.clock.savings

    def delay(self, steps: int) -> int:
        """How much longer than at full pace the first so many steps take."""
        return self.clock.delay(steps)

    def time_of(self, steps: int) -> int:
        """When so many steps are complete, were it not over before."""
        return self.clock.time_of(steps)

    def at(self, elapsed: int) -> Progress:
        """Progress after `elapsed`."""
        if elapsed < self._trained:
            return self.clock.at(elapsed)
        return Progress(self.steps, 0, elapsed - self.steps * self.step - self.delay(self.steps))

    def made(self, tier: int, elapsed: int) -> int:
        """How many saves of a tier are made after `elapsed`."""
        if tier == 0:
            return min(self.clock.made(0, elapsed), self._before) + (elapsed >= self._made)
        return self.clock.made(tier, min(elapsed, self._trained))

    def durable(self, tier: int, elapsed: int) -> int:
        """How many saves of a tier are durable after `elapsed`."""
        return self.made(tier, elapsed - self.savings[tier].write)

    def step_of(self, tier: int, number: int) -> int:
        """The step that a save holds."""
        return self.steps if self._is_last(tier, number) else self.clock.step_of(tier, number)

    def made_at(self, tier: int, number: int) -> int:
        """When the stall of a save is over."""
        return self._made if self._is_last(tier, number) else self.clock.made_at(tier, number)

    def durable_at(self, tier: int, number: int) -> int:
        """When a save is durable."""
        return self.over if self._is_last(tier, number) else self.clock.durable_at(tier, number)

    def _is_last(self, tier: int, number: int) -> bool:
        return tier == 0 and number == self._before
