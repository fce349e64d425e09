"""The leg under way: its timetable, which may change while it goes on, and what it comes to."""

from itertools import repeat

from clustersim.history import Leg
from clustersim.training.closing import Closing
from clustersim.training.leg import LegClock
from clustersim.training.slowed import Slowed, slowed


class UnderWay:
    """A leg that trains since `begin_ns` from `step` on, with so many replicas. Instants are nanoseconds of the run."""

    stop: int
    """Its last step (exclusive), once it has ended."""
    read: int
    """The last step (exclusive) that was read; a step that was in flight is read, not trained."""
    saves: tuple[int, ...]
    """How many of each tier's saves are durable, or will be."""
    _end_ns: int
    _ended_by: str
    _nodes: int
    _stall_ns: int

    def __init__(
        self,
        number: int,
        begin_ns: int,
        step: int,
        degree: int,
        clock: LegClock,
        left: int | None,
        unsaved: tuple[int, ...],
    ) -> None:
        """`left`: steps to the end of the run, None if it has none; `unsaved`: steps since each tier's last save."""
        self.number = number
        self.begin_ns = begin_ns
        self.step = step
        self.degree = degree
        self.left = left
        self.clock: LegClock | Slowed | Closing = clock
        self.closing: Closing | None = None
        """The timetable, if an end is planned."""
        self._unsaved = unsaved

    def trained(self, now: int) -> int:
        """Steps that are complete."""
        return self.clock.at(now - self.begin_ns).steps

    def soon(self, now: int) -> int:
        """Steps with the one in flight, at least one."""
        steps = self.trained(now)
        return max(1, steps + (self.instant_of(steps) < now))

    def instant_of(self, steps: int) -> int:
        """When so many steps are complete."""
        return self.begin_ns + self.clock.time_of(steps)

    def goes_beyond(self, steps: int) -> bool:
        """Whether the run has more steps than so many of this leg."""
        return self.left is None or steps < self.left

    @property
    def running(self) -> LegClock | Slowed:
        """The timetable, but for an end that is planned."""
        return self.clock.clock if isinstance(self.clock, Closing) else self.clock

    def is_closed(self, now: int) -> bool:
        """Whether it ends now as planned."""
        return self.closing is not None and now == self.begin_ns + self.closing.over

    def close(self, steps: int) -> int:
        """Plan its end after so many steps, with a save: when that is."""
        self.clock = self.closing = Closing(self.running, steps)
        return self.begin_ns + self.closing.over

    def slow(self, now: int, extra: int) -> None:
        """From the next step on each takes so much (ns) longer than at full pace; a planned end is left out."""
        progress = self.running.at(now - self.begin_ns)
        self.clock = slowed(self.running, progress.steps + (progress.partial > 0), extra)
        self.closing = None

    def end(self, now: int, ended_by: str, nodes: int, goes_on: bool, fails: bool) -> None:
        """It ends, having trained what is complete.

        Args:
            now: when it ends.
            ended_by: why.
            nodes: that the job held.
            goes_on: the next one goes on with its weights, and saves that are being written are so to their end.
            fails: a step fails with which it does so; a replica that is lost between two steps is missed in the next.
        """
        elapsed = now - self.begin_ns
        steps, partial, self._stall_ns = self.clock.at(elapsed)
        count_saves = self.clock.made if goes_on else self.clock.durable
        self.saves = tuple(map(count_saves, range(len(self._unsaved)), repeat(elapsed)))
        self.stop = self.step + steps
        self.read = self.stop + (partial > 0 or fails)
        self._end_ns, self._ended_by, self._nodes = now, ended_by, nodes

    def record(self, kept: int, wait_ns: int, goes_on: bool) -> Leg:
        """What is written down of it, once it has ended and it is known where the next one starts.

        Args:
            kept: the step that the next one starts from.
            wait_ns: of each step for its data.
            goes_on: whether the next one goes on with its weights.
        """
        return Leg(
            self.number,
            self.step,
            self.stop,
            self.read,
            kept,
            self.degree,
            self._nodes,
            self.begin_ns,
            self._end_ns,
            self.clock.step,
            wait_ns,
            self._stall_ns,
            self.saves,
            self.clock,
            self._ended_by,
            goes_on,
        )

    def unsaved(self) -> tuple[int, ...]:
        """Steps since the last save of each tier at its end."""
        steps = self.stop - self.step
        return tuple(
            steps - self.clock.step_of(tier, count - 1) if count else before + steps
            for tier, (count, before) in enumerate(zip(self.saves, self._unsaved, strict=True))
        )
