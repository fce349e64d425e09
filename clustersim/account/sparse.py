"""Reads of some of the offsets of an interval: what came out of buffers that were lost with what they held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clustersim.account.draws import Draws, Ints
from clustersim.account.ledger import Ledger
from clustersim.account.overlay import Groups, deal_out, thin_many
from clustersim.account.residues import in_samples
from clustersim.account.rows import merge, number
from clustersim.account.spaces import Spaces, cells_of, in_blocks
from clustersim.account.sweep import check

_MOST_CLASSES = 2**19  # that are held at a time


@dataclass(frozen=True, eq=False)
class Sparse:
    """Each row reads `count` of the offsets that its row of `rows` spans, any of them, whatever the others read."""

    rows: Draws  # of one epoch each, without residues
    count: Ints  # int64[rows], from 1 to the row's length

    def __len__(self) -> int:
        return len(self.count)

    @classmethod
    def empty(cls) -> Sparse:
        """No reads."""
        return cls(Draws.empty(), np.zeros(0, np.int64))

    @classmethod
    def concat(cls, parts: Sequence[Sparse]) -> Sparse:
        """The rows of all parts, in their order."""
        parts = (cls.empty(), *parts)
        return cls(Draws.concat(part.rows for part in parts), np.concatenate([part.count for part in parts]))


class _Cut(NamedTuple):
    """All spaces, cut wherever a read or a cell begins or ends; int64[intervals] each."""

    space: Ints
    start: Ints
    length: Ints
    planned: Ints  # reads of all of it
    seen: Ints


def count_sparse(
    spaces: Spaces, planned: tuple[Draws, Sparse], seen: tuple[Draws, Sparse], rng: np.random.Generator
) -> Ledger:
    """`count`, with reads beside that are known in number and not by their place.

    The ledger does not depend on where such a read lies while nothing else tells its interval's offsets apart; only
    where something does is it drawn how many lie on which side, and how many two of them have in common.

    Args:
        spaces: the orders that were read, of the law "uniform" or "blocks".
        planned: reads of the run without failures, all without residues.
        seen: reads of the lineage, likewise.
        rng: the stream of random numbers; it is left alone where the result is exact.

    Raises:
        ValueError: a read leaves [0, N), has residues, or is of several epochs and does not read them whole.
    """
    sides = [planned[0], seen[0], planned[1].rows, seen[1].rows]
    draws = Draws.concat(sides)
    check(spaces.size, draws)
    if (draws.modulus > 1).any():
        raise ValueError("reads of every n-th offset cannot be counted beside those of some offsets")
    of_side = np.repeat(np.arange(4), [len(side) for side in sides])
    is_planned, count = of_side % 2 == 0, np.full(len(draws), -1)
    count[of_side >= 2] = np.concatenate((planned[1].count, seen[1].count))

    whole = (draws.start == 0) & (draws.stop == spaces.size) & (count < 0)
    even_planned, even_seen = (int(draws.epochs[whole & side].sum()) for side in (is_planned, ~is_planned))
    draws, is_planned, count = draws.select(~whole), is_planned[~whole], count[~whole]
    owner = np.arange(len(draws))
    if in_blocks(spaces):
        owner, draws = in_samples(spaces, draws)
    epoch = np.zeros_like(draws.epoch) if spaces.same_every_epoch else draws.epoch
    _, firsts, space = number((draws.family, epoch))
    cells = cells_of(spaces)
    cut, first, last = _cut(space, draws, is_planned[owner], count[owner] < 0, len(firsts), cells)
    some = np.flatnonzero(count[owner] >= 0)
    interval, side, taken, drawn = _split(rng, owner[some], first[some], last[some], cut.length, count, is_planned)
    (at, more_planned, more_seen), samples, overlaid = _overlaid(rng, cut.length, interval, side, taken)
    more_planned, more_seen = more_planned + cut.planned[at], more_seen + cut.seen[at]
    drawn |= overlaid
    if in_blocks(spaces):
        cell = np.searchsorted(cells, cut.start[at], side="right") - 1
        exact = "distribution" if drawn else "identity"
        return Ledger.of(cell, more_planned + even_planned, more_seen + even_seen, samples, exact)  # type: ignore[arg-type]
    (hand_space, more_planned, more_seen), hands = merge((cut.space[at], more_planned, more_seen), samples)
    table, _ = deal_out(rng, spaces.size, (even_planned, even_seen), (hand_space, more_planned, more_seen), hands)
    drawn |= bool((np.bincount(hand_space) > 1).sum() > 1)
    return Ledger.of(np.zeros_like(table.samples), *table, "distribution" if drawn else "identity")


def _cut(
    space: Ints, draws: Draws, is_planned: np.ndarray, dense: np.ndarray, spaces: int, cells: Ints
) -> tuple[_Cut, Ints, Ints]:
    """The intervals, and for each row the first that it spans and the one after its last."""
    spaces = max(1, spaces)
    every = np.repeat(np.arange(spaces), len(cells))
    at = np.concatenate((draws.start, draws.stop, np.tile(cells, spaces)))
    order, firsts, of = number((np.concatenate((space, space, every)), at))
    point_space = np.concatenate((space, space, every))[order[firsts]]
    point = at[order[firsts]]
    length = np.where(np.diff(point_space, append=-1) == 0, np.diff(point, append=0), 0)
    first, last = of[: len(draws)], of[len(draws) : 2 * len(draws)]

    def depth(rows: np.ndarray) -> Ints:
        changes = np.bincount(first[rows], minlength=len(point)) - np.bincount(last[rows], minlength=len(point))
        total: Ints = np.cumsum(changes)
        return total

    return _Cut(point_space, point, length, depth(is_planned & dense), depth(~is_planned & dense)), first, last


def _split(
    rng: np.random.Generator, owner: Ints, first: Ints, last: Ints, length: Ints, count: Ints, is_planned: np.ndarray
) -> tuple[Ints, np.ndarray, Ints, bool]:
    """How many offsets each row reads of each interval that it spans: the interval, whether planned, how many."""
    parts = last - first
    piece = np.repeat(np.arange(len(owner)), parts)
    interval = np.repeat(first, parts) + np.arange(len(piece)) - np.repeat(np.cumsum(parts) - parts, parts)
    mine = owner[piece]
    filled = length[interval] > 0
    interval, mine = interval[filled], mine[filled]
    order = np.argsort(mine, kind="stable")
    interval, mine = interval[order], mine[order]
    rows, sizes = np.unique(mine, return_counts=True)
    taken = count[mine]
    shared = np.repeat(sizes > 1, sizes)
    if shared.any():
        take = count[rows[sizes > 1]]
        taken[shared] = thin_many(rng, length[interval[shared]], Groups.sized(sizes[sizes > 1]), take)
    some = taken > 0
    return interval[some], is_planned[mine[some]], taken[some], bool(shared.any())


def _overlaid(
    rng: np.random.Generator, length: Ints, interval: Ints, is_planned: np.ndarray, taken: Ints
) -> tuple[tuple[Ints, Ints, Ints], Ints, bool]:
    """Intervals with the reads of some of their offsets: interval, planned and seen reads beside, samples."""
    most_planned = int(np.bincount(interval[is_planned], minlength=1).max())
    most_seen = int(np.bincount(interval[~is_planned], minlength=1).max())
    width = (most_planned + 1) * (most_seen + 1)
    order = np.argsort(interval, kind="stable")
    interval, is_planned, taken = interval[order], is_planned[order], taken[order]
    filled = np.flatnonzero(length > 0)
    columns: list[tuple[Ints, Ints, Ints, Ints]] = []
    drawn = False
    for begin in range(0, max(1, len(filled)), max(1, _MOST_CLASSES // width)):
        mine = filled[begin : begin + max(1, _MOST_CLASSES // width)]
        low, high = np.searchsorted(interval, [mine[0], mine[-1] + 1]) if len(mine) else (0, 0)
        row = np.searchsorted(mine, interval[low:high])
        nth = np.arange(len(row)) - np.searchsorted(row, row)
        table = np.zeros((len(mine), most_planned + 1, most_seen + 1), np.int64)
        table[:, 0, 0] = length[mine]
        for layer in range(int(nth.max(initial=-1)) + 1):
            own = np.flatnonzero(nth == layer)
            at, of_plan, asked = row[own], is_planned[low:high][own], taken[low:high][own]
            if not layer:  # all are alike still
                table[at, 0, 0] -= asked
                table[at, of_plan.astype(np.int64), (~of_plan).astype(np.int64)] += asked
                continue
            drawn = True
            classes = table[at, :, : layer + 1]  # nobody has had more yet
            groups = Groups.sized(np.full(len(at), classes[0].size))
            out = thin_many(rng, classes.ravel(), groups, asked).reshape(classes.shape)
            table[at, :, : layer + 1] = classes - out
            table[at[of_plan], 1:, : layer + 1] += out[of_plan, :-1]
            table[at[~of_plan], :, 1 : layer + 2] += out[~of_plan, :, :most_seen]
        place, more_planned, more_seen = np.nonzero(table)
        columns.append((mine[place], more_planned, more_seen, table[place, more_planned, more_seen]))
    at, more_planned, more_seen, samples = (np.concatenate(column) for column in zip(*columns, strict=True))
    return (at, more_planned, more_seen), samples, drawn
