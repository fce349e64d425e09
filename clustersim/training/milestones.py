"""What is to happen at steps, whenever they come: scripted failures, rewinds, a bad checkpoint that shows itself."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import simpy

from clustersim.cluster.causes import Cause
from clustersim.cluster.clock import Rank, Timer
from clustersim.training.under_way import UnderWay

Due = Literal["bad checkpoint", "rewind", "regrouping"]
"""What may be due at the end of a step."""


_RANKS: dict[Due, Rank] = {"bad checkpoint": Rank.STRIKE, "rewind": Rank.COMPLETE, "regrouping": Rank.COMPLETE}


class Milestones:
    """Timers on a leg's steps, put off in the next leg where this one does not come to them."""

    def __init__(
        self,
        env: simpy.Environment,
        causes: Sequence[Cause],
        rewinds: Sequence[tuple[int, int]],
        strike: Callable[[Cause, int, int], None],
        reach: Callable[[Due, int], None],
    ) -> None:
        """Take what is to happen, and whom to tell.

        Args:
            env: simulated time.
            causes: those that are scripted at steps strike.
            rewinds: (after which step, how many back), in order.
            strike: a scripted failure strikes; its cause, its number there and the time.
            reach: something is due; what, and the time.
        """
        self._rewinds = list(rewinds)
        self._strike = strike
        self._reach = reach
        self._leg: UnderWay
        self._after: dict[Due, int] = {}  # how many steps of the leg, of what is due in it
        self._timers = {what: Timer(env, rank, partial(self._ring, what)) for what, rank in _RANKS.items()}
        self._script = [
            (entries, Timer(env, Rank.STRIKE, partial(self._fail, cause, entries)))
            for cause in causes
            if (entries := list(enumerate(cause.at_steps))) or cause.by_what_is_read
        ]
        self._by_what_is_read = [entries for entries, _ in self._script if not entries]
        self._crashes = 0  # by what is read

    def arm(self, leg: UnderWay, now: int) -> None:
        """Aim at the steps of a leg that begins, or whose timetable is another one: failures strike in mid-step."""
        self._leg = leg
        for entries, timer in self._script:
            while entries and entries[0][1] < leg.step:
                entries.pop(0)  # that step is behind the checkpoint and will not be trained again
            timer.set(self._middle_of(entries[0][1] - leg.step, now) if entries else None)
        if self._rewinds:
            self.due_after(self._rewinds[0][0] - leg.step, "rewind")

    def crashes_at(self, step: int | None) -> None:
        """What the leg that begins reads crashes it at a step, or nowhere."""
        for entries in self._by_what_is_read:
            entries[:] = [] if step is None else [(self._crashes, step)]

    def _middle_of(self, step: int, now: int) -> int | None:
        """When the leg is in the middle of its step; None if the run ends before, or the step is half done."""
        middle = self._leg.instant_of(step + 1) - self._leg.clock.step // 2
        return middle if self._leg.goes_beyond(step) and middle >= now else None

    def _fail(self, cause: Cause, entries: list[tuple[int, int]], now: int) -> None:
        step, closing = entries[0][1] - self._leg.step, self._leg.closing
        # A leg that is being closed has no such step any more: it waits for its last save.
        if self._leg.trained(now) == step and (closing is None or step < closing.steps):
            entry, _ = entries.pop(0)
            self._crashes += cause.by_what_is_read
            self._strike(cause, entry, now)

    def due_after(self, steps: int, what: Due) -> None:
        """Something is due when the leg completes so many steps."""
        self._after[what] = steps
        self._timers[what].set(self._leg.instant_of(steps))

    def _ring(self, what: Due, now: int) -> None:
        if self._leg.trained(now) == self._after[what]:
            self._reach(what, now)

    def leg_ends(self) -> None:
        """The leg does not come to what is still due in it."""
        for what in self._after:
            self._timers[what].set(None)
        self._after.clear()
        for _, timer in self._script:
            timer.set(None)

    def next_rewind(self) -> tuple[int, int]:
        """The rewind that is due: after which step, and how many back; it will not come again."""
        return self._rewinds.pop(0)
