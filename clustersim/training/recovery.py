"""The recovery under way: phases that follow each other, cut short when a failure strikes in one of them."""

from collections.abc import Sequence

from clustersim.history import Phase, Recovery, Span


class Recovering:
    """A recovery as it goes on; `record` is what it leaves.

    Phases run one after the other from the instant in which they begin, and cost no event of their own: a failure in
    the middle of them cuts them, and what was spent stays in the phase in which it was spent. Times are nanoseconds.
    """

    def __init__(self, begin_ns: int) -> None:
        self.interruptions = 0
        self.ends_ns = begin_ns
        """When the last of the running phases is over."""
        self._begin_ns = self._since = begin_ns
        self._phases: Sequence[tuple[Phase, int]] = ()
        self._nodes = 0
        self._spans: list[Span] = []

    def run(self, now: int, phases: Sequence[tuple[Phase, int]], nodes: int) -> int:
        """Begin phases (name, duration) with so many nodes held, and say when the last is over.

        The ones before must have been stopped.
        """
        self._since, self._phases, self._nodes = now, phases, nodes
        ends_ns = now
        for _, duration in phases:
            ends_ns += duration
        self.ends_ns = ends_ns
        return ends_ns

    def stop(self, now: int) -> None:
        """Write down what of the running phases is over by now; the rest will not be."""
        at = self._since
        for phase, duration in self._phases:
            if at == now:
                break
            if duration:
                end = min(at + duration, now)
                self._spans.append(Span(phase, at, end, self._nodes))
                at = end
        self._phases = ()

    def record(self) -> Recovery:
        """What it came to so far."""
        return Recovery(self._begin_ns, tuple(self._spans), self.interruptions)
