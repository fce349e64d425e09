"""How the composition deals out an epoch."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, pairwise

import numpy as np
from numpy.typing import NDArray

from clustersim import streams
from clustersim.data.orders import NestedShuffle, Order, Sequential, ShardShuffle, WithReplacement
from clustersim.loaders.deal import Contiguous, Deal, InPieces, Remaining, Sharded, Strided
from clustersim.loaders.listed import Interleaved, Listed, Shares, canonical, groups_of
from clustersim.loaders.parts import Parts
from clustersim.loaders.picks import Picks
from clustersim.loaders.queued import Queued

Ints = NDArray[np.int64]


class Dealer:
    """Deals epochs out to readers; an epoch that was dealt in the same way before is the same object."""

    def __init__(self, order: Order, parts: Parts, batch: int) -> None:
        self._order = order
        self._parts = parts
        self._batch = batch
        self._dealt: dict[tuple[int, ...], Deal | Listed] = {}

    @property
    def lists(self) -> bool:
        """Whether the composition needs samples listed: reads can then be counted sample by sample only."""
        parts = self._parts
        listed = parts.interleave > 1 or parts.canonical > 0 or parts.partition in ("filtered", "slices")
        moves = parts.comes_back == "remainder" or parts.on_layout_change == "redivide"
        return listed or moves

    def deal(self, family: int, epoch: int, ranks: int, batches: Ints, first: int) -> Deal | Listed:
        """An epoch of an order over the readers of so many ranks that take `batches` samples a step, int64[ranks].

        `first`: the ranks that the run began with.
        """
        parts = self._parts
        if parts.dealt_to == "first-ranks" and ranks < first:
            whole = self.deal(family, epoch, first, np.resize(batches, first), first)
            assert not isinstance(whole, Listed)  # scenarios are held to it
            return self._dealt.setdefault((first, ranks, family, epoch), Remaining(whole, first, ranks))
        readers = len(batches) * parts.readers_per_rank
        multiple = 1 if parts.last_batch == "short" else int(batches.max())
        fixed = parts.partition in ("global", "strided", "contiguous") and not self.lists
        key = (readers, multiple) if fixed else (readers, multiple, ranks, family, epoch, first)
        if key not in self._dealt:
            self._dealt[key] = self._deal(family, epoch, readers, multiple, batches, first)
        return self._dealt[key]

    def _deal(self, family: int, epoch: int, readers: int, multiple: int, batches: Ints, first: int) -> Deal | Listed:
        parts, order = self._parts, self._order
        if isinstance(order, WithReplacement):
            share = -(-order.size // readers)
            return self._drawn([order.drawn(family, epoch, reader, share) for reader in range(readers)])
        if parts.canonical:
            samples = order.samples_at(family, epoch, np.arange(order.size))
            return Listed([canonical(samples, parts.canonical, first, self._batch)])
        if parts.partition in ("filtered", "slices"):
            origin = epoch * order.size if parts.repeats != 1 else 0
            kept = batches if parts.partition == "slices" else np.ones(readers, np.int64)
            return Shares(order, family, epoch, origin, kept)
        if parts.partition == "queue":
            begins = self._begins(family, epoch)
            return Queued(np.arange(len(begins) - 1), begins, batches)
        if parts.partition in ("shards", "contiguous-shards"):
            return self._sharded(family, epoch, readers, len(batches))
        uneven = "pad" if parts.last_batch == "pad" else parts.uneven
        if parts.partition == "contiguous":
            return Contiguous(order.size, readers, uneven, multiple, len(batches))
        return Strided(order.size, readers, uneven, multiple)

    def _sharded(self, family: int, epoch: int, readers: int, ranks: int) -> Deal | Listed:
        parts = self._parts
        begins = self._begins(family, epoch)
        order = None
        if parts.permutes == "part":
            order = [self._own(family, epoch, reader, readers) for reader in range(readers)]
        sharded = Sharded(begins, readers, parts.partition == "contiguous-shards", ranks, order)
        if parts.interleave == 1:
            return sharded
        shards = self._shards(family, epoch)
        return Interleaved([groups_of([shards[k] for k in mine], parts.interleave) for mine in sharded.shards])

    def _drawn(self, drawn: list[tuple[Ints, Ints]]) -> Deal | Listed:
        """What each reader has drawn: at which samples its shards begin, and how many it reads of them."""
        if self._parts.interleave > 1:
            shards = [[np.arange(*piece) for piece in zip(start, start + size, strict=True)] for start, size in drawn]
            return Interleaved([groups_of(own, self._parts.interleave) for own in shards])
        start, size = (np.concatenate(column) for column in zip(*drawn, strict=True))
        return InPieces(np.repeat(np.arange(len(drawn)), [len(own) for own, _ in drawn]), start, size, len(drawn))

    def _own(self, family: int, epoch: int, reader: int, readers: int) -> np.random.Generator | Picks:
        """By what a reader permutes its own shards."""
        if self._parts.reader_seeds == "shared":
            return Picks(streams.generator(*self._order.drawn_by, "one part seed", family, epoch))
        return streams.generator(*self._order.drawn_by, "part", family, epoch, reader, readers)

    def queue(self, waiting: Ints, of: tuple[int, int], now: tuple[int, int], batches: Ints) -> Queued:
        """A queue of shards that are told by their place in one order, as pieces of another: (family, epoch) each."""
        assert isinstance(self._order, ShardShuffle | Sequential | NestedShuffle)  # scenarios are held to it
        shard = self._order.block_order(*of)[waiting]
        return Queued(np.argsort(self._order.block_order(*now))[shard], self._begins(*now), batches)

    def _begins(self, family: int, epoch: int) -> Ints:
        assert isinstance(self._order, ShardShuffle | Sequential | NestedShuffle)  # scenarios are held to it
        return self._order.block_begins(family, epoch)

    def _shards(self, family: int, epoch: int) -> list[Ints]:
        """The samples of each shard in the epoch's order."""
        begins = self._begins(family, epoch)
        samples = self._order.samples_at(family, epoch, np.arange(self._order.size))
        return [samples[low:high] for low, high in pairwise(begins.tolist())]


@dataclass(frozen=True)
class Endless:
    """Epochs of an order from one on, one after another without end; each is dealt out when somebody comes to it."""

    dealer: Dealer
    family: int
    epoch: int
    same: bool  # the seed knows no other epoch
    ranks: int
    batches: tuple[int, ...]  # samples of each rank's batch
    first: int

    def __iter__(self) -> Iterator[Deal | Listed]:
        """The deal of each epoch."""
        for later in count():
            epoch = self.epoch if self.same else self.epoch + later
            yield self.dealer.deal(self.family, epoch, self.ranks, np.array(self.batches), self.first)
