"""From reads to pieces: how often each stretch of each unevenly read space was planned and seen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from clustersim.account.draws import Draws, Ints
from clustersim.account.rows import number
from clustersim.account.spaces import Orders


@dataclass(frozen=True, eq=False)
class Pieces:
    """The spaces (family, epoch) whose offsets were not all read alike, cut where the reads change.

    Spaces stand in the order of the first step that touched them. The pieces of space k are the rows
    `bounds[k]`:`bounds[k + 1]`; they tile [0, size) in offset order, and neighbours differ.
    """

    size: int
    planned: int  # views that every sample has besides, from spaces that were read evenly
    seen: int
    family: Ints  # int64[spaces]
    epoch: Ints  # int64[spaces]
    bounds: Ints  # int64[spaces + 1]
    start: Ints  # int64[pieces], and so are the next three
    stop: Ints
    piece_planned: Ints
    piece_seen: Ints


def sweep(spaces: Orders, planned: Draws, seen: Draws) -> Pieces:
    """Sweep the interval ends of all spaces at once.

    Args:
        spaces: the orders that were read.
        planned: reads of the run without failures.
        seen: reads of the lineage.

    Raises:
        ValueError: a read leaves [0, N), or a row of several epochs does not read them whole.
    """
    size = spaces.size
    draws, is_planned = both_sides(size, planned, seen)
    if (draws.modulus > 1).any():
        raise ValueError("a read of every n-th offset has to be told by plain ones")
    whole = (draws.start == 0) & (draws.stop == size)
    even_planned = sum(draws.epochs[whole & is_planned].tolist())
    even_seen = sum(draws.epochs[whole & ~is_planned].tolist())

    parts, is_planned = draws.select(~whole), is_planned[~whole]
    if spaces.same_every_epoch:
        parts = replace(parts, epoch=np.zeros_like(parts.epoch))
    family, epoch, space = number_spaces(parts)
    uneven_spaces = len(family)
    # Two events a read, and two without weight a space, so that the pieces reach from 0 to N.
    each, zero = np.arange(uneven_spaces), np.zeros(uneven_spaces, np.int64)
    event_space = np.concatenate((space, space, each, each))
    at = np.concatenate((parts.start, parts.stop, zero, zero + size))
    order = np.lexsort((at, event_space))
    event_space, at = event_space[order], at[order]

    def depth(weight: npt.NDArray[np.bool_]) -> Ints:
        weight_int = weight.astype(np.int64)
        return np.cumsum(np.concatenate((weight_int, -weight_int, zero, zero))[order])

    depth_planned, depth_seen = depth(is_planned), depth(~is_planned)
    last = np.flatnonzero((at[:-1] != at[1:]) & (event_space[:-1] == event_space[1:]))  # the last event at an offset
    event_space, at = event_space[last], at[last]
    depth_planned, depth_seen = depth_planned[last], depth_seen[last]

    differs = np.ones(len(at), bool)
    differs[1:] = np.diff(event_space) != 0
    differs[1:] |= (np.diff(depth_planned) != 0) | (np.diff(depth_seen) != 0)
    event_space, at = event_space[differs], at[differs]
    depth_planned, depth_seen = depth_planned[differs], depth_seen[differs]

    pieces = np.bincount(event_space, minlength=uneven_spaces)
    uneven = pieces > 1
    kept = uneven[event_space]
    even_planned += sum(depth_planned[~kept].tolist())
    even_seen += sum(depth_seen[~kept].tolist())
    start = at[kept]
    stop = np.append(start[1:], size)
    stop[stop == 0] = size
    return Pieces(
        size,
        even_planned,
        even_seen,
        family[uneven],
        epoch[uneven],
        np.concatenate(([0], np.cumsum(pieces[uneven]))),
        start,
        stop,
        depth_planned[kept],
        depth_seen[kept],
    )


def both_sides(size: int, planned: Draws, seen: Draws) -> tuple[Draws, npt.NDArray[np.bool_]]:
    """Planned and seen reads after each other, and which rows are planned.

    Raises:
        ValueError: a read leaves [0, N), or a row of several epochs does not read them whole.
    """
    draws = Draws.concat((planned, seen))
    check(size, draws)
    return draws, np.arange(len(draws)) < len(planned)


def check(size: int, draws: Draws) -> None:
    """Refuse reads that an order of `size` samples does not have.

    Raises:
        ValueError: a read leaves [0, N), or a row of several epochs does not read them whole.
    """
    if (draws.stop > size).any():
        raise ValueError(f"a read stops at offset {int(draws.stop.max())}, and an epoch has {size} samples")
    if ((draws.epochs > 1) & ((draws.start > 0) | (draws.stop < size))).any():
        raise ValueError("a row of several epochs must read them whole")


def number_spaces(draws: Draws) -> tuple[Ints, Ints, Ints]:
    """The spaces that rows of one epoch touch, in the order of the first step that touches them.

    Returns:
        family and epoch of each space, int64[spaces], and the number of the space of each row, int64[rows].
    """
    order, starts, of = number((draws.family, draws.epoch))
    family, epoch = draws.family[order[starts]], draws.epoch[order[starts]]
    by_step = np.lexsort((epoch, family, np.minimum.reduceat(draws.step[order], starts)))
    rank = np.empty_like(by_step)
    rank[by_step] = np.arange(len(by_step))
    return family[by_step], epoch[by_step], rank[of]
