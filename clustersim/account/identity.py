"""Counts per sample under the actual orders, for runs small enough to hold an integer a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from clustersim.account.draws import Draws, Ints
from clustersim.account.ledger import Ledger
from clustersim.account.spaces import Spaces, cells_of, reach_of
from clustersim.account.sweep import check


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each sample was planned and seen."""

    planned: Ints  # int64[N]
    seen: Ints  # int64[N]
    cell_starts: Ints  # int64[cells + 1], the cells' boundaries in samples: the blocks, or [0, N]

    @classmethod
    def concat(cls, parts: Sequence[Counts]) -> Counts:
        """The counts of several corpora after each other, a cell for each; those of one, as they are."""
        if len(parts) == 1:
            return parts[0]
        ends = np.cumsum([0, *(len(part.planned) for part in parts)])
        planned, seen = (np.concatenate([getattr(part, side) for part in parts]) for side in ("planned", "seen"))
        return cls(planned, seen, ends)

    def ledger(self) -> Ledger:
        """The ledger that sums these counts."""
        # One integer a sample sorts ten times faster than three, and few different ones need no sorting.
        key = np.repeat(np.arange(len(self.cell_starts) - 1), np.diff(self.cell_starts))
        least, shape = [], [len(self.cell_starts)]
        for views in (self.planned, self.seen):
            least.append(int(views.min()))
            shape.append(int(views.max()) - least[-1] + 1)
            key *= shape[-1]
            key += views
            key -= least[-1]
        if prod(shape) <= len(key):
            samples = np.bincount(key)
            key = np.flatnonzero(samples)
            samples = samples[key]
        else:
            key, samples = np.unique(key, return_counts=True)
        cell, planned, seen = np.unravel_index(key, shape)
        return Ledger.of(cell, planned + least[0], seen + least[1], samples, "identity")


def expand(spaces: Spaces, draws: Draws) -> tuple[Ints, Ints]:
    """Every single read: its step and its sample, int64[views] each, in row order and then in reading order.

    Args:
        spaces: the orders that were read.
        draws: reads, as many views as fit into memory.
    """
    steps, samples = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for row in range(len(draws)):
        offsets = draws.offsets(row)
        for later in range(int(draws.epochs[row])):
            samples.append(spaces.samples_at(int(draws.family[row]), int(draws.epoch[row]) + later, offsets))
            into = int(draws.lead[row]) + later * spaces.size + offsets - draws.start[row]
            steps.append(draws.step[row] + draws.every[row] * (into // draws.per_step[row]))
    return np.concatenate(steps), np.concatenate(samples)


def same_batches(planned: tuple[Ints, Ints], seen: tuple[Ints, Ints]) -> int:
    """How many steps read the same samples, as a multiset, in both; at a cost of all views of both.

    Args:
        planned: step and sample of each read of the run without failures, int64[views] both, as of `expand`.
        seen: of each read of the lineage.
    """
    sides = []
    for step, sample in (planned, seen):
        order = np.lexsort((sample, step))
        sides.append((step[order], sample[order]))
    steps = 1 + max((int(step[-1]) for step, _ in sides if len(step)), default=-1)
    size_planned, size_seen = (np.bincount(step, minlength=steps) for step, _ in sides)
    comparable = (size_planned == size_seen) & (size_planned > 0)
    (step, a), (_, b) = ((step[comparable[step]], sample[comparable[step]]) for step, sample in sides)
    return int(comparable.sum()) - len(np.unique(step[a != b]))


def count_identity(spaces: Spaces, planned: Draws, seen: Draws) -> Counts:
    """Expand the reads to a count per sample, at a cost of the views in epochs that are not read whole.

    Args:
        spaces: the orders that were read.
        planned: reads of the run without failures.
        seen: reads of the lineage.

    Raises:
        ValueError: a read leaves [0, N), or a row of several epochs does not read them whole.
    """
    counts = []
    for draws in (planned, seen):
        check(reach_of(spaces), draws)
        whole = (draws.start == 0) & (draws.stop == spaces.size) & (draws.modulus == 1)
        if spaces.law == "other":
            whole &= draws.epochs > 1
        views = np.full(spaces.size, sum(draws.epochs[whole].tolist()))
        for row in np.flatnonzero(~whole).tolist():
            samples = spaces.samples_at(int(draws.family[row]), int(draws.epoch[row]), draws.offsets(row))
            np.add.at(views, samples, 1)  # a flow may yield a sample twice
        counts.append(views)
    cell_starts = cells_of(spaces)
    return Counts(counts[0], counts[1], cell_starts)
