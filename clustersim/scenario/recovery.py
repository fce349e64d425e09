"""What a failure costs besides lost work: the restart after it."""

from typing import Literal

from clustersim.scenario.laws import DurationOrLaw
from clustersim.scenario.part import Part


class Recovery(Part):
    """What happens between a failure's detection and the next step."""

    policy: Literal["spare", "wait", "shrink"] = "spare"
    """Replace lost nodes by spares and then wait; wait for their repair; or go on with the replicas that remain."""
    start_up: DurationOrLaw = 0
    """Scheduling, processes, communicators."""
    load: DurationOrLaw | None = None
    """Reading the checkpoint; 0 if neither it nor checkpoint.read_bandwidth is said."""
