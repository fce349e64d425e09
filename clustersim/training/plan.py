"""What the job does, in the clock's own terms: everything a scenario says about it, compiled to integers and laws."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from clustersim.history import Refused
from clustersim.laws import Law
from clustersim.training.leg import Saving


@dataclass(frozen=True, slots=True)
class JobPlan:
    """The job's layout, end, checkpoints and recovery. Times are nanoseconds."""

    degree: int  # data-parallel degree at full layout
    least_degree: int
    degree_allowed: Callable[[int], bool]
    unit_nodes: int  # nodes that are lost and taken together
    unit_replicas: int  # replicas on them
    step_ns: Callable[[int], int]  # by degree
    steps: int | None  # the run ends after them
    end_ns: int  # the run ends then: because it is over, or because it may not take longer
    ends_by_time: bool
    saving: Callable[[int], Saving]  # by degree
    final_checkpoint: bool
    policy: Literal["spare", "wait", "shrink"]
    start_up: Law
    load: Callable[[int], Law]  # by degree


class Feed(Protocol):
    """What the clock asks the data domain where data decides when training ends."""

    def begin(self, step: int, degree: int) -> int | Refused | None:
        """A leg begins at a step with so many replicas: how many steps the loader will deliver (None: no end)."""

    def end(self, stop: int, read: int) -> None:
        """The leg is over: steps below `stop` were trained, below `read` were read."""
