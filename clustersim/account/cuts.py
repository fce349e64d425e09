"""Reads cut at steps, so that what was read up to a step can be counted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clustersim.account.draws import Draws, Ints, offsets_of
from clustersim.account.spaces import Spaces, reach_of
from clustersim.account.sweep import both_sides


class Cuts(NamedTuple):
    """Reads between one cut and the next: whole epochs as a number, the others one by one, sorted by cut and space."""

    even_planned: Ints  # int64[cuts], whole epochs read since the cut before
    even_seen: Ints  # int64[cuts]
    cut: Ints  # int64[reads], the cut that the read comes before
    family: Ints  # int64[reads]
    epoch: Ints  # int64[reads]
    start: Ints  # int64[reads]
    stop: Ints  # int64[reads]
    modulus: Ints  # int64[reads], and so are low and high: which of the offsets are read, as in Draws
    low: Ints
    high: Ints
    is_planned: npt.NDArray[np.bool_]  # [reads]

    def offsets(self, read: int) -> Ints:
        """The offsets of one read, int64[reads]."""
        return offsets_of(*(int(column[read]) for column in (self.start, self.stop, self.modulus, self.low, self.high)))

    @property
    def as_planned(self) -> bool:
        """Whether between any two cuts the lineage reads what is planned there, in the same pieces."""
        if not np.array_equal(self.even_planned, self.even_seen):
            return False
        of_reads = (self.cut, self.family, self.epoch, self.start, self.stop, self.modulus, self.low, self.high)
        return all(np.array_equal(column[self.is_planned], column[~self.is_planned]) for column in of_reads)


def cut_reads(spaces: Spaces, planned: Draws, seen: Draws, steps: Ints) -> Cuts:
    """Cut reads so that no read and no epoch that counts as whole reaches over a cut.

    Args:
        spaces: the orders that were read.
        planned: reads of the run without failures.
        seen: reads of the lineage.
        steps: int64[cuts], never falling; cut j comes before step `steps[j]`.

    Raises:
        ValueError: steps fall, a read comes after the last cut, or the reads are not sound.
    """
    size = reach_of(spaces)
    draws, is_planned = both_sides(size, planned, seen)
    row, cut, before, read = at_cuts(draws, steps)
    # Offsets counted from the row's first epoch, so that epoch i lies in [i·N, (i + 1)·N).
    begin, end = draws.start[row] + before, draws.start[row] + read
    first, last = begin // size, (end - 1) // size

    even = np.maximum(last - first - 1, 0)
    tail = last > first
    pieces = [
        (cut, row, first, begin - first * size, np.minimum(end - first * size, size)),
        (cut[tail], row[tail], last[tail], np.zeros(tail.sum(), np.int64), (end - last * size)[tail]),
    ]
    piece_cut, piece_row, later, start, stop = (np.concatenate(column) for column in zip(*pieces, strict=True))
    whole = (start == 0) & (stop == size) & (draws.modulus[piece_row] == 1)
    if spaces.law == "other":
        whole &= draws.epochs[piece_row] > 1
    evens = np.zeros((2, len(steps)), np.int64)
    np.add.at(evens, (is_planned[row].astype(np.int64), cut), even)
    np.add.at(evens, (is_planned[piece_row[whole]].astype(np.int64), piece_cut[whole]), 1)

    piece_cut, piece_row, later, start, stop = (column[~whole] for column in (piece_cut, piece_row, later, start, stop))
    family, epoch = draws.family[piece_row], draws.epoch[piece_row] + later
    if spaces.same_every_epoch:
        epoch = np.zeros_like(epoch)
    order = np.lexsort((start, epoch, family, piece_cut))
    residues = (draws.modulus[piece_row], draws.low[piece_row], draws.high[piece_row])
    columns = (piece_cut, family, epoch, start, stop, *residues, is_planned[piece_row])
    return Cuts(evens[1], evens[0], *(column[order] for column in columns))


def at_cuts(draws: Draws, steps: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Rows cut at steps, in pieces that are not empty.

    Args:
        draws: the rows.
        steps: int64[cuts], never falling.

    Returns:
        the row of each piece, the cut that it comes before, and the offsets of the row that are passed before and
        after it; int64[pieces] each.

    Raises:
        ValueError: steps fall, or a read comes after the last cut.
    """
    if (np.diff(steps) < 0).any():
        raise ValueError("the steps of the cuts must not fall")
    length = draws.epochs * (draws.stop - draws.start)
    all_turns = (draws.lead + length - 1) // draws.per_step + 1
    last_step = draws.step + draws.every * (all_turns - 1)
    low = np.searchsorted(steps, draws.step, side="right")  # the first cut with some of the row before it
    high = np.searchsorted(steps, last_step, side="right")  # the first cut with all of it before it
    if (high == len(steps)).any():
        raise ValueError(f"step {int(last_step.max())} is read, and the last cut is before {steps[-1:].tolist()}")

    parts = high - low + 1
    row = np.repeat(np.arange(len(draws)), parts)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(parts) - parts, parts)
    cut = low[row] + nth
    turns = -(-(steps[cut] - draws.step[row]) // draws.every[row])  # in which the row's readers read before the cut
    turns = np.minimum(turns, all_turns[row])  # of a cut far behind them all, offsets would pass 2^63
    read = np.minimum(turns * draws.per_step[row] - draws.lead[row], length[row])
    before = np.where(nth == 0, 0, np.concatenate(([0], read))[: len(read)])
    some = read > before
    return row[some], cut[some], before[some], read[some]
