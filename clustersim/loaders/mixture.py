"""Several corpora, or batches that grow: one loader a corpus, each of which goes through its own samples one by one.

Before step s a run has read C(s) samples, of which c_k(C(s)) are corpus k's. Its loader delivers one sample a *tick*,
and the ticks of step s are those from c_k(C(s)) on, below c_k(C(s + 1)). So every corpus has its own position, order
and epochs, and what a restart does to it is what the composition does to a loader with batches of one sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustersim.data.blend import Blend
from clustersim.history import Refused
from clustersim.loaders.parts import Parts
from clustersim.loaders.sequence import SequenceLoader
from clustersim.loaders.split import rank_slices
from clustersim.scenario.batches import Batches

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Ticks:
    """The ticks of one corpus of a mixture: how many of its samples the steps of a run read."""

    batches: Batches
    blend: Blend
    corpus: int

    def before(self, step: int) -> int:
        """c_k(C(step)): ticks of the steps below one."""
        return int(self.before_all(np.array([step]))[0])

    def before_all(self, step: Ints) -> Ints:
        """`before` for each of many steps, int64 of their shape."""
        return self.blend.before(self.corpus, self.batches.before_all(step))

    def step_of(self, tick: Ints) -> Ints:
        """The step that each tick is of, int64 of their shape."""
        return self.batches.step_of(self.blend.position_of(self.corpus, tick))


class Mixed(NamedTuple):
    """What the loaders of a mixture deliver in steps [step, step + steps); their stretches count ticks."""

    step: int
    steps: int
    stretches: tuple[Any, ...]


class Moved(NamedTuple):
    """Steps delivered (fewer than asked if a loader came to its end), and where the loaders stand after them."""

    stretch: Mixed
    position: tuple[Any, ...]


class MixtureLoader:
    """Its positions and what it saves are those of its loaders, a tuple of one for each corpus."""

    def __init__(self, loaders: Sequence[SequenceLoader], blend: Blend, batches: Batches) -> None:
        """Mix corpora.

        Args:
            loaders: one for each corpus, with batches of one sample; all of one composition.
            blend: whose turn it is at each position of the mixture.
            batches: the samples of each step.
        """
        self.loaders = tuple(loaders)
        self.ticks = tuple(Ticks(batches, blend, corpus) for corpus in range(len(loaders)))
        self._blend, self._batches = blend, batches
        self.firsts = np.cumsum([0, *(loader.size for loader in loaders)])
        """The number of each corpus's first sample, as samples are numbered through all corpora, and that of all."""

    @property
    def parts(self) -> Parts:
        """What every one of its loaders is composed of."""
        return self.loaders[0].parts

    @property
    def acts_on_time(self) -> bool:
        """Whether it comes to an end of its own, or may refuse a restart."""
        return any(loader.acts_on_time for loader in self.loaders)

    def start(self, ranks: int) -> tuple[Any, ...]:
        """The very first sample of every corpus."""
        return tuple(loader.start(ranks) for loader in self.loaders)

    def steps_left(self, at: tuple[Any, ...], step: int) -> int | None:
        """Whole steps from `step` on until the first corpus comes to its end; None if none does."""
        ends = []
        for loader, ticks, each in zip(self.loaders, self.ticks, at, strict=True):
            left = loader.steps_left(each, ticks.before(step))
            if left is not None:
                ends.append(int(ticks.step_of(np.array([ticks.before(step) + left]))[0]) - step)
        return min(ends, default=None)

    def advance(self, at: tuple[Any, ...], step: int, steps: int) -> Moved:
        """Deliver the batches of `steps` steps, or as many as are left."""
        left = self.steps_left(at, step)
        steps = steps if left is None else min(steps, left)
        moved = [
            loader.advance(each, ticks.before(step), ticks.before(step + steps) - ticks.before(step))
            for loader, ticks, each in zip(self.loaders, self.ticks, at, strict=True)
        ]
        stretches = tuple(each.stretch for each in moved)
        return Moved(Mixed(step, steps, stretches), tuple(each.position for each in moved))

    def save(self, at: tuple[Any, ...]) -> tuple[Any, ...]:
        """What a checkpoint keeps of every corpus."""
        return tuple(loader.save(each) for loader, each in zip(self.loaders, at, strict=True))

    def resume(
        self, saved: tuple[Any, ...], reached: tuple[Any, ...], ranks: int, leg: int
    ) -> tuple[Any, ...] | Refused:
        """Back in every corpus by the rule of the composition."""
        back = []
        for loader, kept, last in zip(self.loaders, saved, reached, strict=True):
            position = loader.resume(kept, last, ranks, leg)
            if isinstance(position, Refused):
                return position
            back.append(position)
        return tuple(back)

    def batch_at(self, stretch: Mixed, step: int, ranks: int) -> list[Ints]:
        """The samples that each rank reads in one step of a stretch, as they are numbered through all corpora."""
        start, stop = self._batches.before(step), self._batches.before(step + 1)
        samples = np.empty(stop - start, np.int64)
        turns = self._blend.corpus_at(np.arange(start, stop))
        for corpus, (loader, ticks) in enumerate(zip(self.loaders, self.ticks, strict=True)):
            low, high = ticks.before(step), ticks.before(step + 1)
            own = loader.samples_at(stretch.stretches[corpus], low, high)
            samples[turns == corpus] = self.firsts[corpus] + own
        return [samples[low:high] for low, high in rank_slices(len(samples), ranks)]

    def steps_as_planned(self, stretches: Sequence[Mixed], planned_steps: int) -> int:
        """How many steps below `planned_steps` read the positions of the plan in every corpus, in its order."""
        step = np.array([each.step for each in stretches])
        stop = np.minimum([each.step + each.steps for each in stretches], planned_steps)
        for corpus, (loader, ticks) in enumerate(zip(self.loaders, self.ticks, strict=True)):
            own = [each.stretches[corpus] for each in stretches]
            first, _ = loader.as_planned(own, ticks.before(planned_steps))
            after = np.where(first > 0, ticks.step_of(np.maximum(first - 1, 0)) + 1, 0)
            step = np.maximum(step, after)
        return int(np.maximum(stop - step, 0).sum())
