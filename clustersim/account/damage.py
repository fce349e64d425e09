"""Extra and missing views up to each of many steps."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from clustersim.account.cuts import Cuts, cut_reads
from clustersim.account.draws import Draws, Ints
from clustersim.account.overlay import overlay
from clustersim.account.replay import replay
from clustersim.account.residues import in_samples, plain
from clustersim.account.spaces import BlockSpaces, Spaces, in_blocks
from clustersim.account.sweep import sweep


class Damage(NamedTuple):
    """Damage before each step that was asked for; `exact` as in a ledger, for all of them together."""

    extra: Ints  # int64[steps], views beyond the planned ones so far
    missing: Ints  # int64[steps], planned views that did not happen so far
    exact: Literal["identity", "distribution"]


def damage(spaces: Spaces, planned: Draws, seen: Draws, steps: Ints, rng: np.random.Generator) -> Damage:
    """What the reads before each step did, against the plan up to that step.

    The last entry is the damage of `count(spaces, planned, seen, rng)` with an equal rng. Where the result is a draw
    from the law of the permutations ("distribution"), each entry by itself follows its exact law, and each comes from
    the one before by reads alone. How two entries vary together may differ from real permutations: what is remembered
    of a sample is what it was read and what is yet to come, not where between two reads of its past it stood. (To
    remember that costs a factor for each epoch that the lineage lags behind its plan.) Identity mode is exact.

    Args:
        spaces: the orders that were read.
        planned: reads of the run without failures.
        seen: reads of the lineage.
        steps: int64[steps], never falling; entry j counts the reads in steps before `steps[j]`. The last step must
            lie beyond every read.
        rng: the stream of random numbers; it is left alone where the result is exact.

    Raises:
        ValueError: steps fall, a read comes after the last of them, or the reads are not sound.
    """
    spaces, planned, seen = plain(spaces, planned, seen, steps)
    cuts = cut_reads(spaces, planned, seen, steps)
    if cuts.as_planned:
        return Damage(np.zeros_like(steps), np.zeros_like(steps), "identity")
    if in_blocks(spaces):
        return _damage_blocks(spaces, cuts)
    pieces = sweep(spaces, planned, seen)
    _, overlays = overlay(rng, pieces)
    extra, missing, exact = replay(rng, pieces, overlays, cuts)
    return Damage(extra, missing, "identity" if exact else "distribution")


def damage_identity(spaces: Spaces, planned: Draws, seen: Draws, steps: Ints) -> Damage:
    """`damage` from a count of each sample under the actual orders, for runs small enough to hold N integers.

    Args:
        spaces: the orders that were read.
        planned: reads of the run without failures.
        seen: reads of the lineage.
        steps: int64[steps], as in `damage`.

    Raises:
        ValueError: as in `damage`.
    """
    cuts = cut_reads(spaces, planned, seen, steps)
    surplus = np.zeros(spaces.size, np.int64)
    extra, missing = np.zeros_like(steps), np.zeros_like(steps)
    extra_now = balance = 0  # views beyond the planned ones; all views less all planned ones
    for cut, reads in _by_cut(cuts):
        shift = int(cuts.even_seen[cut] - cuts.even_planned[cut])
        if shift:
            surplus += shift
            balance += shift * spaces.size
            extra_now = int(np.maximum(surplus, 0).sum())
        for read in reads:
            family, epoch = int(cuts.family[read]), int(cuts.epoch[read])
            samples, times = np.unique(spaces.samples_at(family, epoch, cuts.offsets(read)), return_counts=True)
            change = -times if cuts.is_planned[read] else times
            before = surplus[samples]
            surplus[samples] = before + change
            extra_now += int((np.maximum(before + change, 0) - np.maximum(before, 0)).sum())
            balance += int(change.sum())
        extra[cut], missing[cut] = extra_now, extra_now - balance
    return Damage(extra, missing, "identity")


def _damage_blocks(spaces: BlockSpaces, cuts: Cuts) -> Damage:
    """Damage under orders that permute blocks, on intervals of samples that no read divides."""
    one, zero = np.ones_like(cuts.start), np.zeros_like(cuts.start)
    row, reads = in_samples(spaces, Draws(cuts.family, cuts.epoch, one, cuts.start, cuts.stop, zero, zero, one))
    bounds = np.unique(np.concatenate(([0], reads.start, reads.stop)))
    extra, missing = damage_on_intervals(
        np.diff(bounds, append=spaces.size),
        np.searchsorted(bounds, reads.start),
        np.searchsorted(bounds, reads.stop),
        np.where(cuts.is_planned[row], -1, 1),
        cuts.cut[row],
        cuts.even_seen - cuts.even_planned,
    )
    return Damage(extra, missing, "identity")


def damage_on_intervals(
    samples: Ints, first: Ints, last: Ints, views: Ints, cut: Ints, evenly: Ints
) -> tuple[Ints, Ints]:
    """Extra and missing views before each cut, int64[cuts] each.

    Args:
        samples: that lie in each interval, int64[intervals].
        first: the first interval that each read reads, int64[reads].
        last: the first that it does not read any more, int64[reads].
        views: 1 for a read of the lineage, -1 for a planned one, int64[reads].
        cut: before which each read is read, int64[reads].
        evenly: views of all samples between each cut and the one before, less the planned ones, int64[cuts].
    """
    order = np.argsort(cut, kind="stable")
    bounds = np.searchsorted(cut[order], np.arange(len(evenly) + 1)).tolist()
    surplus = np.zeros_like(samples)
    extra, missing = np.zeros_like(evenly), np.zeros_like(evenly)
    for now, (low, high) in enumerate(pairwise(bounds)):
        mine = order[low:high]
        change = np.zeros(len(samples) + 1, np.int64)
        np.add.at(change, first[mine], views[mine])
        np.subtract.at(change, last[mine], views[mine])
        surplus += np.cumsum(change[:-1]) + evenly[now]
        extra[now] = (samples * np.maximum(surplus, 0)).sum()
        missing[now] = (samples * np.maximum(-surplus, 0)).sum()
    return extra, missing


def _by_cut(cuts: Cuts) -> Iterator[tuple[int, range]]:
    """Each cut with the reads before it."""
    bounds: npt.NDArray[np.intp] = np.searchsorted(cuts.cut, np.arange(len(cuts.even_seen) + 1))
    for cut in range(len(cuts.even_seen)):
        yield cut, range(int(bounds[cut]), int(bounds[cut + 1]))
