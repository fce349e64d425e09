"""Shards that wait in one queue, and the readers that take them."""

from heapq import heapreplace

import numpy as np
from numpy.typing import NDArray

from clustersim.loaders.deal import InPieces

Ints = NDArray[np.int64]


class Queued(InPieces):
    """Readers that take the next shard of one queue when theirs is used up; rank by rank, a batch a step.

    The epoch ends in the step in which the first of them finds nothing.
    """

    def __init__(self, waiting: Ints, shard_begins: Ints, batches: Ints) -> None:
        """Let the readers take all shards of the queue, at a cost of the shards and not of the steps.

        Args:
            waiting: the shards of the queue, by their place in the epoch's order, int64[waiting].
            shard_begins: the offset at which each shard begins in the epoch's order, and N: int64[shards + 1].
            batches: samples that each reader takes a step, int64[readers].
        """
        self._waiting = waiting
        self._shard_begins = shard_begins
        self._batches = batches
        size = np.diff(shard_begins)[waiting]
        self._taker, self._taken_in = _takers(size, batches)
        by_reader = np.argsort(self._taker, kind="stable")
        self._shard = waiting[by_reader]
        self._whole = size[by_reader]
        super().__init__(self._taker[by_reader], shard_begins[:-1][self._shard], self._whole, len(batches))
        steps = int((-(-self.lengths // batches)).min())  # in which everybody finds something
        self.lengths = np.minimum(self.lengths, steps * batches)
        self._size = np.clip(self.lengths[self.reader] - self._local, 0, self._whole)

    def left(self, steps: int) -> Ints:
        """What each reader has of its shard after so many steps, and all that waits for whoever comes: int64[readers].

        Where the epoch ends as somebody finds nothing, others leave shards, which fewer readers may still read.
        """
        size, taken = np.diff(self._shard_begins)[self._waiting], self._taken_in < steps
        left = np.full(len(self._batches), size[~taken].sum()) - np.minimum(steps * self._batches, self.lengths)
        np.add.at(left, self._taker[taken], size[taken])
        return left

    def after(self, steps: int, again: bool) -> Ints:
        """The shards that wait after so many steps, by their place in the epoch's order, int64[waiting].

        Shards in progress are put back, whole, before those that nobody has taken (`again`), or count as done.
        """
        read = np.minimum(steps * self._batches, self.lengths)[self.reader] - self._local
        doing = self._shard[(read > 0) & (read < self._whole)]
        todo = self._waiting[self._taken_in >= steps]
        return np.concatenate([doing, todo]) if again else todo


def _takers(size: Ints, batches: Ints) -> tuple[Ints, Ints]:
    """Which reader takes each shard of a queue, and in which step: int64[shards] each."""
    each = batches.tolist()
    passed = [0] * len(each)  # samples of the shards that a reader has taken
    next_in = [(0, reader) for reader in range(len(each))]  # the step in which it takes the next one, and who; a heap
    taken = []
    for samples in size.tolist():
        step, reader = next_in[0]
        taken.append((reader, step))
        passed[reader] += samples
        heapreplace(next_in, (passed[reader] // each[reader], reader))
    taker, taken_in = np.array(taken, dtype=np.int64).reshape(-1, 2).T.copy()
    return taker, taken_in
