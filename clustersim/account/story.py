"""One sample's story: the steps that read it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clustersim.account.draws import Draws, Ints
from clustersim.account.spaces import Spaces, YieldingSpaces, yields


class Story(NamedTuple):
    """Every read of one sample, in row order and then by epoch; int64 arrays of one length."""

    row: Ints
    epoch: Ints
    offset: Ints
    step: Ints


def story(spaces: Spaces, draws: Draws, sample: int, limit: int = 10_000) -> Story:
    """Find every read of a sample, in time proportional to rows and reads.

    Args:
        spaces: the orders that were read.
        draws: the reads to look through.
        sample: in [0, N).
        limit: the most reads to list.

    Raises:
        ValueError: there is no such sample, or it has more reads than the limit.
    """
    if not 0 <= sample < spaces.size:
        raise ValueError(f"no sample {sample}: they are numbered 0 to {spaces.size - 1}")
    if yields(spaces):
        return _of_yielded(spaces, draws, sample, limit)
    offset = spaces.offset_of(draws.family, draws.epoch, sample)
    # A row of several epochs reads each whole, so the sample is in all of them or, in a row of one, perhaps in none.
    residue = offset % draws.modulus
    inside = (draws.start <= offset) & (offset < draws.stop) & (draws.low <= residue) & (residue < draws.high)
    reads = np.where(inside, draws.epochs, 0)
    total = sum(reads.tolist())
    _check(sample, total, limit)
    row = np.repeat(np.arange(len(draws)), reads)
    later = np.arange(total) - np.repeat(np.cumsum(reads) - reads, reads)  # epochs after the row's first
    epoch = draws.epoch[row] + later
    offset = spaces.offset_of(draws.family[row], epoch, sample)
    into = draws.lead[row] + later * spaces.size + offset - draws.start[row]
    return Story(row, epoch, offset, draws.step[row] + draws.every[row] * (into // draws.per_step[row]))


def _of_yielded(spaces: YieldingSpaces, draws: Draws, sample: int, limit: int) -> Story:
    """The story of a sample that a row may read more than once."""
    offsets = []
    for family, start, stop in zip(draws.family.tolist(), draws.start.tolist(), draws.stop.tolist(), strict=True):
        found = spaces.offsets_of(family, sample, stop)
        offsets.append(found[found >= start])
    row = np.repeat(np.arange(len(draws)), [len(found) for found in offsets])
    _check(sample, len(row), limit)
    offset = np.concatenate([np.zeros(0, np.int64), *offsets])
    into = draws.lead[row] + offset - draws.start[row]
    return Story(row, draws.epoch[row], offset, draws.step[row] + draws.every[row] * (into // draws.per_step[row]))


def _check(sample: int, reads: int, limit: int) -> None:
    if reads > limit:
        raise ValueError(f"sample {sample} is read {reads} times, more than the limit of {limit}")
