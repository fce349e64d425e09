"""The recovery under way: phases that follow each other, cut short when a failure strikes in one of them."""

from collections.abc import Sequence

from clustersim.history import Phase, Recovery, Spent


def lasting(nodes: int, *phases: tuple[Phase, int]) -> list[Spent]:
    """Those of the phases (name, duration) that are not over at once, with so many nodes held."""
    return [(phase, spent, nodes) for phase, spent in phases if spent]


class Recovering:
    """A recovery as it goes on; `record` is what it leaves.

    Phases run one after the other from the instant in which they begin, and cost no event of their own: a failure in
    the middle of them cuts them, and what was spent stays in the phase in which it was spent. Times are nanoseconds.
    """

    def __init__(self, begin_ns: int) -> None:
        self.interruptions = 0
        self.ends_ns = begin_ns
        """When the last of the running phases is over."""
        self._begin_ns = begin_ns
        self._phases: list[Spent] = []

    def run(self, now: int, phases: Sequence[Spent]) -> int:
        """Begin phases, and say when the last is over; the ones before must be over, or stopped."""
        self._phases += phases
        for _, spent, _ in phases:
            now += spent
        self.ends_ns = now
        return now

    def stop(self, now: int) -> None:
        """What of the running phases is not over by now will not be."""
        left = self.ends_ns - now
        while left > 0:
            phase, spent, nodes = self._phases.pop()
            if spent > left:
                self._phases.append((phase, spent - left, nodes))
            left -= spent
        self.ends_ns = min(self.ends_ns, now)

    def record(self) -> Recovery:
        """What it came to; its phases must be over, or stopped."""
        return Recovery(self._begin_ns, tuple(self._phases), self.interruptions)
