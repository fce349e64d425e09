"""The arithmetic of one leg: steps, saves and stalls as a function of elapsed time, so that a leg costs no event.

A leg trains `every` steps, stalls for a save, trains on while the save is being written, and so forth:

    every * step | stall | period * step | wait | stall | period * step | wait | stall | ...

A save is durable `write` after its stall. A save that falls due while another is being written waits for it
(`when_busy="wait"`) or is skipped (`"skip"`: less training lies between them than a write takes). A leg may save to
several tiers, each at its own steps; where several saves fall due after the same step, they stall one after the other,
in the order of the tiers. Only a leg with one tier waits.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple


@dataclass(frozen=True, slots=True)
class Saving:
    """When a leg saves to a tier and what a save costs. `every` is in steps, the rest in nanoseconds."""

    every: int
    stall: int
    write: int
    when_busy: Literal["wait", "skip"]
    first: int | None = None
    """Steps until the first save, if not `every`."""

    def after(self, unsaved: int) -> "Saving":
        """The same of a leg that goes on, so many steps after the last save."""
        return replace(self, first=max(1, self.every - unsaved))


class Progress(NamedTuple):
    """Where a leg stands after some time. `partial` is the time spent in the step in flight, 0 if none is."""

    steps: int
    partial: int
    stalled: int


class _Series(NamedTuple):
    """The saves of one tier: after `first` steps and then each `period`, all but the first after a `wait` (ns)."""

    first: int
    period: int
    wait: int
    stall: int
    write: int

    def before(self, steps: int) -> int:
        """How many fall due before the leg completes its step number `steps`."""
        return 0 if steps <= self.first else 1 + (steps - self.first - 1) // self.period

    def cost(self, count: int) -> int:
        """The time (ns) that training stands still for the first `count` of them."""
        return count * self.stall + (count - 1) * self.wait if count else 0


@dataclass(frozen=True, slots=True)
class LegClock:
    """One leg's timetable. Times are nanoseconds since the leg's start, steps count from its start."""

    step: int
    savings: tuple[Saving, ...]
    _series: tuple[_Series, ...] = field(init=False)
    # Of the only tier, where there is one: from one save to the next, and when the first one is made and durable.
    _cycle: int = field(init=False)
    _first_made: int = field(init=False)
    _first_durable: int = field(init=False)

    def __post_init__(self) -> None:
        """Work the timetable out."""
        series = tuple(self._series_of(saving) for saving in self.savings)
        first, period, wait, stall, write = series[0]
        made = first * self.step + stall
        for name, value in (
            ("_series", series),
            ("_cycle", period * self.step + wait + stall),
            ("_first_made", made),
            ("_first_durable", made + write),
        ):
            object.__setattr__(self, name, value)

    def _series_of(self, saving: Saving) -> _Series:
        training = saving.every * self.step
        skipped = max(1, -(-saving.write // training)) if saving.when_busy == "skip" else 1
        period = saving.every * skipped
        return _Series(
            saving.first or saving.every, period, max(0, saving.write - period * self.step), saving.stall, saving.write
        )

    def going_on(self, unsaved: Sequence[int]) -> "LegClock":
        """The same of a leg that goes on, so many steps after the last save of each tier."""
        savings = (saving.after(steps) for saving, steps in zip(self.savings, unsaved, strict=True))
        return LegClock(self.step, tuple(savings))

    def at(self, elapsed: int) -> Progress:
        """Progress after `elapsed`; what completes at that very instant is complete."""
        if len(self._series) > 1:
            steps = bisect_right(range(elapsed // self.step + 1), elapsed, key=self.time_of) - 1
            rest = elapsed - steps * self.step
            stalled = min(self._stalled(steps + 1), rest)  # at most what all saves that fall due by now take
            return Progress(steps, rest - stalled, stalled)
        (first, period, wait, stall, _), step = self._series[0], self.step
        if elapsed < self._first_made:
            steps = min(first, elapsed // step)
            rest = elapsed - steps * step
            return Progress(steps, 0, rest) if steps == first else Progress(steps, rest, 0)
        cycles, since = divmod(elapsed - self._first_made, self._cycle)
        stalled = stall + cycles * (stall + wait)
        if since >= period * step:
            return Progress(first + (cycles + 1) * period, 0, stalled + since - period * step)
        steps, partial = divmod(since, step)
        return Progress(first + cycles * period + steps, partial, stalled)

    def _stalled(self, steps: int) -> int:
        """How long training stands still before the leg completes its step number `steps`."""
        stalled = 0
        for series in self._series:
            stalled += series.cost(series.before(steps))
        return stalled

    def made(self, tier: int, elapsed: int) -> int:
        """How many saves of a tier are made, their stall over, after `elapsed`; they need not be durable yet."""
        if len(self._series) == 1:
            return 0 if elapsed < self._first_made else (elapsed - self._first_made) // self._cycle + 1
        if elapsed < 0:
            return 0
        due = self._series[tier].before(self.at(elapsed).steps + 1)
        return due - (due > 0 and self.made_at(tier, due - 1) > elapsed)

    def durable(self, tier: int, elapsed: int) -> int:
        """How many saves of a tier are durable after `elapsed`."""
        if len(self._series) == 1:
            return 0 if elapsed < self._first_durable else (elapsed - self._first_durable) // self._cycle + 1
        return self.made(tier, elapsed - self._series[tier].write)

    def due(self, tier: int, steps: int) -> int:
        """How many saves of a tier fall due up to the end of so many steps."""
        return self._series[tier].before(steps + 1)

    def step_of(self, tier: int, number: int) -> int:
        """The step after which save `number` (from 0) of a tier falls due: what it holds."""
        return self._series[tier].first + number * self._series[tier].period

    def made_at(self, tier: int, number: int) -> int:
        """When the stall of a save is over."""
        if len(self._series) == 1:
            return self._first_made + number * self._cycle
        steps = self.step_of(tier, number)
        over = sum(series.cost(series.before(steps + 1)) for series in self._series[: tier + 1])
        return steps * self.step + over + sum(series.cost(series.before(steps)) for series in self._series[tier + 1 :])

    def durable_at(self, tier: int, number: int) -> int:
        """When a save is durable."""
        return self.made_at(tier, number) + self._series[tier].write

    def delay(self, steps: int) -> int:
        """How much longer than at full pace the first so many steps take."""
        return 0

    def time_of(self, steps: int) -> int:
        """The time at which the leg completes so many steps (before the stall of a save that falls due then)."""
        return steps * self.step + self._stalled(steps)

    def next_due(self, tier: int, steps: int) -> int:
        """The first step, from `steps` on, after which a save of a tier falls due."""
        return self.step_of(tier, self._series[tier].before(steps))
