"""Reads behind buffers that are lost at every restart, in the order's own offsets, so that they can be counted by law.

A reader that begins anew where its buffer had pulled to leaves holes: what the buffer held. Up to `_MOST_PLAYED`
samples the buffers are played, and every read has its place. Beyond it a read is told by how many came out of a stretch
that was pulled (`account.Sparse`), as if each of its samples had the same chance.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from clustersim.account import BlockSpaces, Damage, Draws, Sparse
from clustersim.account.overlay import Groups, thin_many
from clustersim.account.rows import number
from clustersim.loaders.deal import Deal, Runs
from clustersim.loaders.flows import FlowSpaces
from clustersim.loaders.fronts import damage_by_fronts
from clustersim.loaders.listed import Listed
from clustersim.loaders.passes import Pass
from clustersim.loaders.pulls import Pull, pulls_of

Ints = NDArray[np.int64]
Reads = tuple[Draws, Sparse]

_MOST_PLAYED = 2**22
_MOST_WINDOWS = 2**18  # flows that are told apart where they follow each other in one shard
_MOST_ROWS = 2**15  # of tiers of ages
_MOST_COUNTED = 2**24  # samples that have a count each
_PLAYED_MEANWHILE = 10  # samples, while one flow is counted by law for a half of the steps that are asked for
_MOST_ON_AVERAGE = 2**13  # samples of a flow that is played to its end, of which some thousand are kept


def reads_behind(
    flows: FlowSpaces, planned: Sequence[Pass], seen: Sequence[Pass], rng: np.random.Generator
) -> tuple[Reads, Reads]:
    """Planned and seen reads in the order's offsets: those with a place, and those without."""
    sides = [pulls_of(passes, flows.buffer) for passes in (planned, seen)]
    if sum(flow.samples for side in sides for flow in side) <= _MOST_PLAYED:
        played = [_played(flows, [flow.part for flow in side]) for side in sides]
        return (played[0], Sparse.empty()), (played[1], Sparse.empty())
    first: dict[tuple[int, int], Pull] = {}
    shared = set()  # epochs that more than one flow reads
    for flow in (flow for side in sides for flow in side):
        if not flow.is_same(first.setdefault((flow.part.family, flow.part.epoch), flow)):
            shared.add((flow.part.family, flow.part.epoch))
    many = _are_many(flow for side in sides for flow in side)
    merges_long = _are_many(flow for side in sides for flow in side if flow.is_long)
    ends = [{flow.epoch: flow for flow in side} for side in sides]  # the last flow of each epoch
    found = []
    for side, others in zip(sides, reversed(ends), strict=True):
        in_order: list[Pass] = []
        chains: list[list[Pull]] = []
        goes_on = False
        for flow in side:
            # Where one flow alone reads an epoch, its samples may be named by the turn in which they come out.
            alone = (flow.part.family, flow.part.epoch) not in shared
            if alone or flow.begun.any() or flows.buffer.kind == "chunk":
                in_order.append(flow.part)
                continue
            told_apart = flow.is_long and (not merges_long or flow.is_cut_by(others.get(flow.epoch)))
            if goes_on and not told_apart and chains[-1][-1].precedes(flow):
                chains[-1].append(flow)
            else:
                chains.append([flow])
            goes_on = many and not told_apart
        single = sum(chain[0].part.base.size for chain in chains if len(chain) == 1)
        tiers = min(max(_MOST_ROWS // max(1, single), 1), 64)
        parts = [_rows(part, part.by_reader(part.begun), part.by_reader(part.ended)) for part in in_order]
        for chain in chains:
            parts.append(_alone(chain[0], tiers, rng) if len(chain) == 1 else _chain(chain, rng))
        found.append((Draws.concat(dense for dense, _ in parts), Sparse.concat([some for _, some in parts])))
    return found[0], found[1]


def are_sooner_played(flows: Sequence[Pull], samples: int, steps: int) -> bool:
    """Whether to play flows to their ends takes less time than to count what was read before each of so many steps.

    `samples`: of the order. For each step all flows before it are counted, and where they are few they are played.
    """
    number = sum(flow.base.size for flow in flows)
    plays = sum(int((flow.part.lengths - flow.base).sum()) for flow in flows)
    few = max(_MOST_PLAYED, number * min(_PLAYED_MEANWHILE * steps, _MOST_ON_AVERAGE))
    return samples <= _MOST_COUNTED and plays <= few


def damage_behind(
    spaces: BlockSpaces, planned: Sequence[Pull], seen: Sequence[Pull], steps: Ints, rng: np.random.Generator
) -> Damage | None:
    """Extra and missing views before each step, where so many flows follow each other that shards keep their sum alone.

    None elsewhere, and where fronts do not tell it.
    """
    flows = [*planned, *seen]
    played = sum(flow.samples for flow in flows) <= _MOST_PLAYED
    return None if played or not _are_many(flows) else damage_by_fronts(spaces, planned, seen, steps, rng)


def _are_many(flows: Iterable[Pull]) -> bool:
    """Whether flows that follow each other in one shard are not told apart."""
    return sum(flow.base.size for flow in flows) > _MOST_WINDOWS


def _played(flows: FlowSpaces, passes: Sequence[Pass]) -> Draws:
    """Rows of the very samples that come out."""
    found = [Draws.empty()]
    for part in passes:
        assert part.flows is not None
        assert not isinstance(part.deal, Listed)
        ranks = len(part.begun)
        for rank, worker in np.ndindex(part.begun.shape):
            start, stop = (int((side - part.base)[rank, worker]) for side in (part.begun, part.ended))
            if start == stop:
                continue
            places = flows.places(int(part.flows[rank, worker]), stop)[start:]
            low, reader = int(places.min()), rank + ranks * worker
            offsets = np.sort(part.deal.offsets(reader, low, int(places.max()) + 1)[places - low])
            edge = np.flatnonzero(np.diff(offsets) != 1) + 1
            begins, ends = offsets[np.append(0, edge)], offsets[np.append(edge, len(offsets)) - 1] + 1
            found.append(_draws(part, begins, ends))
    return Draws.concat(found)


def _rows(part: Pass, begun: Ints, ended: Ints) -> Reads:
    """All that lies between two local positions of each reader, int64[readers] each."""
    runs = _runs(part.deal, begun, ended)
    return _draws(part, runs.start, runs.stop), Sparse.empty()


def _runs(deal: Deal | Listed, begun: Ints, ended: Ints) -> Runs:
    assert not isinstance(deal, Listed)
    return deal.runs(begun, ended, np.arange(len(begun)))


def _draws(part: Pass, start: Ints, stop: Ints) -> Draws:
    """Rows of a pass, as if they were read in its first step: they are right in all, not step by step."""
    one = np.ones_like(start)
    zero = 0 * one
    return Draws(part.family * one, part.epoch * one, one, start, stop, part.step * one, zero, stop - start)


def _alone(flow: Pull, tiers: int, rng: np.random.Generator) -> Reads:
    """Rows of one flow: what its buffer holds at last lies in tiers of ages, in each as much as is expected there."""
    base, pulled, ended = map(flow.part.by_reader, (flow.base, flow.pulled, flow.ended))
    held = pulled - base - ended
    tiers = max(tiers, 3) if flow.is_long else tiers
    full = np.minimum(ended, np.maximum(pulled - base - flow.buffer.size, 0))  # yielded before the source ended
    ages, shares = flow.buffer.ages(full, tiers)
    bounds = np.maximum(pulled - ages, base)  # int64[tiers + 2, readers], falling
    # Rounded so that the tiers sum to what is held and none holds more than it is long.
    upto = np.floor(np.cumsum(shares, axis=0) * held + rng.random(len(held)))
    upto[-1] = held
    in_tier = np.diff(upto.astype(np.int64), axis=0, prepend=0)
    parts = [_rows(flow.part, base, bounds[-1])]
    for tier in range(tiers + 1):
        low, high = bounds[tier + 1], bounds[tier]
        read = np.maximum(high - low - in_tier[tier], 0)
        parts.append(_stretch(flow.part, np.stack([low, high]), read[None, :], rng))
    return Draws.concat(dense for dense, _ in parts), Sparse.concat([some for _, some in parts])


def _chain(chain: list[Pull], rng: np.random.Generator) -> Reads:
    """Rows of flows that each begin where the one before had pulled to: one a stretch of a shard."""
    ranks, workers = chain[0].base.shape
    bounds = np.empty((len(chain) + 1, workers, ranks), np.int64)
    upto = np.zeros((len(chain) + 1, workers, ranks), np.int64)
    bounds[0] = chain[0].base.T
    for k, flow in enumerate(chain):
        bounds[k + 1] = flow.pulled.T
        np.add(upto[k], flow.ended.T, out=upto[k + 1])
    return _stretch(chain[0].part, bounds.reshape(len(bounds), -1), upto[1:].reshape(len(chain), -1), rng)


def _stretch(part: Pass, bounds: Ints, upto: Ints, rng: np.random.Generator) -> Reads:
    """Rows of readers that read upto[k] samples below bounds[k + 1]: one a part of a shard.

    Args:
        part: the pass.
        bounds: int64[flows + 1, readers], local positions that never fall: where flows begin, and the last one ends.
        upto: int64[flows, readers], never falling.
        rng: the stream of random numbers.
    """
    runs = _runs(part.deal, bounds[0], bounds[-1])
    reader, local = np.tile(runs.reader, 2), np.concatenate((runs.tick, runs.tick + runs.stop - runs.start))
    order, firsts, of = number((reader, local))
    edge = order[firsts]
    first, last = np.split(_below(bounds, upto, reader[edge], local[edge], rng)[of], 2)
    read: Ints = last - first
    whole = read == runs.stop - runs.start
    dense = _draws(part, runs.start[whole], runs.stop[whole])
    some = ~whole & (read > 0)
    return dense, Sparse(_draws(part, runs.start[some], runs.stop[some]), read[some])


def _below(bounds: Ints, upto: Ints, reader: Ints, local: Ints, rng: np.random.Generator) -> Ints:
    """How many samples readers have read below local positions, int64[edges]; sorted by reader and position.

    `bounds` and `upto` as in `_stretch`. A position inside a flow divides it by chance.
    """
    flow = _last_at_most(bounds, reader, local)  # -1: before the first flow
    below = np.where(flow > 0, upto[flow - 1, reader], 0)
    flow = np.clip(flow, 0, len(upto) - 1)
    low, high, inside = bounds[flow, reader], bounds[flow + 1, reader], upto[flow, reader] - below
    cut = np.flatnonzero((low < local) & (local < high))
    if not len(cut):
        return below
    is_first = np.ones(len(cut), bool)
    is_first[1:] = (reader[cut][1:] != reader[cut][:-1]) | (flow[cut][1:] != flow[cut][:-1])
    is_last = np.append(is_first[1:], True)
    before = np.where(is_first, low[cut], np.append(0, local[cut][:-1]))
    ends = np.flatnonzero(is_last) + 1
    lengths = np.insert(local[cut] - before, ends, high[cut][is_last] - local[cut][is_last])
    sizes = np.diff(np.append(np.flatnonzero(is_first), len(cut))) + 1
    taken = thin_many(rng, lengths, Groups.sized(sizes), inside[cut][is_first])
    taken = taken[np.setdiff1d(np.arange(len(taken)), np.cumsum(sizes) - 1)]
    running: Ints = np.cumsum(taken)
    group = np.cumsum(is_first) - 1
    below[cut] += running - (running - taken)[is_first][group]
    return below


def _last_at_most(bounds: Ints, column: Ints, values: Ints) -> Ints:
    """The last row of each column of `bounds`, which never fall, that is at most a value; -1: none. int64[values]."""
    low, high = np.full(len(values), -1), np.full(len(values), len(bounds))
    while (high - low > 1).any():
        middle = (low + high) // 2
        at_most = (middle < 0) | (bounds[np.maximum(middle, 0), column] <= values)
        low, high = np.where(at_most, middle, low), np.where(at_most, high, middle)
    return low
