"""Damage while epochs go on, of reads that are known in number: up to where blocks were pulled, and how many were read.

Epochs that both plan and lineage have left behind have shown each block's samples more often than planned, as often, or
less. Of those that go on, or that the lineage alone is through with, each has read some of what it has pulled of a
block, any of them. So a handful of numbers of a block tell its damage, however long the run is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from clustersim.account.draws import Ints
from clustersim.account.overlay import Groups, thin_many

Classes = dict[int, Ints]
"""How many samples of each block, int64[K], by how much more often than planned they were seen."""


class Front(NamedTuple):
    """How far an epoch has come: of the first `reach` samples of each block `read` were read, any of them."""

    reach: Ints  # int64[K]
    read: Ints  # int64[K]


class Past:
    """What the epochs have left that are over."""

    def __init__(self, sizes: Ints, rng: np.random.Generator) -> None:
        """`sizes`: samples of each block, int64[K]; `rng`: the stream of random numbers."""
        self._sizes = sizes
        self._rng = rng
        self._classes: Classes = {0: sizes}
        self._views = 0  # of the lineage, less the planned ones

    def take(self, read: Ints, views: int) -> None:
        """An epoch is over that has read so many of each block, int64[K]: 1 view of the lineage, or -1, a planned one.

        Who reads a block and when is another in every epoch, so any of its samples may be those that were read.
        """
        self._views += views * int(read.sum())
        self._classes = self._moved(self._classes, read, views)

    def damage(self, planned: Front, seen: Sequence[Front], common: Front) -> tuple[int, int]:
        """Extra and missing views so far.

        Args:
            planned: of the epoch that the plan is in.
            seen: of those that the lineage is in, or through with before the plan is.
            common: what the plan and the first of them have read alike, before the lineage went another way.
        """
        below, above = self._parted(_at_most(1, self._classes), planned.reach)
        none, alike = Front(*(np.zeros_like(self._sizes),) * 2), dict[int, Ints]()
        for nth, front in reversed(list(enumerate(seen))):
            known = none if nth else common
            reached = np.minimum(front.reach, planned.reach)
            inside = self._of(front.reach - known.reach, reached - known.reach, front.read - known.read)
            if not nth:
                alike, below = self._parted(below, common.read)
            below = _at_most(1, self._moved(below, inside, 1))
            if min(above) < 0:  # else nothing of it will be missing
                above = _at_most(1, self._moved(above, front.read - known.read - inside, 1))
        below = self._moved(below, planned.read - common.read, -1)
        missing = sum(_lag(classes) for classes in (alike, below, above))
        views = self._views + sum(int(front.read.sum()) for front in seen) - int(planned.read.sum())
        return missing + views, missing

    def _moved(self, classes: Classes, take: Ints, by: int) -> Classes:
        """The classes after so many samples of each block, any of them, have been seen or planned once more."""
        moved, left = self._parted(classes, take)
        return _summed([*((surplus + by, samples) for surplus, samples in moved.items()), *left.items()])

    def _parted(self, classes: Classes, take: Ints) -> tuple[Classes, Classes]:
        """A uniform subset of so many samples of each block, int64[K], and the others."""
        table = np.stack(list(classes.values()), axis=1)
        groups = Groups.sized(np.full(len(table), table.shape[1]))
        taken = thin_many(self._rng, table.ravel(), groups, take).reshape(table.shape)
        return dict(zip(classes, taken.T, strict=True)), dict(zip(classes, (table - taken).T, strict=True))

    def _of(self, size: Ints, marked: Ints, take: Ints) -> Ints:
        """How many of each block's marked samples are in a uniform subset of so many of `size`: int64[K]."""
        return self._parted({1: marked, 0: size - marked}, take)[0][1]


def _summed(parts: Iterable[tuple[int, Ints]]) -> Classes:
    found: Classes = {}
    for surplus, samples in parts:
        found[surplus] = found[surplus] + samples if surplus in found else samples
    return {surplus: samples for surplus, samples in found.items() if samples.any()} or {0: samples}


def _at_most(most: int, classes: Classes) -> Classes:
    """The classes with those of a greater surplus among those of the greatest, where one plan is still to come."""
    return _summed((min(surplus, most), samples) for surplus, samples in classes.items())


def _lag(classes: Classes) -> int:
    """The planned views that the samples have not had."""
    return sum(-surplus * int(samples.sum()) for surplus, samples in classes.items() if surplus < 0)
