"""What is to happen at steps, whenever they come: scripted failures, rewinds, a bad checkpoint that shows itself."""

from collections.abc import Callable, Sequence
from typing import Literal

import simpy

from clustersim.cluster.causes import Cause
from clustersim.cluster.clock import Alarm, Rank
from clustersim.training.under_way import UnderWay

Due = Literal["bad checkpoint", "rewind", "regrouping"]
"""What may be due at the end of a step."""


class Milestones:
    """Alarms on a leg's steps. One that the leg does not come to, or not at that instant any more, does nothing."""

    def __init__(
        self,
        env: simpy.Environment,
        causes: Sequence[Cause],
        rewinds: Sequence[tuple[int, int]],
        is_live: Callable[[UnderWay], bool],
        strike: Callable[[Cause, int], None],
        reach: Callable[[Due], None],
    ) -> None:
        """Take what is to happen, and whom to tell.

        Args:
            env: simulated time.
            causes: those that are scripted at steps strike.
            rewinds: (after which step, how many back), in order.
            is_live: whether the job still trains that leg.
            strike: a scripted failure strikes; its cause and its number there.
            reach: something is due at this instant.
        """
        self._env = env
        self._script = [(cause, list(enumerate(cause.at_steps))) for cause in causes if cause.at_steps]
        self._rewinds = list(rewinds)
        self._is_live = is_live
        self._strike = strike
        self._reach = reach

    @property
    def _now(self) -> int:
        return self._env.now  # type: ignore[return-value]  # the clock is an integer

    def arm(self, leg: UnderWay) -> None:
        """Set the alarms of a leg that begins, or whose timetable is another one: failures strike in mid-step."""
        for cause, entries in self._script:
            while entries and entries[0][1] < leg.step:
                entries.pop(0)  # that step is behind the checkpoint and will not be trained again
            if entries and leg.goes_beyond(entries[0][1] - leg.step):
                self._arm_failure(leg, cause, entries)
        if self._rewinds:
            self.due_after(leg, self._rewinds[0][0] - leg.step, "rewind", Rank.COMPLETE)

    def _arm_failure(self, leg: UnderWay, cause: Cause, entries: list[tuple[int, int]]) -> None:
        steps = entries[0][1] - leg.step

        def strike(alarm: Alarm) -> None:
            if self._is_live(leg) and leg.trained(self._now) == entries[0][1] - leg.step:
                self._strike(cause, entries.pop(0)[0])

        at_ns = leg.instant_of(steps + 1) - leg.clock.step // 2
        if at_ns >= self._now:
            Alarm(self._env, at_ns, Rank.STRIKE, strike)

    def due_after(self, leg: UnderWay, steps: int, what: Due, rank: Rank) -> None:
        """Something is due when a leg completes so many steps."""

        def reach(alarm: Alarm) -> None:
            if self._is_live(leg) and leg.trained(self._now) == steps:
                self._reach(what)

        Alarm(self._env, leg.instant_of(steps), rank, reach)

    def next_rewind(self) -> tuple[int, int]:
        """The rewind that is due: after which step, and how many back; it will not come again."""
        return self._rewinds.pop(0)
