"""Readers that go over to other ranks: whose position each takes up, and what it carries along."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from clustersim.loaders.readers import Readers
from clustersim.loaders.standing import Standing

Ints = NDArray[np.int64]


class OtherRanks(Readers):
    """Readers that stand where those of other ranks stood."""

    def _on_ranks(self, at: Standing, ranks: int) -> Standing:
        """The same standing with other ranks; positions may lie beyond the parts that they have now."""
        if ranks == at.ranks or self._one:
            return replace(at, ranks=ranks)
        if self.parts.on_layout_change == "reshard":
            fresh = self._begin(at, at.epoch, ranks, at.family)
            each = fresh.read - (-int(at.read.sum()) // fresh.read.size)
            counted = fresh.counted + at.counted.max()
            base = each if self._rebases else fresh.base
            return replace(fresh, read=each, base=base, order_epoch=at.order_epoch, counted=counted, snapshot=each)
        if self.parts.buffer_saved or self.parts.prefetch_saved:
            at = self._carry(at)
        if self.parts.partition in ("filtered", "slices"):
            return self._in_the_input(at, ranks)
        return replace(
            at,
            ranks=ranks,
            read=self._by_rank(at.read, ranks),
            turn=self._by_rank(at.turn, ranks),
            counted=self._by_rank(at.counted, ranks),
            snapshot=self._by_rank(at.snapshot, ranks),
            snapshot_turn=self._by_rank(at.snapshot_turn, ranks),
            base=self._by_rank(at.base, ranks),
            before=self._by_rank(at.before + 1, ranks) - 1,
        )

    def _carry(self, at: Standing) -> Standing:
        """The same standing, in flows that begin with what the buffers hold now: it is what other ranks go on with."""
        assert self._flows is not None
        batches = self._fetched(at)
        ahead = np.broadcast_to(batches.sum(axis=1, keepdims=True), at.read.shape)
        held, yielded = self._pulled(at, ahead) - at.read, at.read - at.base
        carried, as_they_lie = self._carried.held(at.before), self._carried.ready(at.before)
        source = self._ends(at) - at.base - carried
        ready = ahead + self._flows.buffer.ready(yielded + ahead, carried, as_they_lie, source, held - ahead)
        before = self._carried.add(self._flow_numbers(at), yielded, held, ready, ahead)
        return replace(at, base=at.read, before=before, ahead=batches)

    def _fetched(self, at: Standing) -> Ints:
        """Samples of each batch that a rank has fetched ahead, and a checkpoint holds: int64[ranks, batches]."""
        if not self.parts.prefetch_saved:
            return at.ahead
        fetched = at.ahead if at.ahead.size else np.zeros((at.ranks, 0), np.int64)
        left = np.maximum(self._ends(at) - at.read, 0)[:, 0]
        for _ in range(self.parts.prefetch - fetched.shape[1]):
            rest = left - fetched.sum(axis=1)
            fetched = np.column_stack([fetched, np.minimum(self.rank_batches(at.ranks), rest)])
        return fetched

    def _in_the_input(self, at: Standing, ranks: int) -> Standing:
        """Each where it had read the input to, which all of them read whole, and what it holds of it."""
        held, own, share = self._carried.held(at.before), np.arange(at.ranks)[:, None], np.arange(ranks)[:, None]
        pulled, whole, batch = at.read + held, self._lengths(at).sum(), self.rank_batches(at.ranks)
        # Who finds no whole batch has read on to the end.
        ends = at.ahead[:, -1:] < batch[:, None] if at.ahead.size else np.zeros((at.ranks, 1), bool)
        if self.parts.partition == "slices":
            batches = np.where(ends, -(-whole // batch.sum()), -(-pulled // batch[:, None]))
            local = self._by_rank(batches, ranks) * self.rank_batches(ranks)[:, None]
        else:
            read = np.where(pulled > 0, (pulled - 1) * at.ranks + own + 1, 0)
            read = np.where(ends, whole, read)
            local = np.maximum(-((share - self._by_rank(read, ranks)) // ranks), 0)
        before = self._by_rank(at.before + 1, ranks) - 1
        begin = local - self._carried.held(before)
        return replace(
            self._begin(at, at.epoch, ranks, at.family),
            order_epoch=at.order_epoch,
            read=begin,
            base=begin,
            before=before,
            counted=self._by_rank(at.counted, ranks),
            ahead=self._by_rank(at.ahead, ranks),
        )

    def _by_rank(self, values: Ints, ranks: int) -> Ints:
        """A column of int64[ranks, ...] for other ranks: who has no value of its own has rank 0's, or 0."""
        if self._one:
            return values
        missing = max(0, ranks - len(values))
        other = values[:1] if self.parts.missing_state == "rank-0" else np.zeros_like(values[:1])
        return np.concatenate([values[:ranks], np.repeat(other, missing, axis=0)])
