"""Readers: ranks, or the workers of ranks, that each read a part of the epoch of their own.

A step takes one rank batch from every rank, so an epoch ends for all with the first rank that has none left.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustersim import streams
from clustersim.account import Damage, Draws, Spaces, damage_identity
from clustersim.account.spaces import in_blocks
from clustersim.data.orders import NestedShuffle, Order, Shuffle, WithReplacement
from clustersim.loaders.buffers import Buffer
from clustersim.loaders.carried import CarriedBuffers
from clustersim.loaders.deal import Deal, InPieces, Remaining
from clustersim.loaders.dealer import Dealer, Endless
from clustersim.loaders.flows import Flow, FlowSpaces, Source
from clustersim.loaders.holes import are_sooner_played, damage_behind, reads_behind
from clustersim.loaders.listed import Listed
from clustersim.loaders.part_order import PartOrder, part_family
from clustersim.loaders.parts import Parts, Ranges, ToCount
from clustersim.loaders.passes import Pass, as_planned, dealt_of, draws_of, joined
from clustersim.loaders.pulls import pulls_of
from clustersim.loaders.split import rank_slices
from clustersim.loaders.standing import Journey, Standing, Traveled
from clustersim.loaders.turns import passed_over, turns

Ints = NDArray[np.int64]


class Readers:
    """Reads epoch after epoch, `batch` samples a step, dealt out to the readers of as many ranks as there are.

    With `epochs` it comes to its end with the last of them; without, it never does.
    """

    def __init__(self, order: Order, batch: int, parts: Parts, epochs: int | None = None, ranks: int = 1) -> None:
        self.size = order.size
        self.batch = batch
        self.parts = parts
        self._order = order
        self._dealer = Dealer(order, parts, batch)
        behind = parts.buffer or self._dealer.lists or (parts.repeats != 1 and "shards" in parts.partition)
        buffer = Buffer(parts.buffer, parts.buffer_kind)
        held_epochs, one_seed = parts.repeats or epochs, parts.reader_seeds == "shared"
        self._flows = FlowSpaces(order, buffer, held_epochs, one_seed) if behind else None
        self._draws = isinstance(order, WithReplacement)
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
        self._same = parts.order_epoch == "same"
        self._repeats = parts.repeats or epochs
        self._first_ranks = ranks
        self._batches: dict[int, Ints] = {}
        self._starts: dict[int, Standing] = {}
        self._carried = CarriedBuffers()

    @property
    def acts_on_time(self) -> bool:
        """Whether it comes to an end of its own, or may refuse a restart."""
        parts = self.parts
        refuses = "refuse" in (parts.comes_back, parts.on_layout_change, parts.missing_state, parts.past_end)
        refuses |= parts.on_layout_change == "redivide" or parts.interleave > 1
        return self._epochs is not None or refuses or self.steps_left(self.start(self._first_ranks), 0) is not None

    # --- the layout

    def rank_batches(self, ranks: int) -> Ints:
        """Samples that each rank takes a step, int64[ranks]; or all together, where one reads for them, int64[1]."""
        if ranks not in self._batches:
            if self.parts.rank_batch == "constant":
                each = np.full(ranks, self.batch // self._first_ranks, dtype=np.int64)
            else:
                each = np.array([stop - start for start, stop in rank_slices(self.batch, ranks)], dtype=np.int64)
            self._batches[ranks] = each.sum(keepdims=True) if self._one else each
        return self._batches[ranks]

    def _next_batches(self, at: Standing) -> Ints:
        """Samples that each rank takes in the next step, int64[ranks]; more or fewer where it fetched them before."""
        today = self.rank_batches(at.ranks)
        return np.where(at.ahead[:, 0] > 0, at.ahead[:, 0], today) if at.ahead.size else today

    def deal(self, at: Standing) -> Deal | Listed:
        """How the epoch in which the readers stand is dealt out to them."""
        if at.rest is not None:
            return at.rest
        epoch = self._order_epoch(at)
        return self._dealer.deal(at.family, epoch, at.ranks, self.rank_batches(at.ranks), at.first)

    def _lengths(self, at: Standing) -> Ints:
        """Samples that each reader has in its epoch, or in all of them if it never leaves it: int64[ranks, workers]."""
        if self._endless and self._repeats is None:
            return np.full_like(at.read, 2**62 // at.read.size)  # all together within 64 bits
        if not self._endless:
            return self.deal(at).lengths.reshape(-1, len(at.read)).T
        repeats = self._repeats or 1
        lengths = sum(self.deal(replace(at, epoch=at.epoch + later)).lengths for later in range(repeats))
        return np.asarray(lengths).reshape(-1, len(at.read)).T

    def _ends(self, at: Standing) -> Ints:
        """Where each reader's epoch ends, int64[ranks, workers].

        Who has pulled beyond its part, as other ranks had longer ones, still yields what its buffer holds.
        """
        lengths = self._lengths(at)
        return np.maximum(lengths, at.base + self._carried.held(at.before)) if self._carried else lengths

    def _left(self, at: Standing) -> Ints:
        """Batches that each reader still has in its epoch, int64[ranks, workers]."""
        samples: Ints = np.maximum(self._ends(at) - at.read, 0)
        batch = self.rank_batches(at.ranks)[:, None]
        if at.ahead.size:
            fetched = at.ahead.sum(axis=1, keepdims=True)
            left: Ints = (at.ahead > 0).sum(axis=1, keepdims=True) - (-np.maximum(samples - fetched, 0) // batch)
            return left
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
        if ranks not in self._starts:  # thousands of legs may begin with it
            zero = np.zeros((1 if self._one else ranks, self.parts.readers_per_rank), np.int64)
            none = zero[:, 0]
            self._starts[ranks] = Standing(ranks, 0, 0, zero, none, none, zero, none, zero, zero - 1, ranks)
        return self._starts[ranks]

    def _begin(self, at: Standing, epoch: int, ranks: int | None = None, family: int = 0) -> Standing:
        """The beginning of an epoch, at the same step."""
        begun = self.start(at.ranks if ranks is None else ranks)
        begun = replace(begun, first=at.first, attempt=at.attempt, origin=at.origin, skipped=at.skipped)
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

    def steps_left(self, at: Standing, step: int) -> int | None:
        """Steps until the end of the last epoch; None if there is no last one."""
        if self._epochs is not None and at.epoch >= self._epochs:
            return 0
        left = self._steps_of_epoch(at)
        if self._endless:
            return left if self._repeats is not None else None
        begun = self._next(at)
        if self._epochs is None:
            return None if begun is not None else left
        if not isinstance(self.deal(at), InPieces | Listed | Remaining):
            return left + (self._epochs - 1 - at.epoch) * (0 if begun is None else self._steps_of_epoch(begun))
        while begun is not None:
            left += self._steps_of_epoch(begun)
            begun = self._next(begun)
        return left

    def advance(self, at: Standing, step: int, steps: int) -> Traveled:
        """Deliver the batches of `steps` steps, or as many as are left."""
        passes, first, at = [], step, replace(at, step=step)
        while steps and (self._epochs is None or at.epoch < self._epochs):
            take = min(steps, self._steps_of_epoch(at), *([1] if at.ahead.size else []))
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
        if at.ahead.size:
            at = replace(at, ahead=at.ahead[:, 1:])
        every, counted = self.parts.snapshot_every, at.counted + steps
        if every == 1:
            return replace(at, read=read, turn=turn, counted=counted)
        since = counted // every * every - at.counted  # batches until the last snapshot, if it is among these
        snapshot, snapshot_turn = self._read(at, np.maximum(since, 0))
        snapshot = np.where((since > 0)[:, None], snapshot, at.snapshot)
        snapshot_turn = np.where(since > 0, snapshot_turn, at.snapshot_turn)
        return replace(at, read=read, turn=turn, counted=counted, snapshot=snapshot, snapshot_turn=snapshot_turn)

    def _read(self, at: Standing, steps: int | Ints) -> tuple[Ints, Ints]:
        left, ends = self._left(at), self._ends(at)
        delivered, turn = turns(left, at.turn, steps)
        read = np.minimum(at.read + delivered * self._next_batches(at)[:, None], ends)
        if self.parts.last_batch == "drop" and at.read.shape[1] > 1:
            # A worker finds that no whole batch is left by reading what is left.
            read = np.where(passed_over(left, at.turn, steps), ends, read)
        return np.maximum(at.read, read), turn

    def _pass(self, at: Standing, done: Standing) -> Pass:
        epoch = self._order_epoch(at)
        flows = None if self._flows is None else partial(self._flow_numbers, at)
        lengths, begun, ended, base = self._ends(at), at.read, done.read, at.base
        if (begun > lengths).any():  # a restart on more ranks has put some beyond their parts
            begun, ended, base = (np.minimum(values, lengths) for values in (begun, ended, base))
        drops, batch = self.parts.last_batch == "drop", self._next_batches(at)
        if drops and begun.shape[1] > 1:  # what a worker has read without delivering it is not a batch
            ended = begun + (ended - begun) // batch[:, None] * batch[:, None]
        return Pass(
            at.step, done.step - at.step, self._family(at), epoch, self.deal(at), begun, ended, at.turn,
            lengths, drops, batch, self._endless, self._same, flows, base, at.before, at.attempt,
        )  # fmt: skip

    def _order_epoch(self, at: Standing) -> int:
        """The epoch that the seed knows of."""
        if self._same:
            return 0
        return at.epoch - at.origin if at.order_epoch is None else at.order_epoch

    def _family(self, at: Standing) -> int:
        """The order's family as the account and the order know it."""
        if self._draws and self._flows is None:
            return 0  # whatever was drawn, an offset is its sample
        if not self._by_layout:
            return at.family
        return part_family(at.family, at.read.size if self.parts.permutes == "part" else at.ranks)

    def _flow_numbers(self, at: Standing) -> Ints:
        """The flow of each reader, int64[ranks, workers]."""
        assert self._flows is not None
        deals, numbers = self._deals(at), np.empty_like(at.read)
        for rank, worker in np.ndindex(at.read.shape):
            reader = rank + len(at.read) * worker
            epoch = self._order_epoch(at)
            source = Source(self._family(at), epoch, self._same, deals, at.read.size, reader, at.attempt)
            numbers[rank, worker] = self._flows.number(self._flow(at, source, rank, worker))
        return numbers

    def _deals(self, at: Standing) -> tuple[Deal | Listed, ...] | Endless:
        """The epochs that the flow of a reader goes through, as they are dealt out."""
        if self._endless and self._repeats is None:
            batches = tuple(self.rank_batches(at.ranks).tolist())
            return Endless(self._dealer, at.family, self._order_epoch(at), self._same, at.ranks, batches, at.first)
        epochs = (self._repeats or 1) if self._endless else 1
        return tuple(self.deal(replace(at, epoch=at.epoch + later)) for later in range(epochs))

    def _flow(self, at: Standing, source: Source, rank: int, worker: int) -> Flow:
        base, carried = int(at.base[rank, worker]), int(at.before[rank, worker])
        if carried < 0:
            return Flow(source, base, -1, 0)
        buffer = self._carried[carried]
        return Flow(source, base + buffer.held, buffer.flow, buffer.after, buffer.ready, buffer.ahead)

    def _pulled(self, at: Standing, ahead: Ints | int = 0) -> Ints:
        """How far each reader has pulled when it has yielded so many samples more, int64[ranks, workers].

        Behind a buffer that is more than it has yielded.
        """
        if self._flows is None or not self._rebases:
            return at.read
        held = self._carried.held(at.before)
        yielded = at.read + ahead - at.base
        pulled = at.base + held + self._flows.buffer.pulled(yielded, held, self._carried.ready(at.before))
        reached: Ints = np.maximum(at.read, np.minimum(pulled, self._ends(at)))
        return reached

    # --- what was read

    def draws(self, stretches: Sequence[Journey]) -> tuple[Draws, Ints]:
        """What the stretches read, and the index of the stretch that each row belongs to, int64[rows]."""
        return draws_of([(i, part) for i, stretch in enumerate(stretches) for part in stretch.passes])

    @property
    def repeats_samples(self) -> bool:
        """Whether an epoch of the plan may hold a sample twice."""
        return self._draws or self.spaces.law == "other"

    @property
    def spaces_to_count(self) -> Spaces:
        """The orders of `reads_to_count`."""
        return self._order if self.tells_the_end_only else self.spaces

    @property
    def tells_the_end_only(self) -> bool:
        """Whether `reads_to_count` are right in all, and not step by step: behind buffers that a restart loses."""
        parts = self.parts
        lost = self._rebases and not self._dealer.lists and not self._endless and not parts.buffer_saved
        told = parts.partition != "strided" and parts.permutes == "epoch" and not self._draws
        return lost and told and self._order.law != "other"

    def below(self, stretches: Sequence[Journey], step: int) -> list[Journey]:
        """The stretches as far as they lie below a step."""
        cut = []
        for each in stretches:
            passes = tuple(part.below(step) for part in each.passes if part.step < step)
            cut.append(Journey(each.step, max(0, min(each.steps, step - each.step)), passes))
        return cut

    def reads_to_count(self, planned: Sequence[Journey], seen: Sequence[Journey], cuts: Ints | None = None) -> ToCount:
        """What the stretches read, in orders that can be counted by their law."""
        plan, lineage = ([part for each in stretches for part in each.passes] for stretches in (planned, seen))
        whole = self._flows is None and self.parts.dealt_to == "ranks" and not self._draws
        if whole and "shards" in self.parts.partition and in_blocks(self._order):
            end = max((part.step + part.steps for part in (*plan, *lineage)), default=0)
            cuts = np.array([end]) if cuts is None else cuts
            in_plan, in_lineage = (dealt_of(self._order, joined(side), cuts) for side in (plan, lineage))
            return ToCount(Draws.empty(), Draws.empty(), planned_dealt=in_plan, seen_dealt=in_lineage)
        if not self.tells_the_end_only:
            draws = [draws_of([(0, part) for part in joined(side)])[0] for side in (plan, lineage)]
            return ToCount(draws[0], draws[1])
        assert self._flows is not None
        rng = streams.generator(*self._order.drawn_by, "holes")
        planned_reads, seen_reads = reads_behind(self._flows, plan, lineage, rng)
        return ToCount(planned_reads[0], seen_reads[0], planned_reads[1], seen_reads[1])

    def damage_behind(
        self, planned: Sequence[Any], seen: Sequence[Any], steps: Ints, rng: np.random.Generator
    ) -> Damage | None:
        """Damage before each step behind buffers that restarts lose; None where each step has to be counted alone."""
        if self._flows is None:
            return None
        plan, lineage = (
            pulls_of([part for each in stretches for part in each.passes], self._flows.buffer)
            for stretches in (planned, seen)
        )
        if in_blocks(self._order) and (found := damage_behind(self._order, plan, lineage, steps, rng)) is not None:
            return found
        if are_sooner_played([*plan, *lineage], self.size, len(steps)):
            return damage_identity(self.spaces, self.draws(planned)[0], self.draws(seen)[0], steps)
        return None

    def first_samples(self, epoch: int, count: int) -> Ints:
        """The first samples of an epoch in the run's order, int64[count]."""
        first = np.arange(count)
        return self._order.samples_at(0, epoch, first)

    def steps_as_planned(self, stretches: Sequence[Journey], planned_steps: int) -> int:
        """How many steps of the stretches read what the plan reads then, by positions and orders."""
        return sum(stop - first for first, stop in self.as_planned(stretches, planned_steps))

    def as_planned(self, stretches: Sequence[Journey], planned_steps: int) -> Ranges:
        """Which steps those are."""
        plan = self.advance(self.start(self._first_ranks), 0, planned_steps).stretch
        return as_planned([part for stretch in stretches for part in stretch.passes], plan.passes)

    def batch_at(self, stretch: Journey, step: int, ranks: int) -> list[Ints]:
        """The samples that each rank reads in one step of a stretch."""
        part = next(part for part in stretch.passes if part.step <= step < part.step + part.steps)
        read = part.batch(step, self.spaces)
        return [read[0][slice(*each)] for each in rank_slices(len(read[0]), ranks)] if self._one else read
