"""What the job does not break off for, but saves first: nodes that are slow, and maintenance."""

from collections.abc import Callable
from typing import NamedTuple

from clustersim.cluster.causes import JOB, Strike


class Plan(NamedTuple):
    """The job is to end its leg after the step in flight, with a save, because nodes that it holds are to leave."""

    name: str
    until_ns: int  # when the whole machine is back; in the past if it is not out


class Slow:
    """What is slow, and how slow that makes a step: a job that waits for its slowest node is as slow as that."""

    def __init__(self, holds: Callable[[int], bool]) -> None:
        """`holds`: whether the job holds a node."""
        self._holds = holds
        self.slows: dict[tuple[int, int, int], float] = {}
        """(cause, node or JOB, life) of what is slow -> how many times as long a step takes with it."""

    def begins(self, strike: Strike) -> None:
        """A node, or the job as a whole, is slow from now on."""
        self.slows[strike.cause.index, strike.entity, strike.k] = strike.cause.slows

    def ends(self, strike: Strike) -> None:
        """It is no longer."""
        del self.slows[strike.cause.index, strike.entity, strike.k]

    @property
    def pace(self) -> float:
        """How many times as long a step takes; 1 if nothing that the job holds is slow."""
        own = [slows for (_, node, _), slows in self.slows.items() if node == JOB or self._holds(node)]
        return max(own, default=1.0)
