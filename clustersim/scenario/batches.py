"""How many samples the steps of a run read: as many each, or fewer while a ramp lasts."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Batches:
    """Samples of each step; `before` and `step_of` are the cumulative count C and its inverse."""

    full: int
    """Samples of a step once no ramp lasts."""
    ramp: tuple[tuple[int, int], ...] = ()
    """(until, batch): steps read `batch` samples until the run has read `until`, which rise."""

    @cached_property
    def _stages(self) -> tuple[list[int], list[int], list[int]]:
        """The first step of each stage, the samples read before it, and its batch; the last one has no end."""
        steps, samples, batches = [0], [0], []
        for until, batch in self.ramp:
            more = max(0, -(-(until - samples[-1]) // batch))
            batches.append(batch)
            steps.append(steps[-1] + more)
            samples.append(samples[-1] + more * batch)
        return steps, samples, [*batches, self.full]

    @property
    def each(self) -> Sequence[int]:
        """Every size that a batch may have, the full one last."""
        return self._stages[2]

    def before(self, step: int) -> int:
        """C: samples of the steps below one."""
        steps, samples, batches = self._stages
        stage = bisect_right(steps, step) - 1
        return samples[stage] + (step - steps[stage]) * batches[stage]

    def before_all(self, step: Ints) -> Ints:
        """`before` for each of many steps, int64 of their shape."""
        steps, samples, batches = (np.array(column, dtype=np.int64) for column in self._stages)
        stage = np.searchsorted(steps, step, side="right") - 1
        before: Ints = samples[stage] + (step - steps[stage]) * batches[stage]
        return before

    def within(self, samples: int) -> int:
        """The most steps that read no more than so many samples together."""
        return int(self.step_of(np.array([samples]))[0])

    def reaching(self, samples: int) -> int:
        """The fewest steps that read at least so many samples (at least 1) together."""
        return self.within(samples - 1) + 1

    def step_of(self, sample: Ints) -> Ints:
        """The step that reads the sample of each number, as all steps count them; int64 of their shape."""
        steps, samples, batches = (np.array(column, dtype=np.int64) for column in self._stages)
        stage = np.searchsorted(samples, sample, side="right") - 1
        step: Ints = steps[stage] + (sample - samples[stage]) // batches[stage]
        return step
