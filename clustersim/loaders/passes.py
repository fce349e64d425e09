"""What readers read of one epoch in a run of steps, and what that is to the account."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from clustersim.account import BlockSpaces, Dealt, Draws, Spaces
from clustersim.account.rows import number
from clustersim.loaders.deal import Deal, Runs, Sharded, Strided
from clustersim.loaders.listed import Listed
from clustersim.loaders.parts import Ranges
from clustersim.loaders.turns import turns

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pass:
    """Steps [step, step + steps) of readers that go from local positions `begun` to `ended` of one order's epoch.

    If `endless`, local positions go on from one epoch to the next, and `epoch` is the first.
    """

    step: int
    steps: int
    family: int
    epoch: int
    deal: Deal | Listed
    begun: Ints  # int64[ranks, workers]
    ended: Ints  # int64[ranks, workers]
    turn: Ints  # int64[ranks], the worker that delivers first
    lengths: Ints  # int64[ranks, workers], samples that each reader has
    drops: bool  # whether a last batch that is not whole is dropped
    rank_batch: Ints  # int64[ranks], samples a step
    endless: bool
    same: bool  # the seed knows no other epoch
    number_flows: Callable[[], Ints] | None  # what the readers yield behind their buffers; None: they have none
    base: Ints  # int64[ranks, workers], the local position at which each flow begins
    before: Ints  # int64[ranks, workers], which of the carried buffers each flow began with, -1: an empty one
    attempt: int  # the restart that the buffers' random numbers are of

    @cached_property
    def flows(self) -> Ints | None:
        """The number of each reader's flow, int64[ranks, workers]; to ask costs an object a reader."""
        return None if self.number_flows is None else self.number_flows()

    @property
    def left(self) -> Ints:
        """Batches that each reader has when the pass begins, int64[ranks, workers]."""
        samples, batch = self.lengths - self.begun, self.rank_batch[:, None]
        return samples // batch if self.drops else -(-samples // batch)

    @cached_property
    def pace(self) -> Ints:
        """A number for each reader; those of one number take their batches in the same steps: int64[ranks, workers]."""
        workers = self.begun.shape[1]
        if workers == 1:
            return self.rank_batch[:, None]
        rank = number((self.rank_batch, self.turn, *self.left.T))[2]
        numbers: Ints = rank[:, None] * workers + np.arange(workers)
        return numbers

    def reads_at(self, step: int) -> tuple[object, ...]:
        """What tells its reading from a step on from others': two passes with the same go on alike."""
        delivered, turn = turns(self.left, self.turn, step - self.step)
        read = self.begun + delivered * self.rank_batch[:, None]
        if self.number_flows is not None and (self.endless or (self.before >= 0).any()):
            assert self.flows is not None
            return self.flows.shape, self.flows.tobytes(), read.tobytes(), turn.tobytes()
        if self.number_flows is not None:
            flow = self.family, self.epoch, id(self.deal), self.attempt, self.base.tobytes()
            return *flow, read.shape, read.tobytes(), turn.tobytes()
        common = (self.family, self.epoch, self.endless, int(self.rank_batch.sum()))
        if read.shape[1] == 1 and isinstance(self.deal, Strided) and (read == read[0]).all():
            return *common, int(read[0, 0]) * len(read)  # ranks in step read one stretch of the epoch, however many
        return *common, id(self.deal), read.shape, read.tobytes(), turn.tobytes()

    def by_reader(self, values: Ints) -> Ints:
        """Values of int64[ranks, workers] in the order of the readers: worker 0 of every rank, then worker 1."""
        return np.ascontiguousarray(values.T).ravel()

    def below(self, step: int) -> "Pass":
        """The pass as far as it lies below a step, which is beyond its first."""
        if step >= self.step + self.steps:
            return self
        delivered, _ = turns(self.left, self.turn, step - self.step)
        ended = np.minimum(self.begun + delivered * self.rank_batch[:, None], self.ended)
        return replace(self, steps=step - self.step, ended=ended)

    def epochs(self) -> list[tuple[int, Ints, Ints, Ints]]:
        """What is read of each epoch: its number, from and to which local positions, and the position of its start.

        int64[readers] each; the last is what a reader counts at the epoch's first sample.
        """
        begun, ended = self.by_reader(self.begun), self.by_reader(self.ended)
        if not self.endless:
            return [(self.epoch, begun, ended, np.zeros_like(begun))]
        lengths = self.deal.lengths
        parts = []
        for epoch in range(int((begun // lengths).min()), int((-(-ended // lengths)).max())):
            origin = epoch * lengths
            low, high = np.clip(begun - origin, 0, lengths), np.clip(ended - origin, 0, lengths)
            if (high > low).any():
                parts.append((self._order_of(epoch), low, high, origin))
        return parts

    def _order_of(self, later: int) -> int:
        """Of which epoch the order is of one that comes so many after the first."""
        return self.epoch if self.same else self.epoch + later

    def batch(self, step: int, spaces: Spaces) -> list[Ints]:
        """The samples that each rank reads in one of the steps."""
        before, _ = turns(self.left, self.turn, step - self.step)
        after, _ = turns(self.left, self.turn, step - self.step + 1)
        batch = self.rank_batch[:, None]
        start = np.minimum(self.begun + before * batch, self.ended)
        stop = np.minimum(self.begun + after * batch, self.ended)
        ranks = len(start)
        found: list[Ints] = []
        for rank in range(ranks):
            worker = int(np.argmax(stop[rank] > start[rank]))
            if self.flows is not None:
                offsets = np.arange(start[rank, worker], stop[rank, worker]) - self.base[rank, worker]
                found.append(spaces.samples_at(int(self.flows[rank, worker]), 0, offsets))
                continue
            reader, low, high = rank + ranks * worker, int(start[rank, worker]), int(stop[rank, worker])
            length = int(self.deal.lengths[reader]) if self.endless else high
            pieces = []
            while low < high:
                epoch = low // length if self.endless else 0
                end = min(high, (epoch + 1) * length)
                assert not isinstance(self.deal, Listed)  # what is listed is read in flows
                offsets = self.deal.offsets(reader, low - epoch * length, end - epoch * length)
                pieces.append(spaces.samples_at(self.family, self._order_of(epoch), offsets))
                low = end
            found.append(np.concatenate(pieces))
        return found


def joined(passes: Sequence[Pass]) -> list[Pass]:
    """The passes, with those made one that go on where the one before stopped, in the next step and the same order."""
    found: list[Pass] = []
    for part in passes:
        before = found[-1] if found else None
        if before is not None and _goes_on(before, part):
            found[-1] = replace(before, steps=before.steps + part.steps, ended=part.ended)
        else:
            found.append(part)
    return found


def _goes_on(before: Pass, part: Pass) -> bool:
    same = (before.family, before.epoch, before.endless) == (part.family, part.epoch, part.endless)
    if not same or before.deal is not part.deal or before.step + before.steps != part.step:
        return False
    if before.number_flows is not None or not np.array_equal(before.rank_batch, part.rank_batch):
        return False
    if not np.array_equal(before.ended, part.begun):
        return False
    return np.array_equal(turns(before.left, before.turn, before.steps)[1], part.turn)


def draws_of(passes: Sequence[tuple[int, Pass]]) -> tuple[Draws, Ints]:
    """The reads of passes, each with the index of what it belongs to, and that index for each row: int64[rows]."""
    parts, owners = [Draws.empty()], [np.zeros(0, np.int64)]
    for owner, part in passes:
        if part.flows is not None:
            parts.append(_of_flows(part, part.by_reader(part.flows), part.by_reader(part.base)))
            owners.append(np.full(len(parts[-1]), owner, dtype=np.int64))
            continue
        assert not isinstance(part.deal, Listed)  # what is listed is read in flows
        pace = part.by_reader(part.pace)
        for epoch, begun, ended, origin in part.epochs():
            runs = part.deal.runs(begun, ended, pace)
            family = np.full(len(runs.start), part.family, np.int64)
            parts.append(_draws(part, family, epoch, runs, part.by_reader(part.begun) - origin))
            owners.append(np.full(len(parts[-1]), owner, dtype=np.int64))
    return Draws.concat(parts), np.concatenate(owners)


def dealt_of(spaces: BlockSpaces, passes: Sequence[Pass], cuts: Ints) -> list[Dealt]:
    """The reads of passes over shards that were dealt out, none of them behind a buffer or endless.

    Args:
        spaces: the orders of the shards.
        passes: what was read.
        cuts: int64[cuts], steps that never fall, the last one beyond every read.
    """
    by_deal: dict[tuple[int, int, int], list[Pass]] = {}
    for part in passes:
        by_deal.setdefault((part.family, part.epoch, id(part.deal)), []).append(part)
    return [_dealt(spaces, parts, cuts) for parts in by_deal.values()]


def _dealt(spaces: BlockSpaces, passes: Sequence[Pass], cuts: Ints) -> Dealt:
    """The reads of passes of one deal."""
    bounds: list[tuple[int, Ints, Ints]] = []  # before which cut, from and to where each reader reads
    for part in passes:
        low, high = np.searchsorted(cuts, part.step, side="right"), np.searchsorted(cuts, part.step + part.steps)
        begun = part.begun
        for cut in range(int(low), int(high) + 1):
            ended = part.below(int(cuts[cut])).ended
            bounds.append((cut, begun.ravel(), ended.ravel()))
            begun = ended
    of, first = np.zeros(passes[0].begun.size, np.int64), np.zeros(1, np.int64)
    for values in (values for _, *both in bounds for values in both):
        if (values[first][of] != values).any():  # not all of a kind read alike
            order, firsts, of = number((of, values))
            first = order[firsts]
    deal, kinds = passes[0].deal, np.arange(len(first))
    assert isinstance(deal, Sharded)
    start = np.concatenate([begun[first] for _, begun, _ in bounds])
    stop = np.concatenate([ended[first] for _, _, ended in bounds])
    at_cut, kind = np.repeat([cut for cut, _, _ in bounds], len(first)), np.tile(kinds, len(bounds))
    some = start < stop
    block = spaces.block_order(passes[0].family, passes[0].epoch)[deal.shard]
    kind_of = passes[0].by_reader(of.reshape(passes[0].begun.shape))
    return Dealt(block, deal.reader, kind_of, *(column[some] for column in (kind, start, stop, at_cut)))


def _of_flows(part: Pass, flows: Ints, base: Ints) -> Draws:
    """Rows of readers behind buffers: one a reader, of the flow that it is in."""
    begun, ended = part.by_reader(part.begun), part.by_reader(part.ended)
    reader = np.flatnonzero(ended > begun)
    zero, one = np.zeros_like(reader), np.ones_like(reader)
    start, stop = (values[reader] - base[reader] for values in (begun, ended))
    runs = Runs(reader, start, start, stop, one, zero, one, one)
    return _draws(part, flows[reader], 0, runs, begun - base)


def _draws(part: Pass, family: Ints, epoch: int, runs: Runs, first: Ints) -> Draws:
    """Rows of one epoch; `first` is the local position in it at which each reader's first batch began."""
    ranks, workers = part.begun.shape
    per_step = part.rank_batch[runs.reader % ranks] * runs.span
    into = runs.tick - first[runs.reader] * runs.span
    columns = {
        "start": runs.start, "stop": runs.stop, "batch": into // per_step, "lead": into % per_step,
        "per_step": per_step, "modulus": runs.modulus, "low": runs.low, "high": runs.high, "reader": runs.reader,
        "family": family,
    }  # fmt: skip
    columns["step"] = part.step + columns["batch"]
    columns["every"] = np.ones_like(into)
    if workers > 1:
        columns = _in_turns(part, columns)
    count = len(columns["start"])
    return Draws(
        epoch=np.full(count, epoch, np.int64),
        epochs=np.ones(count, np.int64),
        **{
            name: columns[name]
            for name in ("family", "start", "stop", "step", "lead", "per_step", "modulus", "low", "high", "every")
        },
    )


def _in_turns(part: Pass, columns: dict[str, Ints]) -> dict[str, Ints]:
    """Rows cut where a worker of their rank runs out, so that in each the workers that are left take even turns."""
    ranks, workers = part.begun.shape
    rank, worker = columns["reader"] % ranks, columns["reader"] // ranks
    first = columns["batch"]
    ticks = columns["lead"] + columns["stop"] - columns["start"]  # from the beginning of the first batch
    stop = first - (-ticks // columns["per_step"])
    levels = np.sort(part.left, axis=1)[rank]  # batches after which a worker of the row's rank runs out
    pieces = []
    for i in range(workers + 1):
        low = first if i == 0 else np.maximum(first, levels[:, i - 1])
        high = stop if i == workers else np.minimum(stop, levels[:, i])
        some = np.flatnonzero(low < high)
        pieces.append((some, low[some], high[some]))
    row, low, high = (np.concatenate(column) for column in zip(*pieces, strict=True))
    order = np.lexsort((low, row))
    row, low, high = row[order], low[order], high[order]
    cut = {name: values[row] for name, values in columns.items()}
    before = (low - first[row]) * cut["per_step"] - cut["lead"]  # ticks of the row before the piece; below 0: none
    after = (high - first[row]) * cut["per_step"] - cut["lead"]
    start = cut["start"] + np.maximum(before, 0)
    cut["stop"] = np.minimum(cut["start"] + after, cut["stop"])
    cut["lead"] = np.where(before >= 0, 0, cut["lead"])
    cut["start"] = start
    left, turn = part.left[rank[row]], part.turn[rank[row]]
    cut["every"] = (left > low[:, None]).sum(axis=1)
    place = (np.arange(workers) - turn[:, None]) % workers < ((worker[row] - turn) % workers)[:, None]
    earlier = np.minimum(left, low[:, None]).sum(axis=1) + (place & (left > low[:, None])).sum(axis=1)
    cut["step"] = part.step + earlier
    return cut


def as_planned(passes: Sequence[Pass], plan: Sequence[Pass]) -> Ranges:
    """Which steps of the passes read what the plan, whose passes follow each other, reads in them.

    By positions and orders.
    """
    ranges: Ranges = []
    for part in passes:
        end = part.step + part.steps
        first = bisect_right(plan, part.step, key=lambda other: other.step + other.steps)
        for other in plan[first : bisect_left(plan, end, key=attrgetter("step"))]:
            low, high = max(part.step, other.step), min(end, other.step + other.steps)
            if low < high and part.reads_at(low) == other.reads_at(low):
                ranges.append((low, high))
    return ranges
