"""The arithmetic of one leg: steps, saves and stalls as a function of elapsed time, so that a leg costs no event.

A leg trains `every` steps, stalls for a save, trains on while the save is being written, and so forth:

    every * step | stall | period * step | wait | stall | period * step | wait | stall | ...

A save is durable `write` after its stall. A save that falls due while another is being written waits for it
(`when_busy="wait"`) or is skipped (`"skip"`).
"""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Saving:
    """When a leg saves and what a save costs. `every` is in steps, the rest in nanoseconds."""

    every: int
    stall: int
    write: int
    when_busy: Literal["wait", "skip"]


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a leg stands after some time. `partial` is the time spent in the step in flight, 0 if none is."""

    steps: int
    partial: int
    stalled: int
    durable: int  # saves that are durable
    kept: int  # steps since the leg's start that the last durable save holds


@dataclass(frozen=True, slots=True)
class LegClock:
    """One leg's timetable. Times are nanoseconds since the leg's start, steps count from its start."""

    step: int
    saving: Saving
    period: int = field(init=False)  # steps between saves after the first
    wait: int = field(init=False)  # of a save after the first for the one before it
    first: int = field(init=False)  # end of the first save's stall
    cycle: int = field(init=False)  # from one save's stall's end to the next one's

    def __post_init__(self) -> None:
        """Work the timetable out."""
        training = self.saving.every * self.step
        skipped = max(1, -(-self.saving.write // training)) if self.saving.when_busy == "skip" else 1
        period = self.saving.every * skipped
        wait = max(0, self.saving.write - period * self.step)
        object.__setattr__(self, "period", period)
        object.__setattr__(self, "wait", wait)
        object.__setattr__(self, "first", training + self.saving.stall)
        object.__setattr__(self, "cycle", period * self.step + wait + self.saving.stall)

    def at(self, elapsed: int) -> Progress:
        """Progress after `elapsed`; what completes at that very instant is complete."""
        every, step = self.saving.every, self.step
        if elapsed < self.first:
            finished, steps_before, since, steps_due = 0, 0, elapsed, every
        else:
            cycles, since = divmod(elapsed - self.first, self.cycle)
            finished = cycles + 1
            steps_before, steps_due = every + cycles * self.period, self.period
        steps, partial = divmod(since, step)
        if steps >= steps_due:
            steps, partial = steps_due, 0
        stalled = finished * self.saving.stall + max(0, finished - 1) * self.wait
        stalled += since - steps * step - partial
        written = elapsed - self.first - self.saving.write
        durable = 0 if written < 0 else written // self.cycle + 1
        kept = 0 if durable == 0 else every + (durable - 1) * self.period
        return Progress(steps_before + steps, partial, stalled, durable, kept)

    def made(self, elapsed: int) -> int:
        """How many saves are made, their stall over, after `elapsed`; they need not be durable yet."""
        return 0 if elapsed < self.first else (elapsed - self.first) // self.cycle + 1

    def time_of(self, steps: int) -> int:
        """The time at which the leg completes so many steps (before the stall of a save that falls due then)."""
        if steps <= self.saving.every:
            return steps * self.step
        finished = 1 + (steps - self.saving.every - 1) // self.period
        return steps * self.step + finished * self.saving.stall + (finished - 1) * self.wait
