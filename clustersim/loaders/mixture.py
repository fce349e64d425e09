"""Several corpora, or batches that grow: one loader a corpus, each with its own position, order and epochs.

Where batches span epochs a loader goes through its corpus sample by sample. Before step s a run has read C(s) samples,
of which c_k(C(s)) are corpus k's: its loader delivers one sample a *tick*, and the ticks of step s are those from
c_k(C(s)) on, below c_k(C(s + 1)). A restart does to a corpus what it does to a loader with batches of one sample.

Other loaders count whole batches: each takes the same share of every batch, and a tick is a step.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from clustersim.data.orders import Order
from clustersim.data.skips import Skips
from clustersim.history import Refused
from clustersim.loaders.parts import CorpusLoader, Parts, Ranges
from clustersim.loaders.returning import ReaderLoader
from clustersim.loaders.sequence import SequenceLoader
from clustersim.loaders.split import rank_slices
from clustersim.scenario.batches import Batches
from clustersim.scenario.blend import Blend

Ints = NDArray[np.int64]


class Ticks(Protocol):
    """By what the loader of a corpus counts."""

    def before(self, step: int) -> int:
        """Ticks of the steps below one."""

    def before_all(self, step: Ints) -> Ints:
        """`before` for each of many steps, int64 of their shape."""

    def step_of(self, tick: Ints) -> Ints:
        """The step that each tick is of, int64 of their shape."""

    def samples_before(self, step: int) -> int:
        """Samples of the corpus that the steps below one read."""


@dataclass(frozen=True)
class Steps:
    """A tick is a step."""

    batches: Batches

    def before(self, step: int) -> int:
        """Ticks of the steps below one."""
        return step

    def before_all(self, step: Ints) -> Ints:
        """`before` for each of many steps, int64 of their shape."""
        return step

    def step_of(self, tick: Ints) -> Ints:
        """The step that each tick is of, int64 of their shape."""
        return tick

    def samples_before(self, step: int) -> int:
        """Samples of the corpus that the steps below one read."""
        return self.batches.before(step)


@dataclass(frozen=True)
class Singles:
    """A tick is one sample of corpus `corpus`, read at a position of the mixture that is not among those skipped."""

    batches: Batches
    blend: Blend
    corpus: int
    skips: Skips
    """Positions of the mixture that no step reads."""

    @cached_property
    def own_skips(self) -> Skips:
        """The positions of the corpus that those are."""
        bounds = self.blend.before(self.corpus, np.array(self.skips.runs, dtype=np.int64).reshape(-1, 2)).tolist()
        runs: list[tuple[int, int]] = []
        for low, high in bounds:
            if runs and low == runs[-1][1]:  # none between them is the corpus's
                runs[-1] = runs[-1][0], high
            elif low < high:
                runs.append((low, high))
        return Skips(runs)

    def before(self, step: int) -> int:
        """c_k(C(step)): ticks of the steps below one."""
        return int(self.before_all(np.array([step]))[0])

    def before_all(self, step: Ints) -> Ints:
        """`before` for each of many steps, int64 of their shape."""
        position = self.skips.position_of(self.batches.before_all(step))
        return self.own_skips.trained(self.blend.before(self.corpus, position))

    def step_of(self, tick: Ints) -> Ints:
        """The step that each tick is of, int64 of their shape."""
        position = self.blend.position_of(self.corpus, self.own_skips.position_of(tick))
        return self.batches.step_of(self.skips.trained(position))

    def samples_before(self, step: int) -> int:
        """Samples of the corpus that the steps below one read."""
        return self.before(step)


class Mixed(NamedTuple):
    """What the loaders of a mixture deliver in steps [step, step + steps); their stretches count ticks."""

    step: int
    steps: int
    stretches: tuple[Any, ...]


class Stand(NamedTuple):
    """Where the loader of each corpus stands, or what is saved of it, after so many steps of the run."""

    step: int
    corpora: tuple[Any, ...]


class Moved(NamedTuple):
    """Steps delivered (fewer than asked if a loader came to its end), and where the loaders stand after them."""

    stretch: Mixed
    position: Stand


class MixtureLoader:
    """A loader for each corpus, and the ticks that it counts by."""

    def __init__(self, parts: Parts, loaders: Sequence[CorpusLoader], ticks: Sequence[Ticks]) -> None:
        """`parts`: of which each loader is composed."""
        self.parts = parts
        self.loaders = tuple(loaders)
        self.ticks = tuple(ticks)
        self.firsts = np.cumsum([0, *(loader.spaces.size for loader in loaders)])
        """The number of each corpus's first sample, as samples are numbered through all corpora, and that of all."""

    @property
    def acts_on_time(self) -> bool:
        """Whether it comes to an end of its own, or may refuse a restart."""
        return any(loader.acts_on_time for loader in self.loaders)

    def start(self, ranks: int) -> Stand:
        """The very first sample of every corpus."""
        return Stand(0, tuple(loader.start(ranks) for loader in self.loaders))

    def steps_left(self, at: Stand, step: int) -> int | None:
        """Whole steps from `step` on until the first corpus comes to its end; None if none does."""
        ends = []
        for loader, ticks, each in zip(self.loaders, self.ticks, at.corpora, strict=True):
            left = loader.steps_left(each, ticks.before(step))
            if left is not None:
                ends.append(int(ticks.step_of(np.array([ticks.before(step) + left]))[0]) - step)
        return min(ends, default=None)

    def advance(self, at: Stand, step: int, steps: int) -> Moved:
        """Deliver the batches of `steps` steps, or as many as are left."""
        left = self.steps_left(at, step)
        steps = steps if left is None else min(steps, left)
        moved = [
            loader.advance(each, ticks.before(step), ticks.before(step + steps) - ticks.before(step))
            for loader, ticks, each in zip(self.loaders, self.ticks, at.corpora, strict=True)
        ]
        stretches = tuple(each.stretch for each in moved)
        return Moved(Mixed(step, steps, stretches), Stand(step + steps, tuple(each.position for each in moved)))

    def save(self, at: Stand) -> Stand:
        """What a checkpoint keeps of every corpus."""
        return Stand(at.step, tuple(loader.save(each) for loader, each in zip(self.loaders, at.corpora, strict=True)))

    def resume(self, saved: Stand, reached: Stand, ranks: int, leg: int) -> Stand | Refused:
        """Back in every corpus by the rule of the composition."""
        back = []
        for loader, kept, last in zip(self.loaders, saved.corpora, reached.corpora, strict=True):
            position = loader.resume(kept, last, ranks, leg)
            if isinstance(position, Refused):
                return position
            back.append(position)
        return Stand(saved.step, tuple(back))

    def batch_at(self, stretch: Mixed, step: int, ranks: int) -> list[Ints]:
        """The samples that each rank reads in one step of a stretch, as they are numbered through all corpora."""
        by_corpus = [
            [first + samples for samples in loader.batch_at(own, step, ranks)]
            for first, loader, own in zip(self.firsts.tolist(), self.loaders, stretch.stretches, strict=False)
        ]
        return [np.concatenate(parts) for parts in zip(*by_corpus, strict=True)]

    def steps_as_planned(self, stretches: Sequence[Mixed], planned_steps: int) -> int:
        """How many steps below `planned_steps` read what the plan reads, in every corpus, by positions and orders."""
        alike: Ranges = [(each.step, min(each.step + each.steps, planned_steps)) for each in stretches]
        for corpus, (loader, ticks) in enumerate(zip(self.loaders, self.ticks, strict=True)):
            own = [each.stretches[corpus] for each in stretches]
            found = loader.as_planned(own, ticks.before(planned_steps))
            alike = _in_both(alike, [(_whole_from(ticks, low), _whole_until(ticks, high)) for low, high in found])
        return sum(high - low for low, high in alike)


class SingleLoader(MixtureLoader):
    """One whose loaders deliver single samples, of batches of any size.

    Where the composition saves the steps of the run, the position of the mixture comes back as so many of today's
    batches, whatever the batches were.
    """

    def __init__(
        self,
        orders: Sequence[Order],
        parts: Parts,
        blend: Blend,
        batches: Batches,
        epochs: Sequence[int | None],
        skips: Skips | None = None,
    ) -> None:
        """Mix corpora.

        Args:
            orders: of each corpus.
            parts: of each loader.
            blend: whose turn it is at each position of the mixture.
            batches: the samples of each step.
            epochs: of each corpus, as of `SequenceLoader`.
            skips: positions of the mixture that no step reads; each corpus passes over those that are its turns.
        """
        counting = replace(parts, saves="samples") if parts.saves == "steps" else parts
        self._skips = skips or Skips()
        ticks = [Singles(batches, blend, corpus, self._skips) for corpus in range(len(orders))]
        each = zip(orders, epochs, ticks, strict=True)
        self._singly = [SequenceLoader(order, 1, counting, own, tick.own_skips) for order, own, tick in each]
        super().__init__(parts, self._singly, ticks)
        self._blend, self._batches = blend, batches

    def resume(self, saved: Stand, reached: Stand, ranks: int, leg: int) -> Stand | Refused:
        """Back in every corpus by the rule of the composition."""
        back = super().resume(saved, reached, ranks, leg)
        if isinstance(back, Refused) or self.parts.saves != "steps":
            return back
        today = self._batches.before(saved.step + 1) - self._batches.before(saved.step)
        position = self._skips.position_of(np.array([saved.step * today]))
        counts = (self._blend.before(corpus, position) for corpus in range(len(self.loaders)))
        corpora = (each._replace(samples=int(count[0])) for each, count in zip(back.corpora, counts, strict=True))
        return Stand(back.step, tuple(corpora))

    def batch_at(self, stretch: Mixed, step: int, ranks: int) -> list[Ints]:
        """The samples that each rank reads in one step of a stretch, as they are numbered through all corpora."""
        start, stop = self._batches.before(step), self._batches.before(step + 1)
        samples = np.empty(stop - start, np.int64)
        turns = self._blend.corpus_at(self._skips.position_of(np.arange(start, stop)))
        for corpus, (loader, ticks) in enumerate(zip(self._singly, self.ticks, strict=True)):
            own = loader.samples_at(stretch.stretches[corpus], ticks.before(step), ticks.before(step + 1))
            samples[turns == corpus] = self.firsts[corpus] + own
        return [samples[low:high] for low, high in rank_slices(len(samples), ranks)]


def shares_of(
    orders: Sequence[Order], parts: Parts, batches: Sequence[int], epochs: Sequence[int | None], ranks: int
) -> MixtureLoader:
    """A mixture of loaders that count batches, for a run that begins with so many ranks.

    `batches`: what each corpus has of every batch; `epochs`: as of `ReaderLoader`; one for each order.
    """
    each = zip(orders, batches, epochs, strict=True)
    loaders = [ReaderLoader(order, batch, parts, own, ranks) for order, batch, own in each]
    return MixtureLoader(parts, loaders, [Steps(Batches(batch)) for batch in batches])


def _whole_from(ticks: Ticks, low: int) -> int:
    """The first step all of whose ticks are `low` or later."""
    return int(ticks.step_of(np.array([low - 1]))[0]) + 1 if low else 0


def _whole_until(ticks: Ticks, high: int) -> int:
    """The step behind the last one all of whose ticks are below `high`: of those that have none, all."""
    return int(ticks.step_of(np.array([high]))[0])


def _in_both(some: Ranges, others: Ranges) -> Ranges:
    """The steps that are in both; the second ones may overlap."""
    apart: Ranges = []
    for low, high in sorted(steps for steps in others if steps[0] < steps[1]):
        if apart and low <= apart[-1][1]:
            apart[-1] = apart[-1][0], max(high, apart[-1][1])
        else:
            apart.append((low, high))
    both: Ranges = []
    for low, high in (steps for steps in some if steps[0] < steps[1]):
        first, last = bisect_right(apart, low, key=itemgetter(1)), bisect_left(apart, high, key=itemgetter(0))
        both += [(max(low, a), min(high, b)) for a, b in apart[first:last]]
    return both
