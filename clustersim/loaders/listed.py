"""Parts that no formula gives: each reader's samples are listed, in runs small enough to hold them."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from clustersim.data.orders import Order

Ints = NDArray[np.int64]


class Listed:
    """Reader s reads `parts[s]`, sample ids; a deal that is asked for its samples, not for its offsets."""

    def __init__(self, parts: Sequence[Ints]) -> None:
        self.parts = tuple(parts)
        self.lengths: Ints = np.array([len(part) for part in parts], dtype=np.int64)

    def read(self, reader: int, start: int, stop: int) -> Ints:
        """The samples at local positions [start, stop) of a reader, int64; fewer where its part ends before."""
        return self.parts[reader][start:stop]


class Shares(Listed):
    """Readers that each read the whole input and keep their slice of each batch of all, of the input's first one on.

    What a reader keeps is worked out when it is asked for: of an epoch nothing is held.
    """

    def __init__(self, order: Order, family: int, epoch: int, origin: int, batches: Ints) -> None:
        """`origin`: samples of the input before the epoch; `batches`: what each keeps of a batch, int64[readers]."""
        self._samples = partial(order.samples_at, family, epoch)
        self._origin = origin
        self._batches = batches
        self._starts = np.cumsum(batches) - batches
        self._whole = int(batches.sum())
        self._before = self._kept(origin)
        self.lengths = self._kept(origin + order.size) - self._before

    def read(self, reader: int, start: int, stop: int) -> Ints:
        """The samples at local positions [start, stop) of a reader, int64; fewer where its part ends before."""
        number = np.arange(start, min(stop, int(self.lengths[reader]))) + self._before[reader]
        turn, within = np.divmod(number, self._batches[reader])
        return self._samples(turn * self._whole + self._starts[reader] + within - self._origin)

    def _kept(self, below: int) -> Ints:
        """How many samples of the input below one each reader keeps, int64[readers]."""
        turn, within = divmod(below, self._whole)
        kept: Ints = turn * self._batches + np.clip(within - self._starts, 0, self._batches)
        return kept


class Interleaved(Listed):
    """Readers that read several groups of their shards in turn, a sample of each.

    A position is how far each group is read, and whose turn it is.
    """

    def __init__(self, groups: Sequence[Sequence[Ints]], states: Sequence[tuple[list[int], int]] | None = None) -> None:
        """`groups`: for each reader its groups; `states`: for each where it begins, or all at the start."""
        self.groups = groups
        self._starts = states if states is not None else [([0] * len(each), 0) for each in groups]
        super().__init__([self._play(reader, None)[0] for reader in range(len(groups))])

    def state(self, reader: int, read: int) -> tuple[list[int], int]:
        """How far each group of a reader is read, and whose turn it is, after so many samples."""
        return self._play(reader, read)[1]

    def _play(self, reader: int, until: int | None) -> tuple[Ints, tuple[list[int], int]]:
        groups = self.groups[reader]
        read, turn = list(self._starts[reader][0]), self._starts[reader][1]
        left = sum(max(len(group) - k, 0) for group, k in zip(groups, read, strict=True))
        out: list[int] = []
        while len(out) < (left if until is None else min(until, left)):
            if read[turn] < len(groups[turn]):
                out.append(int(groups[turn][read[turn]]))
                read[turn] += 1
            turn = (turn + 1) % len(groups)
        return np.array(out, dtype=np.int64), (read, turn)


def groups_of(shards: Sequence[Ints], together: int) -> list[Ints]:
    """Shards in as many runs as are read together, as even as they go."""
    count = max(1, min(together, len(shards)))
    size, longer = divmod(len(shards), count)
    cuts = [k * size + min(k, longer) for k in range(count + 1)]
    return [np.concatenate([np.zeros(0, np.int64), *shards[low:high]]) for low, high in pairwise(cuts)]


class Redivided(Listed):
    """The rest of an epoch, dealt anew: from `start` on of the `stream` in which its first ranks would have read it."""

    def __init__(self, parts: Sequence[Ints], stream: Ints, start: int) -> None:
        super().__init__(parts)
        self.stream = stream
        self.start = start


def redivided(stream: Ints, position: int, ranks: int, workers: int, batch: int, drops: bool) -> Redivided:
    """Deal out the rest of a stream: batch after batch to rank after rank, and of each rank to worker after worker.

    Args:
        stream: the epoch's samples, int64.
        position: how many of them are read; what makes no whole batch of all ranks is read again.
        ranks: there are now.
        workers: of each rank.
        batch: samples of a rank's batch.
        drops: cut the end to whole batches of all workers.
    """
    start = position - position % (ranks * batch)
    rest = stream[start:]
    if drops:
        rest = rest[: len(rest) - len(rest) % (ranks * workers * batch)]
    turn = np.arange(len(rest)) // batch % (ranks * workers)  # worker 0 of every rank, then worker 1
    return Redivided([rest[turn == reader] for reader in range(ranks * workers)], stream, start)


def in_steps(parts: Sequence[Ints], batches: Ints, drops: bool) -> Ints:
    """The samples of readers in the order of the steps, int64, if each rank's workers deliver in turn.

    Args:
        parts: of each reader: worker 0 of every rank, then worker 1.
        batches: samples of each rank's batch, int64[ranks].
        drops: whether a batch that is not whole is left out.
    """
    found, least = [np.zeros(0, np.int64)], batches if drops else np.ones_like(batches)
    for turn in range(max(-(-len(part) // int(batches.min())) for part in parts)):
        for reader, part in enumerate(parts):
            batch = int(batches[reader % len(batches)])
            rows = part[turn * batch : (turn + 1) * batch]
            if len(rows) >= least[reader % len(batches)]:
                found.append(rows)
    return np.concatenate(found)


def canonical(samples: Ints, runs: int, ranks: int, batch: int) -> Ints:
    """An epoch whose order is cut in `runs` canonical runs, each filled up with its first sample for its ranks.

    Rank r of R reads the samples r, r + R, .. of all runs, one of each run in turn; that makes the global batches.
    The ranks are the run's first ones, whatever comes later.
    """
    size = len(samples) // runs
    filled = [np.concatenate([run, np.repeat(run[:1], -len(run) % ranks)]) for run in
              (samples[k : k + size] for k in range(0, len(samples), size))]  # fmt: skip
    by_rank = [np.array([run[k] for k in range(r, len(filled[0]), ranks) for run in filled]) for r in range(ranks)]
    share = batch // ranks
    pieces = [part[k : k + share] for k in range(0, len(by_rank[0]), share) for part in by_rank]
    return np.concatenate(pieces)
