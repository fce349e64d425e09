"""Counts under orders that permute blocks: exact, since the blocks' order is computed for real."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from clustersim.account.draws import Ints
from clustersim.account.rows import in_order
from clustersim.account.spaces import BlockSpaces
from clustersim.account.sweep import Pieces

Change = tuple[Ints, Ints, Ints, Ints]
"""Where views change inside blocks: block, samples into it, planned and seen views more; int64[changes] each."""


def count_blocks(spaces: BlockSpaces, pieces: Pieces) -> tuple[Ints, Ints, Ints, Ints]:
    """Rows block, planned, seen, samples (int64[rows] each), at a cost of K for each unevenly read space.

    A block carries what its first sample has had, and a change wherever a piece begins inside it.
    """
    block_starts = spaces.block_starts
    blocks = len(block_starts) - 1
    base_planned = np.full(blocks, pieces.planned)
    base_seen = np.full(blocks, pieces.seen)
    changes: list[Change] = []

    for k, (low, high) in enumerate(pairwise(pieces.bounds.tolist())):
        start = pieces.start[low:high]
        planned, seen = pieces.piece_planned[low:high], pieces.piece_seen[low:high]
        order, begins = layout(spaces, int(pieces.family[k]), int(pieces.epoch[k]))
        first = np.searchsorted(begins[:-1], start)  # the first block that begins in the piece or after it
        led = np.diff(first, append=blocks)  # blocks that begin in the piece
        base_planned[order] += np.repeat(planned, led)
        base_seen[order] += np.repeat(seen, led)

        inside = np.flatnonzero(begins[first] != start)
        place = first[inside] - 1
        into = start[inside] - begins[place]
        changes.append((order[place], into, planned[inside] - planned[inside - 1], seen[inside] - seen[inside - 1]))
    return settled(np.diff(block_starts), base_planned, base_seen, changes)


def settled(sizes: Ints, planned: Ints, seen: Ints, changes: Sequence[Change]) -> tuple[Ints, Ints, Ints, Ints]:
    """Rows block, planned, seen, samples (int64[rows] each) of blocks whose views change inside them.

    Args:
        sizes: samples of each block, int64[blocks].
        planned: what the first sample of each has had, int64[blocks].
        seen: the same.
        changes: where that changes.
    """
    zero = np.zeros_like(sizes)
    columns = zip((np.arange(len(sizes)), zero, zero, zero), *changes, strict=True)
    block, into, more_planned, more_seen = in_order(tuple(np.concatenate(column) for column in columns))
    is_first = np.diff(block, prepend=-1) != 0

    def since_block_start(change: Ints) -> Ints:
        running: Ints = np.cumsum(change)
        before: Ints = (running - change)[is_first][block]
        return running - before

    until = np.where(np.append(is_first[1:], True), sizes[block], np.append(into[1:], 0))
    views = planned[block] + since_block_start(more_planned), seen[block] + since_block_start(more_seen)
    return block, *views, until - into


def layout(spaces: BlockSpaces, family: int, epoch: int) -> tuple[Ints, Ints]:
    """The blocks in the order of an epoch, int64[K], and the offsets at which they begin, int64[K + 1] with N last."""
    order = spaces.block_order(family, epoch)
    return order, np.concatenate(([0], np.cumsum(np.diff(spaces.block_starts)[order])))
