"""Orders: for each epoch a bijection from offset to sample, a function of (seed, epoch) alone, asked both ways.

An order has families: family 0 is the run's own, family k > 0 is what a loader makes afresh at restart k.
They satisfy what the account asks of coordinate spaces. `drawn_by` is the seed and the replication: what else a reader
draws (a shuffle buffer) it draws by them.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clustersim.data.corpus import Corpus
from clustersim.data.permutation import Permutation, permutation
from clustersim.streams import Hashed, generator, mix_array

Ints = NDArray[np.int64]

LAYOUT_BITS = 24  # of a family, where the order depends on the layout too
_KEEP = 64  # epochs whose order of shards is kept


class Shuffle:
    """Full shuffle: every epoch a permutation of all samples, independent of the others."""

    law: Literal["uniform"] = "uniform"
    same_every_epoch = False

    def __init__(self, corpus: Corpus, seed: int, replication: int) -> None:
        self.size = corpus.samples
        self.drawn_by = (seed, replication)
        self._permutation = permutation(corpus.samples)
        self._keys = Hashed(seed, replication, "order")

    def samples_at(self, family: int, epoch: int, offsets: Ints) -> Ints:
        """The samples at some offsets of an epoch, int64 of their shape."""
        return self._permutation.forward(offsets, self.key_of(family, epoch))

    def key_of(self, family: int, epoch: int) -> NDArray[np.uint64]:
        """What names the permutation of an epoch among all, uint64[1]."""
        return self._keys.words(np.array([family]), np.array([0 if self.same_every_epoch else epoch]))

    def offset_of(self, family: Ints, epoch: Ints, sample: int | Ints) -> Ints:
        """The offset at which each (family, epoch) reads the sample; int64 of the arrays' shape."""
        return self._permutation.backward(np.atleast_1d(sample), self._keys.words(family, epoch))


class ShuffleOnce(Shuffle):
    """Full shuffle, the same in every epoch: the epoch is not in the seed."""

    same_every_epoch = True

    def offset_of(self, family: Ints, epoch: Ints, sample: int | Ints) -> Ints:
        """The offset at which each (family, epoch) reads the sample; int64 of the arrays' shape."""
        return super().offset_of(family, np.zeros_like(epoch), sample)


class ShardShuffle:
    """Shards in a random order, the samples of a shard one after another."""

    law: Literal["blocks"] = "blocks"

    def __init__(self, corpus: Corpus, seed: int, replication: int) -> None:
        self.size = corpus.samples
        self.drawn_by = (seed, replication)
        self.same_every_epoch = corpus.shards == 1
        self.block_starts = corpus.shard_starts
        self._keys = Hashed(seed, replication, "order")
        self._kept: dict[tuple[int, int], tuple[Ints, Ints]] = {}

    def block_order(self, family: int, epoch: int) -> Ints:
        """The shards in the order in which the epoch reads them, int64[K]."""
        key = self._keys.words(np.array([family]), np.array([epoch])).item()
        return np.random.Generator(np.random.Philox(key=key)).permutation(len(self.block_starts) - 1)

    def block_begins(self, family: int, epoch: int) -> Ints:
        """The offset at which each shard begins in the order of the epoch, and N: int64[K + 1]."""
        return self._begins(family, epoch)[1]

    def _begins(self, family: int, epoch: int) -> tuple[Ints, Ints]:
        """The epoch's shards in reading order, and the offset at which each of them begins (and N): [K], [K + 1]."""
        if (family, epoch) not in self._kept:
            order = self.block_order(family, epoch)
            lengths = np.diff(self.block_starts)[order]
            if len(self._kept) >= _KEEP:
                del self._kept[next(iter(self._kept))]
            self._kept[family, epoch] = order, np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        return self._kept[family, epoch]

    def samples_at(self, family: int, epoch: int, offsets: Ints) -> Ints:
        """The samples at some offsets of an epoch, int64 of their shape."""
        order, begins = self._begins(family, epoch)
        turn = np.searchsorted(begins, offsets, side="right") - 1
        return self.block_starts[order[turn]] + offsets - begins[turn]

    def offset_of(self, family: Ints, epoch: Ints, sample: int) -> Ints:
        """The offset at which each (family, epoch) reads the sample; int64 of the arrays' shape."""
        shard = int(np.searchsorted(self.block_starts, sample, side="right")) - 1
        within = sample - self.block_starts[shard]
        pairs = np.broadcast(family, epoch)
        found = []
        for one_family, one_epoch in pairs:
            order, begins = self._begins(int(one_family), int(one_epoch))
            found.append(begins[np.flatnonzero(order == shard)[0]] + within)
        return np.array(found, dtype=np.int64).reshape(pairs.shape)


class Sequential:
    """The samples one after another, every epoch alike."""

    law: Literal["blocks"] = "blocks"
    same_every_epoch = True

    def __init__(self, corpus: Corpus, seed: int, replication: int) -> None:
        self.size = corpus.samples
        self.drawn_by = (seed, replication)
        self.block_starts = corpus.shard_starts

    def block_order(self, family: int, epoch: int) -> Ints:
        """The shards in the order in which the epoch reads them, int64[K]."""
        return np.arange(len(self.block_starts) - 1, dtype=np.int64)

    def block_begins(self, family: int, epoch: int) -> Ints:
        """The offset at which each shard begins in the order of the epoch, and N: int64[K + 1]."""
        return self.block_starts

    def samples_at(self, family: int, epoch: int, offsets: Ints) -> Ints:
        """The samples at some offsets of an epoch, int64 of their shape."""
        return offsets

    def offset_of(self, family: Ints, epoch: Ints, sample: int) -> Ints:
        """The offset at which each (family, epoch) reads the sample; int64 of the arrays' shape."""
        return np.full(np.broadcast(family, epoch).shape, sample, dtype=np.int64)


class NestedShuffle(ShardShuffle):
    """Shards in a random order, and the samples of each in a random order.

    A family's lower bits may name a layout: the shards' order does not depend on it, the order within them does.
    """

    law: Literal["other"] = "other"  # type: ignore[assignment]  # blocks, but not in sample order

    def samples_at(self, family: int, epoch: int, offsets: Ints) -> Ints:
        """The samples at some offsets of an epoch, int64 of their shape."""
        plain = super().samples_at(family >> LAYOUT_BITS, epoch, offsets)
        shard = np.searchsorted(self.block_starts, plain, side="right") - 1
        samples = np.empty_like(plain)
        for each in np.unique(shard).tolist():
            inside = shard == each
            low, within = self.block_starts[each], self._within(family, epoch, each)
            samples[inside] = low + within.forward(plain[inside] - low, self._key_of(family, epoch, each))
        return samples

    def offset_of(self, family: Ints, epoch: Ints, sample: int) -> Ints:
        """The offset at which each (family, epoch) reads the sample; int64 of the arrays' shape."""
        shard = int(np.searchsorted(self.block_starts, sample, side="right")) - 1
        low, pairs = int(self.block_starts[shard]), np.broadcast(family, epoch)
        found = []
        for one_family, one_epoch in pairs:
            key = self._key_of(int(one_family), int(one_epoch), shard)
            within = self._within(int(one_family), int(one_epoch), shard).backward(np.array([sample - low]), key)
            alone = np.array([int(one_family) >> LAYOUT_BITS]), np.array([int(one_epoch)])
            found.append(super().offset_of(*alone, low + int(within[0]))[0])
        return np.array(found, dtype=np.int64).reshape(pairs.shape)

    def _within(self, family: int, epoch: int, shard: int) -> Permutation:
        return permutation(int(self.block_starts[shard + 1] - self.block_starts[shard]))

    def _key_of(self, family: int, epoch: int, shard: int) -> NDArray[np.uint64]:
        return mix_array(self._keys.words(np.array([family]), np.array([epoch])) + np.uint64(shard + 1))


class WithReplacement(Sequential):
    """Shards drawn at random, each time from all of them; an epoch is as many samples as there are.

    There is no order but that of the samples, in which an offset is its sample: of that, readers read what they draw.
    """

    def __init__(self, corpus: Corpus, seed: int, replication: int) -> None:
        super().__init__(corpus, seed, replication)
        self._sizes = np.diff(self.block_starts)

    def drawn(self, family: int, epoch: int, reader: int, share: int) -> tuple[Ints, Ints]:
        """The shards that a reader draws in an epoch until it has its share of samples, at a cost of the shards.

        Returns:
            the sample at which each begins, and how many are read of it, int64[draws] each; the last one may be cut.
        """
        draw, left = generator(*self.drawn_by, "order", family, epoch, reader), share
        shards = [np.zeros(0, np.int64)]
        while left > 0:  # of the longest shards so many would do
            shards.append(draw.integers(len(self._sizes), size=-(-left // int(self._sizes.max()))))
            left -= int(self._sizes[shards[-1]].sum())
        shard = np.concatenate(shards)
        size = self._sizes[shard]
        size[-1:] += min(left, 0)
        return self.block_starts[shard], size


Order = Shuffle | ShuffleOnce | ShardShuffle | NestedShuffle | Sequential


OrderKind = Literal["shuffle", "shuffle-once", "shard-shuffle", "nested-shuffle", "sequential", "with-replacement"]

_ORDERS: dict[OrderKind, type[Order]] = {
    "shuffle": Shuffle,
    "shuffle-once": ShuffleOnce,
    "shard-shuffle": ShardShuffle,
    "nested-shuffle": NestedShuffle,
    "sequential": Sequential,
    "with-replacement": WithReplacement,
}


def order_of(kind: OrderKind, corpus: Corpus, seed: int, replication: int) -> Order:
    """The order that a scenario names."""
    return _ORDERS[kind](corpus, seed, replication)
