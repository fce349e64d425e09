"""Planned maintenance: windows in which the whole machine, or some of its nodes, are out of use."""

from pydantic import model_validator

from clustersim.scenario.errors import wrong
from clustersim.scenario.laws import DurationOrLaw
from clustersim.scenario.part import Part
from clustersim.scenario.units import Duration, Name, PositiveCount, PositiveDuration


class Maintenance(Part):
    """Windows of planned maintenance: the job saves after the step in flight, and is not interrupted."""

    name: Name
    """Its name, which no cause of failures has."""
    every: PositiveDuration | None = None
    """From the beginning of a window to that of the next, and from the run's start to the first."""
    at: tuple[Duration, ...] | None = None
    """Instead of that: wall-clock times since the run's start, increasing."""
    takes: DurationOrLaw
    """How long a window lasts; of nodes, how long each of them is out."""
    nodes: PositiveCount | None = None
    """So many nodes, spares included, in turn by their numbers; the whole machine if not said."""

    @model_validator(mode="after")
    def _check(self) -> "Maintenance":
        if (self.every is None) == (self.at is None):
            raise wrong("either every or at", "neither" if self.at is None else "both", key="every")
        if self.at is not None:
            if not self.at:
                raise wrong("at least one entry", "an empty list", key="at")
            if any(a >= b for a, b in zip(self.at, self.at[1:], strict=False)):
                raise wrong("increasing times", "a list out of order", key="at")
        if self.nodes is None and self.every is not None and isinstance(self.takes, int) and self.takes >= self.every:
            raise wrong("less than every, or the machine is never up", "no less", key="takes")
        return self

    def begins_ns(self, until_ns: int) -> tuple[int, ...]:
        """When the windows that begin before a time do."""
        if self.at is not None:
            return tuple(time for time in self.at if time < until_ns)
        assert self.every is not None
        return tuple(range(self.every, until_ns, self.every))
