"""Reads of some residues of an interval, laid out as reads of whole intervals, so that they can be swept.

A count needs to know how many offsets each set of reads has in common, not which. Where nothing but residues tells
offsets apart, those that the same reads read are laid side by side, and every read is an interval again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import lcm, prod
from typing import Literal

import numpy as np

from clustersim.account.blocks import layout
from clustersim.account.cuts import at_cuts
from clustersim.account.draws import Draws, Ints
from clustersim.account.rows import number
from clustersim.account.spaces import BlockSpaces, Spaces, in_blocks
from clustersim.account.sweep import both_sides

_MOST_EDGES = 2**23  # of residues, in a period of several moduli


@dataclass(frozen=True)
class _Samples:
    """The samples in their own order, in the same blocks."""

    size: int
    block_starts: Ints
    law: Literal["blocks"] = "blocks"
    same_every_epoch: bool = True

    def block_order(self, family: int, epoch: int) -> Ints:
        """The blocks as they lie, int64[K]."""
        return np.arange(len(self.block_starts) - 1)

    def samples_at(self, family: int, epoch: int, offsets: Ints) -> Ints:
        """The offsets themselves."""
        return offsets

    def offset_of(self, family: Ints, epoch: Ints, sample: int) -> Ints:
        """The sample itself, int64 of the arrays' shape."""
        return np.full(np.broadcast(family, epoch).shape, sample, dtype=np.int64)


def plain(spaces: Spaces, planned: Draws, seen: Draws, steps: Ints | None = None) -> tuple[Spaces, Draws, Draws]:
    """Reads without residues, and the orders they are in, that have the same count, or the same law of it.

    Under the law "uniform" what stands at which offset of a permutation may be renamed; under "blocks" the reads become
    those of the samples in their own order. Reads that have no residues are left as they are.

    Args:
        spaces: the orders that were read, of one of these two laws.
        planned: reads of the run without failures.
        seen: reads of the lineage.
        steps: int64[cuts], never falling, the last beyond every read: counts are wanted before each of these steps.
            A row that is made is read within its one `step`, no later than the next cut.

    Raises:
        ValueError: a read leaves [0, N), a read comes after the last cut, or so many different moduli meet that how
            their residues fall together is beyond counting.
    """
    if not any((draws.modulus > 1).any() for draws in (planned, seen)):
        return spaces, planned, seen
    draws, is_planned = both_sides(spaces.size, planned, seen)
    if steps is not None:
        row, draws = _cut(spaces.size, draws, steps)
        is_planned = is_planned[row]
    if in_blocks(spaces):
        row, draws = in_samples(spaces, draws)
        is_planned = is_planned[row]
        spaces = _Samples(spaces.size, spaces.block_starts)
    row, draws = _laid_out(spaces, draws)
    is_planned = is_planned[row]
    return spaces, draws.select(is_planned), draws.select(~is_planned)


def _cut(size: int, draws: Draws, steps: Ints) -> tuple[Ints, Draws]:
    """Rows of one epoch each that do not reach over a cut, and the row that each comes from."""
    row = np.repeat(np.arange(len(draws)), draws.epochs)
    later = np.arange(len(row)) - np.repeat(np.cumsum(draws.epochs) - draws.epochs, draws.epochs)
    one = _moved(draws.select(row), later * size, epoch=draws.epoch[row] + later, epochs=np.ones_like(row))
    piece, _, before, read = at_cuts(one, steps)
    cut = one.select(piece)
    return row[piece], _moved(cut, before, start=cut.start + before, stop=cut.start + read)


def _moved(draws: Draws, ticks: Ints, **columns: Ints) -> Draws:
    """Rows that begin so many offsets later."""
    into = draws.lead + ticks
    step = draws.step + draws.every * (into // draws.per_step)
    return replace(draws, step=step, lead=into % draws.per_step, **columns)


def in_samples(spaces: BlockSpaces, draws: Draws) -> tuple[Ints, Draws]:
    """Rows of one block each, in samples (whole epochs stay as they are), and the row that each comes from."""
    whole = (draws.start == 0) & (draws.stop == spaces.size) & (draws.modulus == 1)
    rows = [np.flatnonzero(whole)]
    pieces = [(draws.start[whole], draws.stop[whole], draws.low[whole], draws.high[whole])]
    part = np.flatnonzero(~whole)
    order, firsts, _ = number((draws.family[part], draws.epoch[part]))
    for low, high in pairwise([*firsts.tolist(), len(part)]):
        mine = part[order[low:high]]
        blocks, begins = layout(spaces, int(draws.family[mine[0]]), int(draws.epoch[mine[0]]))
        first = np.searchsorted(begins[:-1], draws.start[mine], side="right") - 1
        touched = np.searchsorted(begins[:-1], draws.stop[mine]) - first
        row = np.repeat(mine, touched)
        place = np.repeat(first, touched) + np.arange(len(row)) - np.repeat(np.cumsum(touched) - touched, touched)
        start, stop = np.maximum(draws.start[row], begins[place]), np.minimum(draws.stop[row], begins[place + 1])
        shift = spaces.block_starts[blocks[place]] - begins[place]
        modulus, residue = draws.modulus[row], (draws.low[row] + shift) % draws.modulus[row]
        until = residue + draws.high[row] - draws.low[row]
        # A class of residues that moves beyond the modulus begins again at 0.
        for bottom, top in ((residue, np.minimum(until, modulus)), (np.zeros_like(until), until - modulus)):
            some = (start < stop) & (bottom < top)
            rows.append(row[some])
            pieces.append(((start + shift)[some], (stop + shift)[some], bottom[some], top[some]))
    row = np.concatenate(rows)
    start, stop, bottom, top = (np.concatenate(column) for column in zip(*pieces, strict=True))
    zero = np.zeros_like(row)
    moved = {"start": start, "stop": stop, "low": bottom, "high": top, "family": zero, "epoch": zero, "lead": zero}
    return row, replace(draws.select(row), **moved, per_step=np.maximum(1, stop - start))


def _laid_out(spaces: Spaces, draws: Draws) -> tuple[Ints, Draws]:
    """Rows without residues, and the row that each comes from."""
    epoch = np.zeros_like(draws.epoch) if spaces.same_every_epoch else draws.epoch
    order, firsts, _ = number((draws.family, epoch))
    alike = draws.modulus == 1
    rows, starts, stops = [np.flatnonzero(alike)], [draws.start[alike]], [draws.stop[alike]]
    for low, high in pairwise([*firsts.tolist(), len(draws)]):
        mine = order[low:high]
        some = mine[~alike[mine]]
        if len(some):
            points = np.unique(np.concatenate((draws.start[mine], draws.stop[mine])))
            for row, start, stop in _stacked(draws, some, points):
                rows.append(row)
                starts.append(start)
                stops.append(stop)
    row, start, stop = (np.concatenate(column) for column in (rows, starts, stops))
    zero, one = np.zeros_like(row), np.ones_like(row)
    length = np.where(alike[row], draws.per_step[row], stop - start)
    lead = np.where(alike[row], draws.lead[row], 0)
    columns = {"start": start, "stop": stop, "modulus": one, "low": zero, "high": one}
    return row, replace(draws.select(row), **columns, lead=lead, per_step=length)


def _stacked(draws: Draws, rows: Ints, points: Ints) -> list[tuple[Ints, Ints, Ints]]:
    """What rows with residues read, one row or more for each interval between two points: row, start, stop."""
    first = np.searchsorted(points, draws.start[rows])
    parts = np.searchsorted(points, draws.stop[rows]) - first
    row = np.repeat(rows, parts)
    interval = np.repeat(first, parts) + np.arange(len(row)) - np.repeat(np.cumsum(parts) - parts, parts)
    most, least = np.zeros(len(points), np.int64), np.full(len(points), np.iinfo(np.int64).max)
    np.maximum.at(most, interval, draws.modulus[row])
    np.minimum.at(least, interval, draws.modulus[row])
    one_modulus = (most == least)[interval]
    done = [_of_one_modulus(draws, row[one_modulus], interval[one_modulus], points)]
    row, interval = row[~one_modulus], interval[~one_modulus]
    order, firsts, _ = number((interval,))
    for low, high in pairwise([*firsts.tolist(), len(order)] if len(order) else []):
        at = int(interval[order[low]])
        done.append(_of_several(draws, row[order[low:high]], int(points[at]), int(points[at + 1])))
    return done


def _of_one_modulus(draws: Draws, row: Ints, interval: Ints, points: Ints) -> tuple[Ints, Ints, Ints]:
    """Intervals in which all residues are of one modulus: the classes between two bounds lie in the residues' order."""
    modulus, low, high = draws.modulus[row], draws.low[row], draws.high[row]
    names = np.concatenate((interval, interval, interval)), np.concatenate((np.zeros_like(low), low, high))
    order, firsts, of = number(names)
    every_modulus = np.concatenate((modulus, modulus, modulus))[order[firsts]]
    at, bound = (name[order[firsts]] for name in names)

    def below(offset: Ints) -> Ints:
        """Offsets of [0, offset) whose residue is below each bound."""
        count: Ints = offset // every_modulus * bound + np.minimum(offset % every_modulus, bound)
        return count

    until = points[at] + below(points[at + 1]) - below(points[at])  # where the classes below each bound end
    _, start, stop = np.split(until[of], 3)
    some = start < stop
    return row[some], start[some], stop[some]


def _of_several(draws: Draws, rows: Ints, start: int, stop: int) -> tuple[Ints, Ints, Ints]:
    """One interval with residues of several moduli, gone through from one bound of a residue to the next."""
    moduli = np.unique(draws.modulus[rows]).tolist()
    period = min(lcm(*moduli), stop - start)
    bounds = []
    for modulus in moduli:
        own = draws.modulus[rows] == modulus
        bounds.append(np.unique(np.concatenate((draws.low[rows[own]], draws.high[rows[own]])) % modulus))
    edges_in_all = sum(len(bound) * (period // modulus + 1) for modulus, bound in zip(moduli, bounds, strict=True))
    if edges_in_all > _MOST_EDGES or prod(len(bound) + 1 for bound in bounds) >= 2**62:
        found = ", ".join(map(str, moduli))
        raise ValueError(f"parts of every {found} samples meet in one epoch: too many to say how they overlap")
    edges = [np.array([start])]
    for modulus, bound in zip(moduli, bounds, strict=True):
        lap = np.arange(start, start + period, modulus)
        edges.append((lap[:, None] + (bound - start) % modulus).ravel())
    edge = np.unique(np.concatenate(edges))
    edge = edge[edge < start + period]
    name = np.zeros_like(edge)
    for modulus, bound in zip(moduli, bounds, strict=True):
        name = name * (len(bound) + 1) + np.searchsorted(bound, edge % modulus, side="right")
    laps, rest = divmod(stop - start, period)
    length = laps * np.diff(edge, append=start + period)
    length += np.clip(start + rest - edge, 0, np.diff(edge, append=start + period))

    _, example, of = np.unique(name, return_index=True, return_inverse=True)
    offsets = np.zeros(len(example), np.int64)
    np.add.at(offsets, of, length)
    ends = start + np.cumsum(offsets)
    residue = edge[example][None, :] % draws.modulus[rows][:, None]
    reads = (draws.low[rows][:, None] <= residue) & (residue < draws.high[rows][:, None])
    row, kind = np.nonzero(reads)
    return rows[row], (ends - offsets)[kind], ends[kind]
