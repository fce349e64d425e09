"""Samples that are followed by name, beside all others, which are counted by the law of the orders.

Who takes a sample out of one epoch after another knows where each order has it. Given that, the others lie in the
places that are left in an order as uniform as before, and independent of the other orders.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from clustersim.account.draws import Draws, Ints
from clustersim.account.ledger import Ledger
from clustersim.account.overlay import overlay
from clustersim.account.rows import number
from clustersim.account.spaces import Spaces
from clustersim.account.sweep import check, sweep


class _Others(NamedTuple):
    """The orders of the samples that are not followed."""

    size: int
    same_every_epoch: bool


def count_apart(spaces: Spaces, planned: Draws, seen: Draws, samples: Ints, rng: np.random.Generator) -> Ledger:
    """`count` with some samples that are counted as they are, whatever the reads have to do with where they lie.

    Args:
        spaces: the orders that were read, of the law "uniform".
        planned: reads of the run without failures, all without residues.
        seen: reads of the lineage, likewise.
        samples: int64[samples], each once, not all that there are.
        rng: the stream of random numbers; it is left alone where the result is exact.

    Raises:
        ValueError: a read leaves [0, N), has residues, or is of several epochs and does not read them whole.
    """
    in_plan, planned = _followed(spaces, planned, samples)
    in_lineage, seen = _followed(spaces, seen, samples)
    pieces = sweep(_Others(spaces.size - len(samples), spaces.same_every_epoch), planned, seen)
    table, _ = overlay(rng, pieces)
    columns = zip((in_plan, in_lineage, np.ones_like(samples)), table, strict=True)
    planned_views, seen_views, count = (np.concatenate(column) for column in columns)
    exact = "identity" if len(pieces.family) <= 1 else "distribution"
    return Ledger.of(np.zeros_like(count), planned_views, seen_views, count, exact)  # type: ignore[arg-type]


def _followed(spaces: Spaces, draws: Draws, samples: Ints) -> tuple[Ints, Draws]:
    """How often each sample is read, int64[samples], and the reads of the others, by their place among themselves."""
    check(spaces.size, draws)
    if (draws.modulus > 1).any():
        raise ValueError("reads of every n-th offset cannot be counted beside samples that are followed")
    epoch = np.zeros_like(draws.epoch) if spaces.same_every_epoch else draws.epoch
    order, firsts, _ = number((draws.family, epoch))
    family, epoch = draws.family[order[firsts]], epoch[order[firsts]]
    places = [spaces.offset_of(family, epoch, sample) for sample in samples.tolist()]
    views, start, stop = np.zeros_like(samples), draws.start.copy(), draws.stop.copy()
    for space, (first, last) in enumerate(pairwise([*firsts.tolist(), len(order)])):
        rows = order[first:last]
        place = np.array([offsets[space] for offsets in places])
        by_place = np.argsort(place)
        low, high = (np.searchsorted(place[by_place], offsets[rows]) for offsets in (draws.start, draws.stop))
        change = np.zeros(len(samples) + 1, np.int64)
        np.add.at(change, low, draws.epochs[rows])
        np.subtract.at(change, high, draws.epochs[rows])
        views[by_place] += np.cumsum(change[:-1])
        start[rows] -= low
        stop[rows] -= high
    some = start < stop
    return views, replace(draws.select(some), start=start[some], stop=stop[some])
