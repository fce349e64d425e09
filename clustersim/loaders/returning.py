"""The loader whose ranks or workers read parts of their own: what a checkpoint keeps of it, and how it comes back."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from clustersim import streams
from clustersim.history import Refused
from clustersim.loaders import refusals
from clustersim.loaders.deal import Deal
from clustersim.loaders.listed import Interleaved, Listed, Redivided, in_steps, redivided
from clustersim.loaders.other_ranks import OtherRanks
from clustersim.loaders.queued import Queued
from clustersim.loaders.standing import Kept, Standing

Ints = NDArray[np.int64]


class ReaderLoader(OtherRanks):
    """Readers that are saved and come back as the composition says."""

    def save(self, at: Standing) -> Kept:
        """Every reader's position, as the composition counts it."""
        edge = self.parts.epoch_edge
        if self.parts.state_of == "rank-0":
            at = self._as_rank_0(at)
        if edge != "old" and self._at_end(at) and at.read.any() and not self._endless:
            return Kept(self._after(at), finished=edge == "finished")
        if self.parts.counted_at == "issued" and at.read.any():
            ahead = at.read + self.parts.prefetch * self.rank_batches(at.ranks)[:, None]
            return Kept(replace(at, read=np.minimum(ahead, self._lengths(at))))
        held = self.parts.buffer_saved or self.parts.prefetch_saved
        if self._rebases and not held and self.parts.saves == "samples":
            pulled = self._pulled(at)
            empty = np.broadcast_to(np.int64(-1), at.before.shape)  # one number, however many readers
            return Kept(replace(at, read=pulled, base=pulled, before=empty))
        return Kept(at)

    def _at_end(self, at: Standing) -> bool:
        """Whether some rank has nothing more to read of the epoch; shards that wait are there for fewer ranks too."""
        dealt = self.deal(at)
        if not isinstance(dealt, Queued):
            return not self._steps_of_epoch(at)
        batches = self.rank_batches(at.ranks)
        least = batches if self.parts.last_batch == "drop" else 1
        return bool((dealt.left(self._queue_steps(at)) < least).any())

    def _queue_steps(self, at: Standing) -> int:
        """Steps that the ranks have read from their queue."""
        return -(-int(at.read[0, 0]) // int(self.rank_batches(at.ranks)[0]))

    @staticmethod
    def _as_rank_0(at: Standing) -> Standing:
        """Rank 0's state for every rank."""

        def first(values: Ints) -> Ints:
            return np.broadcast_to(values[:1], values.shape)

        read, turn, counted = first(at.read), first(at.turn), first(at.counted)
        snapshot, snapshot_turn = first(at.snapshot), first(at.snapshot_turn)
        at = replace(at, read=read, turn=turn, counted=counted, snapshot=snapshot, snapshot_turn=snapshot_turn)
        return replace(at, base=first(at.base), before=first(at.before))

    def resume(self, saved: Kept, reached: Standing, ranks: int, leg: int) -> Standing | Refused:
        """Back by the rule of the composition."""
        parts, at = self.parts, replace(saved.at, attempt=leg if self.parts.buffer_seed == "fresh" else 0)
        if parts.order_epoch == "since-start":
            at = replace(at, origin=at.epoch)
        if at.step == 0 and parts.comes_back != "continue":  # no checkpoint: the run begins anew
            return replace(self.start(ranks), family=leg if "reshuffle" in parts.comes_back else 0, attempt=at.attempt)
        if parts.comes_back == "refuse":
            return Refused("the loader cannot come back from what it saves")
        if ranks != at.ranks and parts.on_layout_change == "refuse":
            return refusals.other_ranks(at.ranks, ranks)
        if ranks > at.ranks and parts.missing_state == "refuse":
            return refusals.new_ranks(at.ranks, ranks)
        match parts.comes_back:
            case "restart-run":
                return replace(self.start(ranks), first=at.first)
            case "restart-epoch":
                begun = self._begin(at, at.epoch, ranks)
                return replace(begun, counted=begun.counted + at.counted.max()) if parts.keeps_count else begun
            case "reshuffle-epoch":
                return self._begin(at, at.epoch, ranks, leg)
            case "next-epoch":
                return self._begin(at, at.epoch + (parts.saves == "epoch" or bool(at.read.any())), ranks)
            case "continue":
                return self._within(replace(self._on_ranks(reached, ranks), step=at.step))
        if saved.finished:
            return self._begin(at, at.epoch + 1, ranks, leg if parts.reshuffle_lasts == "for-good" else 0)
        back = self._back(at, ranks, leg)
        return back if isinstance(back, Refused) else self._going_on(back, leg)

    def _going_on(self, at: Standing, leg: int) -> Standing:
        """The same standing in the order in which the epoch goes on; parts of shards may be longer or shorter there."""
        family = leg if self.parts.comes_back == "reshuffle" else at.family
        return replace(at, family=family, order_epoch=0 if self.parts.order_epoch == "first" else at.order_epoch)

    def _back(self, at: Standing, ranks: int, leg: int) -> Standing | Refused:
        """To the saved position, by what was saved of it."""
        parts = self.parts
        if parts.comes_back == "remainder":
            return self._remainder(at, ranks, leg)
        within_epoch = at.read.any() or at.rest is not None
        if parts.partition == "queue" and within_epoch:
            return self._requeued(at, ranks, leg)
        if parts.takes_back:
            read = np.maximum(at.read - parts.takes_back * self.rank_batches(at.ranks)[:, None], 0)
            at = replace(at, read=read, base=np.minimum(at.base, read))
        if ranks != at.ranks and within_epoch and parts.on_layout_change == "redivide":
            return self._redivided(at, ranks)
        regrouped = at.rest is not None or (ranks != at.ranks and within_epoch)
        if regrouped and parts.interleave > 1 and parts.saves == "samples":
            return self._interleaved(at, ranks, leg)
        if parts.comes_back == "reapply" and not at.counted.any():  # an epoch's start, to which no offset applies
            return self._begin(at, at.epoch, ranks, at.family)
        if parts.comes_back == "reapply":
            at = replace(at, skipped=max(at.skipped, int(at.read[0].sum())))
        if parts.miscount == "rank-as-global":
            there = self._on_ranks(at, ranks)
            return self._within(self._going_on(replace(there, read=np.full_like(there.read, at.own_count)), leg))
        if parts.counted_in or parts.taken_for:
            return self._in_units(at, ranks, leg)
        if parts.saves == "steps":
            each = self._steps_of_epoch(self._begin(at, 0, ranks))
            if not each:
                return self._begin(at, at.epoch, ranks)
            begun = self._going_on(self._begin(at, at.step // each, ranks), leg)
            return self._skip(begun, np.full(1 if self._one else ranks, at.step % each))
        if parts.saves == "batches":
            begun = self._going_on(self._begin(at, at.epoch, ranks, at.family), leg)
            back = self._skip(begun, self._by_rank(at.counted, ranks))
            if isinstance(back, Refused):
                return back
            return replace(back, counted={"doubled": 2, "last-leg": 0}.get(parts.miscount, 1) * back.counted)
        if parts.snapshot_every == 1:
            return self._within(self._going_on(self._on_ranks(at, ranks), leg))
        return self._from_snapshot(at, ranks, leg)

    def _from_snapshot(self, at: Standing, ranks: int, leg: int) -> Standing | Refused:
        """To the last snapshot, and past what was delivered since; who reads its epoch again passes over nothing."""
        since = at.counted % self.parts.snapshot_every
        base = at.snapshot if self._rebases else at.base
        at = replace(at, read=at.snapshot, base=base, turn=at.snapshot_turn, counted=at.counted - since)
        there = self._going_on(self._on_ranks(at, ranks), leg)
        back = self._within(there)
        if isinstance(back, Refused):
            return back
        one_for_all = ranks != at.ranks and self.parts.on_layout_change == "reshard"
        since = np.full(ranks, since.max()) if one_for_all else self._by_rank(since, ranks)
        return self._skip(back, np.where(self._begins_again(there, self._lengths(there)), 0, since))

    def _in_units(self, at: Standing, ranks: int, leg: int) -> Standing | Refused:
        """To a position that was saved in whole units, each taken for as many samples as the composition says.

        What it counts is the position itself, or what the trainer has trained of the epoch, wherever that was read.
        """
        counted = at.read if self.parts.saves == "samples" else at.counted[:, None] * self.batch
        counted = np.minimum(counted, self._lengths(at))
        unit = self.parts.counted_in or 1
        read = counted // unit * (self.parts.taken_for or unit)
        return self._within(self._going_on(replace(at, ranks=ranks, read=read), leg))

    def _unread(self, at: Standing, rank: int, worker: int) -> Ints:
        """What a reader has not read of its epoch."""
        assert self._flows is not None
        flow = int(self._flow_numbers(at)[rank, worker])
        length = int(self._lengths(at)[rank, worker] - at.base[rank, worker])
        start = int(at.read[rank, worker] - at.base[rank, worker])
        return self._flows.samples_at(flow, 0, np.arange(start, length))

    def _with_rest(self, at: Standing, ranks: int, rest: Deal | Listed) -> Standing:
        """At the start of what is left of the epoch."""
        return replace(self._begin(at, at.epoch, ranks, at.family), rest=rest, order_epoch=at.order_epoch)

    def _remainder(self, at: Standing, ranks: int, leg: int) -> Standing:
        rest = self._unread(at, 0, 0)
        rest = streams.generator(*self._order.drawn_by, "remainder", leg, at.epoch).permutation(rest)
        return self._with_rest(at, ranks, Listed([rest]))

    def _requeued(self, at: Standing, ranks: int, leg: int) -> Standing:
        """The shards of the queue stay in their places there, whatever the order in which the epoch goes on."""
        dealt = self.deal(at)
        assert isinstance(dealt, Queued)
        waiting = dealt.after(self._queue_steps(at), self.parts.unfinished_shard == "again")
        back = self._going_on(replace(self._begin(at, at.epoch, ranks, at.family), order_epoch=at.order_epoch), leg)
        before, now = ((each.family, self._order_epoch(each)) for each in (at, back))
        return replace(back, rest=self._dealer.queue(waiting, before, now, self.rank_batches(ranks)))

    def _redivided(self, at: Standing, ranks: int) -> Standing | Refused:
        """What nobody has read, in the order in which the ranks that began the epoch would have read it."""
        count = int(at.read.sum(axis=1).max())
        if count > self.size // ranks:
            return refusals.shares(self.size, ranks, count)
        drops, workers = self.parts.last_batch == "drop", at.read.shape[1]
        if isinstance(at.rest, Redivided):
            stream, start = at.rest.stream, at.rest.start
        else:
            begun = replace(self._begin(at, at.epoch, family=at.family), order_epoch=at.order_epoch)
            parts = [self._unread(begun, rank, worker) for worker in range(workers) for rank in range(at.ranks)]
            stream, start = in_steps(parts, self.rank_batches(at.ranks), drops), 0
        position = start + int(at.read.sum())
        if position >= len(stream):
            return self._begin(at, at.epoch, ranks)
        batch = int(self.rank_batches(ranks).max())
        return self._with_rest(at, ranks, redivided(stream, position, ranks, workers, batch, drops))

    def _interleaved(self, at: Standing, ranks: int, leg: int) -> Standing | Refused:
        """Each reader takes up how far its groups of shards were read, in the groups that it has now."""
        fresh = self._going_on(replace(self._fresh(at, ranks), order_epoch=at.order_epoch), leg)
        now, then = self.deal(fresh), self.deal(at)
        assert isinstance(now, Interleaved)
        assert isinstance(then, Interleaved)
        states = [then.state(reader, read) for reader, read in enumerate(at.read.T.ravel().tolist())]
        total = np.array([sum(read) for read, _ in states], dtype=np.int64).reshape(at.read.T.shape).T
        read, turn, counted = (self._by_rank(values, ranks) for values in (total, at.turn, at.counted))
        there = self._within(replace(fresh, read=read, base=read, turn=turn, counted=counted))
        if isinstance(there, Refused):
            return there
        begun = []
        for worker, rank in np.ndindex(fresh.read.T.shape):
            groups = now.groups[rank + len(fresh.read) * worker]
            own = rank if rank < len(at.read) else 0
            upto, next_group = states[own + len(at.read) * worker]
            if not there.read[rank].any():  # it has no state, or begins the epoch again
                upto, next_group = [0] * len(groups), 0
            if len(upto) < len(groups) or next_group >= len(groups):
                return refusals.groups(at.ranks, len(upto), ranks, len(groups))
            begun.append((upto[: len(groups)], next_group))
        return replace(fresh, rest=Interleaved(now.groups, begun), turn=there.turn, counted=there.counted)

    def _skip(self, at: Standing, batches: Ints) -> Standing | Refused:
        """Passed over batches, int64[ranks], count as delivered; a rank that has not as many is at its end."""
        has = self._left(at).sum(axis=1)
        short = batches > has
        if short.any() and self.parts.past_end == "refuse":
            rank, most = int(np.argmax(short)), int(batches.max())
            found = f"rank {rank} of {at.ranks} has to pass over {batches[rank]} batches and has {has[rank]}"
            return refusals.part_too_short(
                found, at.ranks, lambda fewer: bool((self._left(self._fresh(at, fewer)).sum(axis=1) >= most).all())
            )
        return replace(self._deliver(at, np.minimum(batches, has)), counted=at.counted + batches)

    def _fresh(self, at: Standing, ranks: int) -> Standing:
        """The start of the same epoch, on other ranks."""
        return self._begin(at, at.epoch, ranks, at.family)

    def _within(self, at: Standing) -> Standing | Refused:
        """Positions that lie beyond their reader's part, by the rule for them."""
        lengths = self._lengths(at)
        position = np.maximum(at.read, at.base + self._carried.held(at.before))
        over = position > lengths
        if over.any() and self.parts.past_end == "refuse":
            most, least = int(position[over].max()), int(lengths[over].min())
            found = f"a saved position is {most}, and on {at.ranks} ranks a reader has {least} samples"
            return refusals.part_too_short(
                found, at.ranks, lambda fewer: bool((self._lengths(self._fresh(at, fewer)) >= most).all())
            )
        again = self._begins_again(at, lengths)
        if not again.any():
            return at
        whole = again[:, None]
        return replace(
            at,
            read=np.where(whole, 0, at.read),
            base=np.where(whole, 0, at.base),
            before=np.where(whole, -1, at.before),
            counted=np.where(again, 0, at.counted),
            snapshot=np.where(whole, 0, at.snapshot),
            snapshot_turn=np.where(again, 0, at.snapshot_turn),
            turn=np.where(again, 0, at.turn),
        )

    def _begins_again(self, at: Standing, lengths: Ints) -> NDArray[np.bool_]:
        """Whose epoch begins once more, as all its workers are at their end or beyond: bool[ranks]."""
        if self.parts.past_end != "restart-epoch":
            return np.zeros(len(lengths), bool)
        holds = self._pulled(at).sum(axis=1) > at.read.sum(axis=1)
        at_end: NDArray[np.bool_] = (at.read.sum(axis=1) >= lengths.sum(axis=1)) & ~holds
        return at_end
