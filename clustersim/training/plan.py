"""What the job does, in the clock's own terms: everything a scenario says about it, compiled to integers and laws."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from clustersim.history import Refused
from clustersim.laws import Law
from clustersim.theory import young
from clustersim.training.leg import LegClock


@dataclass(frozen=True, slots=True)
class Tier:
    """Where checkpoints are kept, and what becomes of them."""

    name: str
    load: Callable[[int], Law]  # by degree
    survives: Literal["process", "node", "domain", "job"] = "job"
    copies: int = 1
    keep: int | None = None  # the newest so many; None: all
    corrupt_at_load: float = 0.0  # share that no load can read
    corrupt_later: float = 0.0  # share that loads, and shows `bad_after_steps` steps later that it is bad
    bad_after_steps: int = 1

    def survives_loss(self, nodes: int, groups: int) -> bool:
        """Whether it survives that the job loses so many nodes, in so many failures of a node or a domain each."""
        if self.survives == "job" or not nodes:
            return True
        lost = {"process": self.copies, "node": nodes, "domain": groups}[self.survives]
        return lost < self.copies


@dataclass(frozen=True, slots=True)
class JobPlan:
    """The job's layout, end, checkpoints and recovery. Times are nanoseconds."""

    degree: int  # data-parallel degree at full layout
    least_degree: int
    degree_allowed: Callable[[int], bool]
    unit_nodes: int  # nodes that are lost and taken together
    unit_replicas: int  # replicas on them
    clock: Callable[[int], LegClock]  # by degree, the wait for data included: step, and for each tier when it saves
    wait_ns: Callable[[int], int]  # by degree: of each step, for its data
    steps: int | None  # the run ends after them
    end_ns: int  # the run ends then: because it is over, or because it may not take longer
    ends_by_time: bool
    first_mtbf_ns: float | None  # where the interval of the first adapts: the mean between interruptions at the start
    tiers: tuple[Tier, ...]  # of which the first is [checkpoint] itself
    final_checkpoint: bool
    policy: Literal["spare", "wait", "shrink"]
    grow_back: Literal["next-interruption", "at-once", "next-checkpoint"]
    in_place: bool  # what is lost costs the step in flight, and the others go on
    regroup: Law
    rejoin: Law
    diagnosis: Law
    scheduling: Law
    start_up: Law
    start_up_more_ns: Callable[[int], int]  # what so many nodes add to it
    load_attempts: int  # on the same checkpoint, before an older one is taken
    warm_up: Law
    rewinds: tuple[tuple[int, int], ...]  # after so many steps, go so many back; in order

    def clock_at(self, degree: int, now: int, interruptions: int) -> LegClock:
        """The timetable of a leg that begins now, after so many interruptions.

        An adaptive interval is Young's for the mean (first + now) / (interruptions + 1): the assumed mean counts as one
        interruption that was seen.
        """
        clock = self.clock(degree)
        if self.first_mtbf_ns is None:
            return clock
        mean = (self.first_mtbf_ns + now) / (interruptions + 1)
        first, *rest = clock.savings
        every = -(-round(young(first.stall, mean)) // clock.step)
        return LegClock(clock.step, (replace(first, every=max(1, every)), *rest))

    def restart_mean_ns(self, nodes: int) -> float:
        """The mean of a recovery after its detection, at full degree, without waiting for nodes and for the loader."""
        load = self.tiers[0].load(self.degree)
        laws = (self.diagnosis, self.scheduling, self.start_up, load, self.warm_up)
        return sum(law.mean_ns for law in laws) + self.start_up_more_ns(nodes)


class Feed(Protocol):
    """What the clock asks the data domain where data acts on time."""

    def begin(self, step: int, degree: int, goes_on: bool = False) -> int | Refused | None:
        """A leg begins at a step with so many replicas: how many steps the loader will deliver (None: no end).

        `goes_on`: it goes on where the last one stopped, without a restart.
        """

    def resume_ns(self, step: int, degree: int) -> int:
        """How long the loader takes to come back to a step with so many replicas, before the first step; asked once
        or more at each restart, and nothing follows from asking.
        """

    def crash(self) -> int | None:
        """The step at which what is read crashes the leg that has begun; None if it does not."""

    def end(self, stop: int, read: int, ended_by: str) -> None:
        """The leg is over: steps below `stop` were trained, below `read` were read."""
