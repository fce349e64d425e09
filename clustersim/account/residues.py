"""Reads of every n-th offset, as plain reads of the same law.

Under a uniform permutation any fixed relabelling of an epoch's offsets keeps the law. So an epoch is cut where a read
begins or ends, the offsets of each cut are sorted by which rows read them, and those of one kind are laid out side by
side: every row then reads whole intervals.
"""

from __future__ import annotations

from dataclasses import replace
from math import lcm

import numpy as np

from clustersim.account.draws import Draws, Ints

MOST = 1 << 24
"""Offsets that are gone through one by one to sort those of one cut."""


def flatten(planned: Draws, seen: Draws, same_every_epoch: bool, steps: Ints | None = None) -> tuple[Draws, Draws]:
    """Planned and seen reads without moduli, of the same law; the same objects where there are none.

    Args:
        planned: reads of the run without failures.
        seen: reads of the lineage.
        same_every_epoch: whether an order reads every epoch alike.
        steps: planned reads can be cut before these steps, and still are of the same law then.

    Raises:
        ValueError: rows of so many moduli overlap that their offsets cannot be sorted.
    """
    if not any((draws.modulus > 1).any() for draws in (planned, seen)):
        return planned, seen
    both = Draws.concat((planned, seen))
    epoch = np.zeros_like(both.epoch) if same_every_epoch else both.epoch
    ragged = both.modulus > 1
    parts: list[list[Draws]] = [[planned.select(~ragged[: len(planned)])], [seen.select(~ragged[len(planned) :])]]
    for family, one_epoch in np.unique(np.stack([both.family[ragged], epoch[ragged]]), axis=1).T.tolist():
        inside = (both.family == family) & (epoch == one_epoch) & (both.epochs == 1)
        rows = np.flatnonzero(inside)
        cuts = [both.start[rows], both.stop[rows]]
        if steps is not None:
            cuts.append(_cut_at(both.select(rows[rows < len(planned)]), steps))
        bounds = np.unique(np.concatenate(cuts))
        moduli = rows[ragged[rows]]
        pieces = _sorted(both.select(moduli), bounds)
        for side, of_side in enumerate((moduli < len(planned), moduli >= len(planned))):
            parts[side] += [pieces[i] for i in np.flatnonzero(of_side).tolist()]
    return Draws.concat(parts[0]), Draws.concat(parts[1])


def _cut_at(rows: Draws, steps: Ints) -> Ints:
    """The offsets before which steps begin, within the rows."""
    turns = -(-(steps[:, None] - rows.step) // rows.every)
    offsets = rows.start + turns * rows.per_step - rows.lead
    return offsets[(offsets > rows.start) & (offsets < rows.stop)]


def _sorted(rows: Draws, bounds: Ints) -> list[Draws]:
    """For each row of one epoch the plain rows that stand for it; `bounds`: where the epoch is cut."""
    found: list[list[tuple[int, int]]] = [[] for _ in range(len(rows))]
    for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        here = np.flatnonzero((rows.start <= low) & (high <= rows.stop))
        if not len(here):
            continue
        counts = _kinds(low, high, rows, here)
        begin = low
        for kind, count in counts:
            for bit, row in enumerate(here.tolist()):
                if kind >> bit & 1:
                    found[row].append((begin, begin + count))
            begin += count
    return [_as_rows(rows, row, pieces) for row, pieces in enumerate(found)]


def _kinds(low: int, high: int, rows: Draws, here: Ints) -> list[tuple[int, int]]:
    """The kinds of offsets of [low, high): a bit for each row that reads them, and how many there are."""
    period = lcm(*rows.modulus[here].tolist())
    length = min(period, high - low)
    if length > MOST or len(here) > 60:
        raise ValueError(f"{len(here)} groups of ranks read by strides that repeat after {period} samples: too many")
    whole, rest = divmod(high - low, length)
    offsets = np.arange(low, low + length, dtype=np.int64)
    kind = np.zeros(length, np.int64)
    for bit, row in enumerate(here.tolist()):
        residue = offsets % rows.modulus[row]
        kind |= ((rows.low[row] <= residue) & (residue < rows.high[row])).astype(np.int64) << bit
    kinds, first = np.unique(kind, return_inverse=True)
    counts = np.bincount(first, minlength=len(kinds)) * whole + np.bincount(first[:rest], minlength=len(kinds))
    return [(k, c) for k, c in zip(kinds.tolist(), counts.tolist(), strict=True) if c]


def _as_rows(rows: Draws, row: int, pieces: list[tuple[int, int]]) -> Draws:
    """A row's pieces; each is read from the step on that reads its place in the row."""
    merged: list[tuple[int, int]] = []
    for start, stop in pieces:
        if merged and merged[-1][1] == start:
            merged[-1] = (merged[-1][0], stop)
        else:
            merged.append((start, stop))
    repeated = rows.select(np.full(len(merged), row))
    starts, stops = np.array(merged, dtype=np.int64).reshape(-1, 2).T.copy()
    tick = repeated.lead + starts - repeated.start
    one, zero = np.ones_like(starts), np.zeros_like(starts)
    step = repeated.step + repeated.every * (tick // repeated.per_step)
    lead = tick % repeated.per_step
    return replace(
        repeated, start=starts, stop=stops, step=step, lead=lead, modulus=one, low=zero, high=one
    )
