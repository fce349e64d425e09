"""What a failure costs besides lost work: the restart after it."""

import math
from typing import Literal

from pydantic import StrictBool, model_validator

from clustersim.scenario.errors import wrong
from clustersim.scenario.laws import DurationOrLaw
from clustersim.scenario.part import Part
from clustersim.scenario.units import Duration, PositiveCount


class Recovery(Part):
    """What happens between a failure's detection and the next step."""

    policy: Literal["spare", "wait", "shrink"] = "spare"
    """Replace lost nodes by spares and then wait; wait for their repair; or go on with the replicas that remain."""
    grow_back: Literal["next-interruption", "at-once", "next-checkpoint"] = "next-interruption"
    """With "shrink", when it takes nodes that are back: when it is interrupted anyway; in a planned restart after the
    step in flight; or after the step at which the next save falls due."""
    batch: Literal["kept", "shrinks"] = "kept"
    """Fewer replicas divide the same global batch in longer steps; or each keeps its part, with rank_batch = "constant"
    of the loader, and a step takes as long as at full degree."""
    in_place: StrictBool = False
    """With "shrink": the loss of replicas costs the step in flight alone; the others go on without a restart."""
    regroup: DurationOrLaw = 0
    """In place: the others stand still after a step that failed, and before a replica begins to heal or joins."""
    rejoin: DurationOrLaw = 0
    """In place: from the moment when there are nodes for a replica until it has the weights and may join."""
    diagnosis: DurationOrLaw = 0
    """After detection, until it is known which nodes have to be replaced."""
    scheduling: DurationOrLaw = 0
    """From the moment when there are nodes enough until processes start on them."""
    start_up: DurationOrLaw = 0
    """Processes, communicators; scheduling too, if that has no time of its own."""
    start_up_per_node: Duration = 0
    """Longer for each node of the job: what nodes do one after the other."""
    start_up_per_doubling: Duration = 0
    """Longer for each doubling of the nodes, log2(nodes) times: what nodes do in a tree."""
    load: DurationOrLaw | None = None
    """Reading the checkpoint; 0 if neither it nor checkpoint.read_bandwidth is said."""
    load_attempts: PositiveCount = 1
    """How often a checkpoint that turns out to be bad is tried, before the next older one is taken."""
    warm_up: DurationOrLaw = 0
    """After the load, before the first step: compiling, filling caches. Nothing is trained meanwhile."""

    @model_validator(mode="after")
    def _check(self) -> "Recovery":
        if self.grow_back != "next-interruption" and self.policy != "shrink":
            raise wrong(f'"shrink" with grow_back = "{self.grow_back}"', f'"{self.policy}"', key="policy")
        if self.in_place:
            if self.policy != "shrink":
                raise wrong('"shrink" with in_place', f'"{self.policy}"', key="policy")
            if self.grow_back != "next-interruption":
                expected = "none beside in_place, where replicas join as they are back"
                raise wrong(expected, f'"{self.grow_back}"', key="grow_back")
        for key in ("regroup", "rejoin"):
            if getattr(self, key) != 0 and not self.in_place:
                raise wrong("in_place beside it", "none", key=key)
        return self

    def start_up_more_ns(self, nodes: int) -> int:
        """What so many nodes add to start_up."""
        return nodes * self.start_up_per_node + round(self.start_up_per_doubling * math.log2(nodes))
