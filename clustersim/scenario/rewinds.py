"""Planned rollbacks: after a loss spike the job goes back some steps."""

from collections.abc import Sequence

from clustersim.scenario.errors import wrong
from clustersim.scenario.part import Part
from clustersim.scenario.units import PositiveCount


class Rewind(Part):
    """One of them; it happens once, whatever restarts follow."""

    at_step: PositiveCount
    """It happens when so many steps are complete for the first time."""
    back: PositiveCount
    """The job goes back at least so many steps: to the newest checkpoint that is left from there or before."""


def check_rewinds(rewinds: Sequence[Rewind], steps: int | None) -> None:
    """Raise the error of a validator, with its key, for the first rewind that cannot be in a run of so many steps."""
    last = 0
    for index, rewind in enumerate(rewinds):
        if rewind.at_step <= last:
            raise wrong(f"a step after {last}, as they are in order", str(rewind.at_step), f"rewinds.{index}.at_step")
        if steps is not None and rewind.at_step >= steps:
            raise wrong(f"a step before {steps}, the end of the run", str(rewind.at_step), f"rewinds.{index}.at_step")
        if rewind.back > rewind.at_step:
            raise wrong(f"at most {rewind.at_step}, the steps until then", str(rewind.back), f"rewinds.{index}.back")
        last = rewind.at_step
