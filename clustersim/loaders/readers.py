"""A loader whose ranks, or whose workers, each read a part of the epoch of their own.

A step takes one rank batch from every rank, so an epoch ends for all with the first rank that has none left.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clustersim import streams
from clustersim.account import Draws, Spaces
from clustersim.data.orders import NestedShuffle, Order, Shuffle
from clustersim.history import Refused
from clustersim.loaders.buffers import Buffer
from clustersim.loaders.deal import Deal, Sharded
from clustersim.loaders.dealer import Dealer
from clustersim.loaders.flows import Flow, FlowSpaces, Source
from clustersim.loaders.listed import Interleaved, Listed, Queued
from clustersim.loaders.part_order import PartOrder, part_family
from clustersim.loaders.parts import Parts
from clustersim.loaders.passes import Pass, as_planned, draws_of
from clustersim.loaders.split import rank_slices
from clustersim.loaders.turns import turns

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Standing:
    """Where the readers stand in their epoch, which is read in the order `family` of epoch `order_epoch`."""

    ranks: int
    step: int  # steps that the run has trained
    epoch: int
    read: Ints  # int64[ranks, workers], the local position of each reader; [1, 1] if the ranks split what one reads
    turn: Ints  # int64[ranks], the worker that delivers next
    counted: Ints  # int64[ranks], batches of the epoch by each rank's own count
    snapshot: Ints  # `read` at the last count that snapshots are taken at
    base: Ints  # int64[ranks, workers], with buffers: `read` where each reader's flow began
    before: Ints  # int64[ranks, workers], which of the carried buffers it began with, -1: an empty one
    family: int = 0
    order_epoch: int | None = None  # None: the epoch's own
    attempt: int = 0  # the restart that the buffers' random numbers are of, 0: they are the same after every one
    origin: int = 0  # the epoch that the seed calls 0
    lists: Listed | None = None  # what the readers read until the epoch's end, where no deal of the epoch says it
    skipped: int = 0  # samples that each reader passes over at every epoch's start
    own_count: int = 0  # samples of the epoch that each rank took, by a count that a restart takes up


@dataclass(frozen=True, eq=False)
class Journey:
    """What the readers deliver in a run of steps, epoch by epoch."""

    step: int
    steps: int
    passes: tuple[Pass, ...]


@dataclass(frozen=True, slots=True)
class Traveled:
    """Steps delivered (fewer than asked if the loader came to its end), and where the readers stand after them."""

    stretch: Journey
    position: Standing


@dataclass(frozen=True, eq=False)
class Kept:
    """What a checkpoint keeps of the readers."""

    at: Standing
    finished: bool = False


class ReaderLoader:
    """Reads epoch after epoch, `batch` samples a step, dealt out to the readers of as many ranks as there are.

    With `epochs` it comes to its end with the last of them; without, it never does.
    """

    def __init__(self, order: Order, batch: int, parts: Parts, epochs: int | None = None, ranks: int = 1) -> None:
        self.size = order.size
        self.batch = batch
        self.parts = parts
        self._order = order
        self._dealer = Dealer(order, parts, batch, ranks)
        behind = parts.buffer or self._dealer.lists or (parts.repeats != 1 and "shards" in parts.partition)
        buffer = Buffer(parts.buffer, parts.buffer_kind)
        self._flows = FlowSpaces(order, buffer, parts.repeats or epochs or 1) if behind else None
        self._by_layout = isinstance(order, NestedShuffle)
        self.spaces: Spaces = order
        if self._flows is not None:
            self.spaces = self._flows
        elif isinstance(order, Shuffle) and parts.permutes == "part":
            self.spaces = PartOrder(order, parts.uneven)
            self._by_layout = True
        # Behind a window a position says all; behind other buffers a flow begins where a restart found it.
        self._rebases = self._flows is not None and parts.buffer_kind != "window"
        self._one = parts.partition == "global"  # one reader for all ranks
        self._epochs = epochs
        self._endless = parts.repeats != 1
        self._repeats = parts.repeats or epochs
        self._first_ranks = ranks
        self._carried: list[tuple[int, int, int]] = []  # flow, samples that it has yielded, samples that it holds then

    @property
    def acts_on_time(self) -> bool:
        """Whether it comes to an end of its own, or may refuse a restart."""
        parts = self.parts
        refuses = "refuse" in (parts.comes_back, parts.on_layout_change, parts.missing_state, parts.past_end)
        refuses |= parts.on_layout_change == "redivide" or parts.interleave > 1
        return self._epochs is not None or refuses or self.steps_left(self.start(self._first_ranks)) is not None

    # --- the layout

    def rank_batches(self, ranks: int) -> Ints:
        """Samples that each rank takes a step, int64[ranks]; or all together, where one reads for them, int64[1]."""
        if self.parts.rank_batch == "constant":
            each = np.full(ranks, self.batch // self._first_ranks, dtype=np.int64)
        else:
            each = np.array([stop - start for start, stop in rank_slices(self.batch, ranks)], dtype=np.int64)
        return each.sum(keepdims=True) if self._one else each

    def deal(self, at: Standing) -> Deal | Listed:
        """How the epoch in which the readers stand is dealt out to them."""
        if at.lists is not None:
            return at.lists
        epoch = 0 if self.parts.order_epoch == "same" else _order_epoch(at)
        return self._dealer.deal(at.family, epoch, at.ranks, self.rank_batches(at.ranks))

    def _lengths(self, at: Standing) -> Ints:
        """Samples that each reader has in its epoch, or in all of them if it never leaves it: int64[ranks, workers]."""
        if self._endless and self._repeats is None:
            return np.full_like(at.read, 2**62)
        repeats = (self._repeats or 1) if self._endless else 1
        lengths = sum(self.deal(replace(at, epoch=at.epoch + later)).lengths for later in range(repeats))
        return np.asarray(lengths).reshape(-1, len(at.read)).T

    def _left(self, at: Standing) -> Ints:
        """Batches that each reader still has in its epoch, int64[ranks, workers]."""
        samples, batch = self._lengths(at) - at.read, self.rank_batches(at.ranks)[:, None]
        return samples // batch if self.parts.last_batch == "drop" else -(-samples // batch)

    def _steps_of_epoch(self, at: Standing) -> int:
        """Steps until the first rank runs out, or the loop over the epoch has counted enough."""
        left = int(self._left(at).sum(axis=1).min())
        if not self.parts.keeps_count:
            return left
        whole = int(self._left(self._begin(at, at.epoch)).sum(axis=1).min())
        return max(0, min(left, whole - int(at.counted.max())))

    # --- reading

    def start(self, ranks: int) -> Standing:
        """The beginning of epoch 0."""
        zero = np.zeros((1 if self._one else ranks, self.parts.readers_per_rank), np.int64)
        return Standing(ranks, 0, 0, zero, zero[:, 0], zero[:, 0], zero, zero, zero - 1)

    def _begin(self, at: Standing, epoch: int, ranks: int | None = None, family: int = 0) -> Standing:
        """The beginning of an epoch, at the same step."""
        begun = self.start(at.ranks if ranks is None else ranks)
        begun = replace(begun, attempt=at.attempt, origin=at.origin, skipped=at.skipped)
        return replace(begun, step=at.step, epoch=epoch, family=family)

    def _after(self, at: Standing) -> Standing:
        """The beginning of the epoch after the one in which the readers stand."""
        begun = self._begin(at, at.epoch + 1, family=at.family if self.parts.reshuffle_lasts == "for-good" else 0)
        if not at.skipped:
            return begun
        read = np.minimum(begun.read + at.skipped, self._lengths(begun))
        return replace(begun, read=read, base=read if self._rebases else begun.base)

    def _next(self, at: Standing) -> Standing | None:
        """The beginning of the next epoch; None if there is none, or none that has a batch for every rank."""
        if self._endless or at.epoch + 1 == self._epochs:
            return None
        begun = self._after(at)
        return begun if self._steps_of_epoch(begun) else None

    def steps_left(self, at: Standing) -> int | None:
        """Steps until the end of the last epoch; None if there is no last one."""
        if self._epochs is not None and at.epoch >= self._epochs:
            return 0
        left = self._steps_of_epoch(at)
        if self._endless:
            return left if self._repeats is not None else None
        begun = self._next(at)
        if self._epochs is None:
            return None if begun is not None else left
        if not isinstance(self.deal(at), Sharded | Listed):
            return left + (self._epochs - 1 - at.epoch) * (0 if begun is None else self._steps_of_epoch(begun))
        while begun is not None:
            left += self._steps_of_epoch(begun)
            begun = self._next(begun)
        return left

    def advance(self, at: Standing, step: int, steps: int) -> Traveled:
        """Deliver the batches of `steps` steps, or as many as are left."""
        passes, first, at = [], step, replace(at, step=step)
        while steps and (self._epochs is None or at.epoch < self._epochs):
            take = min(steps, self._steps_of_epoch(at))
            if take:
                own_count = at.own_count + take * (self.batch // at.ranks)
                done = replace(self._deliver(at, take), step=at.step + take, own_count=own_count)
                passes.append(self._pass(at, done))
                at, steps = done, steps - take
            elif (begun := self._next(at)) is not None:
                at = begun
            else:
                break
        return Traveled(Journey(first, at.step - first, tuple(passes)), at)

    def _deliver(self, at: Standing, steps: int | Ints) -> Standing:
        """The next batches of the epoch, of which each rank has as many; for all ranks, or int64[ranks]."""
        read, turn = self._read(at, steps)
        every, counted, snapshot = self.parts.snapshot_every, at.counted + steps, read
        if every > 1:
            since = counted // every * every - at.counted  # batches until the last snapshot, if it is among these
            snapshot = np.where((since > 0)[:, None], self._read(at, np.maximum(since, 0))[0], at.snapshot)
        return replace(at, read=read, turn=turn, counted=counted, snapshot=snapshot)

    def _read(self, at: Standing, steps: int | Ints) -> tuple[Ints, Ints]:
        delivered, turn = turns(self._left(at), at.turn, steps)
        return np.minimum(at.read + delivered * self.rank_batches(at.ranks)[:, None], self._lengths(at)), turn

    def _pass(self, at: Standing, done: Standing) -> Pass:
        ranks, epoch = at.ranks, 0 if self.parts.order_epoch == "same" else _order_epoch(at)
        flows = None if self._flows is None else self._flow_numbers(at)
        return Pass(
            at.step, done.step - at.step, self._family(at), epoch, self.deal(at), at.read, done.read, at.turn,
            self._left(at), self.rank_batches(ranks), self._endless, flows, at.base,
        )  # fmt: skip

    def _family(self, at: Standing) -> int:
        """The order's family as the account and the order know it."""
        if not self._by_layout:
            return at.family
        return part_family(at.family, at.read.size if self.parts.permutes == "part" else at.ranks)

    def _flow_numbers(self, at: Standing) -> Ints:
        """The flow of each reader, int64[ranks, workers]."""
        assert self._flows is not None
        epochs = (self._repeats or 1) if self._endless else 1
        deals = tuple(self.deal(replace(at, epoch=at.epoch + later)) for later in range(epochs))
        numbers = np.empty_like(at.read)
        for rank, worker in np.ndindex(at.read.shape):
            reader = rank + len(at.read) * worker
            epoch = 0 if self.parts.order_epoch == "same" else _order_epoch(at)
            source = Source(self._family(at), epoch, epochs, deals, at.read.size, reader, at.attempt)
            numbers[rank, worker] = self._flows.number(self._flow(at, source, rank, worker))
        return numbers

    def _flow(self, at: Standing, source: Source, rank: int, worker: int) -> Flow:
        base, carried = int(at.base[rank, worker]), int(at.before[rank, worker])
        if carried < 0:
            return Flow(source, base, -1, 0)
        flow, after, held = self._carried[carried]
        return Flow(source, base + held, flow, after)

    def _held(self, before: Ints) -> Ints:
        """Samples in carried buffers, int64 of the shape of their numbers; none in an empty one, -1."""
        return np.array([0, *(held for _, _, held in self._carried)], dtype=np.int64)[before + 1]

    def _pulled(self, at: Standing) -> Ints:
        """How far each reader has pulled, int64[ranks, workers]; behind a buffer that is more than it has yielded."""
        if self._flows is None or not self._rebases:
            return at.read
        held = self._held(at.before)
        pulled = at.base + held + self._flows.buffer.pulled(at.read - at.base, held)
        reached: Ints = np.minimum(pulled, self._lengths(at))
        return reached

    # --- coming back

    def save(self, at: Standing) -> Kept:
        """Every reader's position, as the composition counts it."""
        edge = self.parts.epoch_edge
        if self.parts.state_of == "rank-0":
            at = self._as_rank_0(at)
        if not self._steps_of_epoch(at) and at.read.any() and not self._endless:
            return Kept(at) if edge == "old" else Kept(self._after(at), finished=edge == "finished")
        if self._rebases and not self.parts.buffer_saved and self.parts.saves == "samples":
            pulled = self._pulled(at)
            return Kept(replace(at, read=pulled, base=pulled, before=np.full_like(at.before, -1)))
        if self.parts.counted_at == "issued" and at.read.any():
            ahead = at.read + self.parts.prefetch * self.rank_batches(at.ranks)[:, None]
            return Kept(replace(at, read=np.minimum(ahead, self._lengths(at))))
        return Kept(at)

    @staticmethod
    def _as_rank_0(at: Standing) -> Standing:
        """Rank 0's state for every rank."""

        def first(values: Ints) -> Ints:
            return np.broadcast_to(values[:1], values.shape)

        read, turn, counted = first(at.read), first(at.turn), first(at.counted)
        snapshot, base, before = first(at.snapshot), first(at.base), first(at.before)
        return replace(at, read=read, turn=turn, counted=counted, snapshot=snapshot, base=base, before=before)

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
            return Refused(f"the loader was saved by {at.ranks} ranks and refuses to come back on {ranks}")
        if ranks > at.ranks and parts.missing_state == "refuse":
            return Refused(f"the loader was saved by {at.ranks} ranks, and {ranks - at.ranks} of {ranks} have no state")
        match parts.comes_back:
            case "restart-run":
                return self.start(ranks)
            case "restart-epoch":
                begun = self._begin(at, at.epoch, ranks)
                return replace(begun, counted=begun.counted + at.counted.max()) if parts.keeps_count else begun
            case "reshuffle-epoch":
                return self._begin(at, at.epoch, ranks, leg)
            case "next-epoch":
                return self._begin(at, at.epoch + bool(at.read.any()), ranks)
            case "continue":
                return replace(self._on_ranks(reached, ranks), step=at.step)
        if saved.finished:
            return self._begin(at, at.epoch + 1, ranks)
        back = self._back(at, ranks, leg)
        if isinstance(back, Refused) or not back.read.any():
            return back
        family = leg if parts.comes_back == "reshuffle" else back.family
        return replace(back, family=family, order_epoch=0 if parts.order_epoch == "first" else back.order_epoch)

    def _back(self, at: Standing, ranks: int, leg: int) -> Standing | Refused:
        """To the saved position, by what was saved of it."""
        parts = self.parts
        if at.read.any() and parts.comes_back == "remainder":
            return self._remainder(at, ranks, leg)
        if at.read.any() and parts.partition == "queue":
            return self._requeued(at, ranks)
        if ranks != at.ranks and parts.on_layout_change == "redivide":
            return self._redivided(at, ranks)
        if ranks != at.ranks and parts.interleave > 1:
            return self._interleaved(at, ranks)
        if parts.comes_back == "reapply":
            at = replace(at, skipped=max(at.skipped, int(at.read[0].sum())))
        if parts.miscount == "rank-as-global":
            return self._within(replace(at, ranks=ranks, read=np.full_like(at.read, at.own_count)))
        if parts.saves == "steps":
            each = self._steps_of_epoch(self._begin(at, 0, ranks))
            if not each:
                return self._begin(at, at.epoch, ranks)
            return self._skip(
                self._begin(at, at.step // each, ranks), np.full(1 if self._one else ranks, at.step % each)
            )
        if parts.saves == "batches":
            back = self._skip(self._begin(at, at.epoch, ranks, at.family), self._by_rank(at.counted, ranks))
            if isinstance(back, Refused) or parts.miscount != "doubled":
                return back
            return replace(back, counted=2 * back.counted)
        if parts.snapshot_every == 1:
            return self._within(self._on_ranks(at, ranks))
        since = at.counted % parts.snapshot_every
        back = self._within(self._on_ranks(replace(at, read=at.snapshot, counted=at.counted - since), ranks))
        return back if isinstance(back, Refused) else self._skip(back, self._by_rank(since, ranks))

    def _unread(self, at: Standing, rank: int, worker: int) -> Ints:
        """What a reader has not read of its epoch."""
        assert self._flows is not None
        flow = int(self._flow_numbers(at)[rank, worker])
        length = int(self._lengths(at)[rank, worker] - at.base[rank, worker])
        start = int(at.read[rank, worker] - at.base[rank, worker])
        return self._flows.samples_at(flow, 0, np.arange(start, length))

    def _listed(self, at: Standing, ranks: int, lists: Listed) -> Standing:
        """The rest of the epoch as it is listed."""
        return replace(self._begin(at, at.epoch, ranks, at.family), lists=lists, order_epoch=at.order_epoch)

    def _remainder(self, at: Standing, ranks: int, leg: int) -> Standing:
        rest = self._unread(at, 0, 0)
        rest = streams.generator(*self._order.drawn_by, "remainder", leg, at.epoch).permutation(rest)
        return self._listed(at, ranks, Listed([rest]))

    def _requeued(self, at: Standing, ranks: int) -> Standing:
        dealt = self.deal(at)
        assert isinstance(dealt, Queued)
        steps = -(-int(at.read[0, 0]) // int(self.rank_batches(at.ranks)[0]))
        waiting = dealt.waiting(steps, self.parts.unfinished_shard == "again")
        return self._listed(at, ranks, Queued(waiting, self.rank_batches(ranks)))

    def _redivided(self, at: Standing, ranks: int) -> Standing | Refused:
        """What nobody has read, in whole global rounds of batches of all workers."""
        share, count = self.size // ranks, int(at.read.sum(axis=1).max())
        if count > share:
            return Refused(f"a rank has read {count} samples, and on {ranks} ranks each has {share}")
        rest = np.concatenate([self._unread(at, *place) for place in np.ndindex(at.read.shape)])
        if not len(rest):
            return self._begin(at, at.epoch, ranks)
        whole = int(self.rank_batches(ranks).sum()) * at.read.shape[1]
        return self._listed(at, ranks, self._dealer.divide(rest[: len(rest) - len(rest) % whole], ranks))

    def _interleaved(self, at: Standing, ranks: int) -> Standing | Refused:
        """Each reader takes up how far its groups of shards were read, in the groups that it has now."""
        fresh = self._begin(at, at.epoch, ranks, at.family)
        now, then = self.deal(fresh), self.deal(at)
        assert isinstance(now, Interleaved)
        assert isinstance(then, Interleaved)
        states = []
        for worker, rank in np.ndindex(fresh.read.T.shape):
            groups = now.groups[rank + len(fresh.read) * worker]
            own = rank if rank < len(at.read) else 0
            if rank >= len(at.read) and self.parts.missing_state == "fresh":
                states.append(([0] * len(groups), 0))
                continue
            read, turn = then.state(own + len(at.read) * worker, int(at.read[own, worker]))
            if len(read) < len(groups) or turn >= len(groups):
                found = f"the state of {at.ranks} ranks knows of {len(read)} groups of shards a reader"
                return Refused(f"{found}, and on {ranks} ranks it has {len(groups)}")
            states.append(([min(k, len(group)) for k, group in zip(read, groups, strict=False)], turn))
        return self._listed(at, ranks, Interleaved(now.groups, states))

    def _skip(self, at: Standing, batches: Ints) -> Standing | Refused:
        """Passed over batches, int64[ranks], count as delivered; a rank that has not as many is at its end."""
        has = self._left(at).sum(axis=1)
        short = batches > has
        if short.any() and self.parts.past_end == "refuse":
            rank = int(np.argmax(short))
            return Refused(f"rank {rank} of {at.ranks} has to pass over {batches[rank]} batches and has {has[rank]}")
        return replace(self._deliver(at, np.minimum(batches, has)), counted=at.counted + batches)

    def _within(self, at: Standing) -> Standing | Refused:
        """Positions that lie beyond their reader's part, by the rule for them."""
        lengths, rule = self._lengths(at), self.parts.past_end
        over = at.read >= lengths if rule == "restart-epoch" else at.read > lengths
        if not over.any():
            return at
        if rule == "refuse":
            found = f"a saved position is {int(at.read[over].max())}"
            return Refused(f"{found}, and on {at.ranks} ranks a reader has {int(lengths[over].min())} samples")
        to = 0 if rule == "restart-epoch" else lengths
        read, base, before = np.where(over, to, at.read), np.where(over, to, at.base), np.where(over, -1, at.before)
        return replace(
            at,
            read=read,
            base=base if self._rebases else at.base,
            before=before,
            snapshot=np.minimum(at.snapshot, lengths),
        )

    def _on_ranks(self, at: Standing, ranks: int) -> Standing:
        """The same standing with other ranks; positions may lie beyond the parts that they have now."""
        if ranks == at.ranks or self._one:
            return replace(at, ranks=ranks)
        if self.parts.on_layout_change == "reshard":
            fresh = self._begin(at, at.epoch, ranks, at.family)
            each = fresh.read - (-int(at.read.sum()) // fresh.read.size)
            counted = fresh.counted + at.counted.max()
            base = each if self._rebases else fresh.base
            return replace(fresh, read=each, base=base, order_epoch=at.order_epoch, counted=counted)
        if self.parts.buffer_saved:
            at = self._carry(at)
        moved = replace(
            at,
            ranks=ranks,
            read=self._by_rank(at.read, ranks),
            turn=self._by_rank(at.turn, ranks),
            counted=self._by_rank(at.counted, ranks),
            snapshot=self._by_rank(at.snapshot, ranks),
            base=self._by_rank(at.base, ranks),
            before=self._by_rank(at.before + 1, ranks) - 1,
        )
        # Who has pulled beyond today's part still yields what its buffer holds.
        held = self._held(moved.before)
        over = held > 0
        read = np.where(over, np.minimum(moved.read + held, self._lengths(moved)) - held, moved.read)
        return replace(moved, read=read, base=np.where(over, read, moved.base))

    def _carry(self, at: Standing) -> Standing:
        """The same standing, in flows that begin with what the buffers hold now: it is what other ranks go on with."""
        flows, held = self._flow_numbers(at), self._pulled(at) - at.read
        before = np.full_like(at.before, -1)
        for place in zip(*np.nonzero(held), strict=True):
            before[place] = len(self._carried)
            self._carried.append((int(flows[place]), int((at.read - at.base)[place]), int(held[place])))
        return replace(at, base=at.read, before=before)

    def _by_rank(self, values: Ints, ranks: int) -> Ints:
        """A column of int64[ranks, ...] for other ranks: who has no value of its own has rank 0's, or 0."""
        if self._one:
            return values
        missing = max(0, ranks - len(values))
        other = values[:1] if self.parts.missing_state == "rank-0" else np.zeros_like(values[:1])
        return np.concatenate([values[:ranks], np.repeat(other, missing, axis=0)])

    # --- what was read

    def draws(self, stretches: Sequence[Journey]) -> tuple[Draws, Ints]:
        """What the stretches read, and the index of the stretch that each row belongs to, int64[rows]."""
        return draws_of([(i, part) for i, stretch in enumerate(stretches) for part in stretch.passes])

    def first_samples(self, epoch: int, count: int) -> Ints:
        """The first samples of an epoch in the run's order, int64[count]."""
        return self._order.samples_at(0, epoch, np.arange(count))

    def steps_as_planned(self, stretches: Sequence[Journey], planned_steps: int) -> int:
        """How many steps of the stretches read what the plan reads then, by positions and orders."""
        plan = self.advance(self.start(self._first_ranks), 0, planned_steps).stretch
        return as_planned([part for stretch in stretches for part in stretch.passes], plan.passes)

    def batch_at(self, stretch: Journey, step: int, ranks: int) -> list[Ints]:
        """The samples that each rank reads in one step of a stretch."""
        part = next(part for part in stretch.passes if part.step <= step < part.step + part.steps)
        read = part.batch(step, self.spaces)
        return [read[0][slice(*each)] for each in rank_slices(len(read[0]), ranks)] if self._one else read


def _order_epoch(at: Standing) -> int:
    return at.epoch - at.origin if at.order_epoch is None else at.order_epoch
