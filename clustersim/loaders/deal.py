"""How an epoch is dealt out: which of its offsets each reader reads.

A reader is a rank, or one worker of a rank. Reader s of n reads its local positions 0, 1, 2, ... one after another; a
deal says which offsets of the epoch those are. The epoch has N offsets.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from clustersim.loaders.picks import Picks

Ints = NDArray[np.int64]
Uneven = Literal["pad", "drop", "leave"]


class Runs(NamedTuple):
    """Runs of reading, int64 arrays of one length: the offsets o of [start, stop) with low <= o mod modulus < high.

    A reader of `reader` counts `tick` at `start`: at its local position p it counts p x span, and each offset is one
    more.
    """

    reader: Ints
    tick: Ints
    start: Ints
    stop: Ints
    modulus: Ints
    low: Ints
    high: Ints
    span: Ints


class Deal(Protocol):
    """One epoch over `readers` readers."""

    @property
    def lengths(self) -> Ints:
        """The samples of each reader, int64[readers]."""

    def runs(self, begun: Ints, ended: Ints, pace: Ints) -> Runs:
        """What readers read that go from local position `begun` to `ended` (int64[readers] each).

        Readers of one `pace` (int64[readers]) may share a run where they also begin and end alike.
        """

    def offsets(self, reader: int, start: int, stop: int) -> Ints:
        """The offsets at local positions [start, stop) of a reader, int64[stop - start]."""


@dataclass(frozen=True)
class Strided:
    """Reader s reads the offsets s, s + n, s + 2n, ...

    Where that does not come out even the epoch is padded from its start, its tail is dropped, or the first readers have
    one more. What is padded or dropped makes the readers' lengths multiples of `multiple`.
    """

    size: int
    readers: int
    uneven: Uneven
    multiple: int = 1

    @cached_property
    def lengths(self) -> Ints:
        """The samples of each reader, int64[readers]."""
        return _lengths(self.size, self.readers, self.uneven, self.multiple)

    def runs(self, begun: Ints, ended: Ints, pace: Ints) -> Runs:
        """One run for neighbours that begin, end and go alike, and one or two each time they pad from the start."""
        n, size = self.readers, self.size
        alike = np.flatnonzero((np.diff(begun) != 0) | (np.diff(ended) != 0) | (np.diff(pace) != 0)) + 1
        low, high = np.append(0, alike), np.append(alike, n)
        read = ended[low] > begun[low]
        low, high = low[read], high[read]
        begin, end = begun[low] * n, ended[low] * n
        parts = [_round_robin(low, begin, np.minimum(end, size), low, high, n)]
        for shift in range(size, int(end.max(initial=0)), size):
            some = np.flatnonzero(end > shift)
            first, last = np.maximum(begin[some], shift), np.minimum(end[some], shift + size)
            # The offset o from the epoch's start is read as o + N; its residue class is shifted, and may be cut in two.
            moved = (low[some] - shift) % n
            until = moved + (high - low)[some]
            for bounds in ((moved, np.minimum(until, n)), (np.zeros_like(moved), until - n)):
                part = _round_robin(low[some], first, last, *bounds, n)
                parts.append(part._replace(start=part.start - shift, stop=part.stop - shift))
        return Runs(*(np.concatenate(columns) for columns in zip(*map(_filled, parts), strict=True)))

    def offsets(self, reader: int, start: int, stop: int) -> Ints:
        """The offsets at local positions [start, stop) of a reader, int64[stop - start]."""
        return (np.arange(start, stop, dtype=np.int64) * self.readers + reader) % self.size


@dataclass(frozen=True)
class Contiguous:
    """Reader s reads one part of the epoch after another reader's: [s x L, (s + 1) x L), L = N / n.

    Where that does not come out even: as in `Strided`.
    """

    size: int
    readers: int
    uneven: Uneven
    multiple: int = 1
    ranks: int | None = None  # the parts lie rank by rank, and in those worker by worker; None: readers are ranks

    @cached_property
    def _in_place(self) -> Ints:
        """The readers in the order in which their parts lie, int64[readers]."""
        ranks = self.ranks or self.readers
        return np.arange(self.readers, dtype=np.int64).reshape(-1, ranks).T.ravel()

    @cached_property
    def lengths(self) -> Ints:
        """The samples of each reader, int64[readers]."""
        lengths = np.empty(self.readers, np.int64)
        lengths[self._in_place] = _lengths(self.size, self.readers, self.uneven, self.multiple)
        return lengths

    @cached_property
    def starts(self) -> Ints:
        """Where each reader's part begins, int64[readers]; beyond N where it is padding alone."""
        starts, lengths = np.empty(self.readers, np.int64), self.lengths[self._in_place]
        starts[self._in_place] = np.cumsum(lengths) - lengths
        return starts

    def runs(self, begun: Ints, ended: Ints, pace: Ints) -> Runs:
        """One run a reader, and one for each time that its part is padded from the epoch's start."""
        reader, size = np.flatnonzero(ended > begun), self.size
        begin, end = self.starts[reader] + begun[reader], self.starts[reader] + ended[reader]
        zero, one = np.zeros_like(reader), np.ones_like(reader)

        def part(shift: int) -> Runs:
            low, high = np.maximum(begin, shift), np.minimum(end, shift + size)
            return _filled(Runs(reader, low - self.starts[reader], low - shift, high - shift, one, zero, one, one))

        parts = [part(shift) for shift in range(0, max(int(end.max(initial=0)), 1), size)]
        return Runs(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def offsets(self, reader: int, start: int, stop: int) -> Ints:
        """The offsets at local positions [start, stop) of a reader, int64[stop - start]."""
        offsets: Ints = (self.starts[reader] + np.arange(start, stop, dtype=np.int64)) % self.size
        return offsets


class InPieces:
    """Readers that each read pieces of the epoch, one after another."""

    def __init__(self, reader: Ints, offset: Ints, size: Ints, readers: int) -> None:
        """Deal out the pieces, reader by reader.

        Args:
            reader: whose each piece is, rising, int64[pieces].
            offset: at which each begins, int64[pieces].
            size: the samples of each, int64[pieces].
            readers: how many there are.
        """
        self.reader = reader
        self._offset = offset
        self._size = size
        self._first = np.searchsorted(reader, np.arange(readers + 1))  # of each reader, in these lists
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(size)])
        own = before[self._first]
        self._local = before[:-1] - np.repeat(own[:-1], np.diff(self._first))  # local position at which a piece begins
        self.lengths: Ints = np.diff(own)

    def runs(self, begun: Ints, ended: Ints, pace: Ints) -> Runs:
        """One run for each piece that a reader touches."""
        begin = np.maximum(begun[self.reader], self._local)
        end = np.minimum(ended[self.reader], self._local + self._size)
        start = self._offset + begin - self._local
        zero, one = np.zeros_like(start), np.ones_like(start)
        return _filled(Runs(self.reader, begin, start, start + end - begin, one, zero, one, one))

    def offsets(self, reader: int, start: int, stop: int) -> Ints:
        """The offsets at local positions [start, stop) of a reader, int64[stop - start]."""
        local = np.arange(start, stop, dtype=np.int64)
        low, high = self._first[reader : reader + 2]
        turn = low + np.searchsorted(self._local[low:high], local, side="right") - 1
        offsets: Ints = self._offset[turn] + local - self._local[turn]
        return offsets


class Sharded(InPieces):
    """Whole shards, in the epoch's order, are dealt round robin or in contiguous runs of them.

    `shard` lists them reader by reader, by their place in the epoch's order; `reader` says whose: int64[shards] each.
    """

    def __init__(
        self,
        shard_begins: Ints,
        readers: int,
        contiguous: bool,
        ranks: int,
        shuffle: Sequence[np.random.Generator | Picks] | None = None,
    ) -> None:
        """Deal out the shards.

        Args:
            shard_begins: the offset at which each shard begins in the epoch's order, and N: int64[shards + 1].
            readers: how many there are.
            contiguous: in contiguous runs, rank by rank and worker by worker, not round robin.
            ranks: of which rank r has the readers r, r + ranks, ..
            shuffle: by which each reader shuffles its own shards; None: they stay in the epoch's order.
        """
        shards = len(shard_begins) - 1
        turn = np.arange(shards)
        readers_in_runs = np.arange(readers).reshape(-1, ranks).T.ravel()
        runs = np.repeat(readers_in_runs, _lengths(shards, readers, "leave", 1))
        owner = runs if contiguous else turn % readers
        shard = np.argsort(owner, kind="stable")  # reader by reader
        if shuffle is not None:
            cuts = np.searchsorted(owner[shard], np.arange(1, readers))
            shard = np.concatenate(
                [by.permutation(own) for by, own in zip(shuffle, np.split(shard, cuts), strict=True)]
            )
        self.shard: Ints = shard
        super().__init__(owner[shard], shard_begins[:-1][shard], np.diff(shard_begins)[shard], readers)

    @property
    def shards(self) -> list[Ints]:
        """Each reader's shards, by their place in the epoch's order."""
        return np.split(self.shard, self._first[1:-1])


@dataclass(frozen=True)
class Remaining:
    """A deal that was made for more ranks, of which the first are left: their readers' parts stay as they are."""

    whole: Deal
    of: int  # ranks that it was made for
    ranks: int  # that are left

    @cached_property
    def _readers(self) -> Ints:
        """What the readers that are left are numbered in the whole deal, int64[readers], rising."""
        workers = len(self.whole.lengths) // self.of
        numbers: Ints = np.arange(workers)[:, None] * self.of + np.arange(self.ranks)
        return numbers.ravel()

    @cached_property
    def lengths(self) -> Ints:
        """The samples of each reader, int64[readers]."""
        lengths: Ints = self.whole.lengths[self._readers]
        return lengths

    def runs(self, begun: Ints, ended: Ints, pace: Ints) -> Runs:
        """Those of the whole deal, where nobody else reads anything."""
        everybody = np.zeros((3, len(self.whole.lengths)), np.int64)
        everybody[:, self._readers] = begun, ended, pace
        runs = self.whole.runs(*everybody)
        return runs._replace(reader=np.searchsorted(self._readers, runs.reader))

    def offsets(self, reader: int, start: int, stop: int) -> Ints:
        """The offsets at local positions [start, stop) of a reader, int64[stop - start]."""
        return self.whole.offsets(int(self._readers[reader]), start, stop)


def _lengths(size: int, readers: int, uneven: Uneven, multiple: int) -> Ints:
    """The samples of each reader where N samples are divided as evenly as they go."""
    each, longer = divmod(size, readers)
    if uneven == "leave":
        return each + (np.arange(readers) < longer).astype(np.int64)
    rounds = size // (readers * multiple) if uneven == "drop" else -(-size // (readers * multiple))
    return np.full(readers, rounds * multiple, dtype=np.int64)


def _round_robin(reader: Ints, begin: Ints, end: Ints, low: Ints, high: Ints, n: int) -> Runs:
    """Ticks [begin, end) of those whose residues are [low, high); all n residues need no modulus."""
    every = (low == 0) & (high == n)
    modulus, low, high = np.where(every, 1, n), np.where(every, 0, low), np.where(every, 1, high)
    return Runs(reader, begin, begin, end, modulus, low, high, np.full_like(reader, n))


def _filled(runs: Runs) -> Runs:
    """Those runs that read something."""
    width = runs.high - runs.low

    def below(offset: Ints) -> Ints:
        count: Ints = offset // runs.modulus * width + np.clip(offset % runs.modulus - runs.low, 0, width)
        return count

    some = (runs.stop > runs.start) & (width > 0)
    some[some] = (below(runs.stop) > below(runs.start))[some]
    return Runs(*(column[some] for column in runs))
