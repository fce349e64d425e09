"""What a failure costs: the checkpoints before it and the restart after it."""

from typing import Literal

from pydantic import StrictBool

from clustersim.scenario.laws import DurationOrLaw
from clustersim.scenario.part import Part
from clustersim.scenario.rates import Interval
from clustersim.scenario.units import Duration


class Checkpoint(Part):
    """When the job saves, and what a save costs."""

    every: Interval
    """Training time or steps between saves: "10 min", "10 steps", or by formula: "young", "daly"."""
    stall: Duration = 0
    """Training stands still this long at each save."""
    write: Duration = 0
    """After the stall, until the checkpoint is durable; training goes on meanwhile."""
    when_busy: Literal["wait", "skip"] = "wait"
    """A save that falls due while one is being written waits for it, or is left out."""
    final_checkpoint: StrictBool = True
    """A run that ends by time keeps its last whole step; false: only what is durable by then."""


class Recovery(Part):
    """What happens between a failure's detection and the next step."""

    policy: Literal["spare", "wait", "shrink"] = "spare"
    """Replace lost nodes by spares and then wait; wait for their repair; or go on with the replicas that remain."""
    start_up: DurationOrLaw = 0
    """Scheduling, processes, communicators."""
    load: DurationOrLaw = 0
    """Reading the checkpoint."""
