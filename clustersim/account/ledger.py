"""The ledger: how many samples were planned p times and seen s times."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from clustersim.account.draws import Ints
from clustersim.account.rows import merge

Exact = Literal["identity", "distribution"]


class Table(NamedTuple):
    """A ledger without its cells; int64 arrays of one length, sorted by (planned, seen), samples > 0."""

    planned: Ints
    seen: Ints
    samples: Ints


class ByCell(NamedTuple):
    """Damage of each cell that holds samples; int64 arrays, one entry a cell."""

    cell: Ints
    samples: Ints
    planned_views: Ints
    views: Ints
    extra: Ints
    missing: Ints
    never: Ints


@dataclass(frozen=True, eq=False)
class Ledger:
    """`samples` samples of a cell were planned `planned` times and seen `seen` times; int64 arrays of one length.

    Rows are sorted by (cell, planned, seen), each once, with samples > 0; those of all cells sum to N. A cell is a
    block where orders permute blocks; elsewhere there is one cell, 0.

    `exact` says what the rows are: under "identity" they equal a count of each sample, whatever the orders are;
    under "distribution" they are one draw from the law of the orders.

    Cells that were read alike may share the rows of one of them, which `like` names: `spread` gives each its own.
    """

    cell: Ints
    planned: Ints
    seen: Ints
    samples: Ints
    exact: Exact
    like: Ints | None = None  # int64[cells], the cell whose rows hold for each; -1: empty; None: every cell has its own

    @classmethod
    def of(
        cls,
        cell: Ints,
        planned: Ints,
        seen: Ints,
        samples: Ints,
        exact: Exact,
        like: Ints | None = None,
    ) -> Ledger:
        """The ledger of rows in any order, which may repeat or be empty."""
        (cell, planned, seen), samples = merge((cell, planned, seen), samples)
        return cls(cell, planned, seen, samples, exact, like)

    @classmethod
    def concat(cls, parts: Sequence[Ledger]) -> Ledger:
        """The ledgers of several corpora, a cell for each; that of one, as it is."""
        if len(parts) == 1:
            return parts[0]
        tables = [part.table for part in parts]
        cell = np.repeat(np.arange(len(parts)), [len(table.samples) for table in tables])
        exact: Exact = "identity" if all(part.exact == "identity" for part in parts) else "distribution"
        planned, seen, samples = (np.concatenate(column) for column in zip(*tables, strict=True))
        return cls.of(cell, planned, seen, samples, exact)

    @cached_property
    def table(self) -> Table:
        """All cells together."""
        samples = self.samples
        if self.like is not None:
            samples = samples * np.bincount(self.like[self.like >= 0])[self.cell]
        (planned, seen), samples = merge((self.planned, self.seen), samples)
        return Table(planned, seen, samples)

    def spread(self) -> Ledger:
        """The same with rows of its own for every cell."""
        if self.like is None:
            return self
        cell, first, rows = self._cells()
        row = np.repeat(first - np.cumsum(rows) + rows, rows) + np.arange(int(rows.sum()))
        return Ledger(np.repeat(cell, rows), self.planned[row], self.seen[row], self.samples[row], self.exact)

    def _cells(self) -> tuple[Ints, Ints, Ints]:
        """Each cell that holds samples, the first of the rows that hold for it, and how many: int64[cells] each."""
        starts = np.flatnonzero(np.diff(self.cell, prepend=-1))
        rows = np.diff(starts, append=len(self.cell))
        if self.like is None:
            return self.cell[starts], starts, rows
        cell = np.flatnonzero(self.like >= 0)
        group = np.searchsorted(self.cell[starts], self.like[cell])
        return cell, starts[group], rows[group]

    @property
    def digest(self) -> str:
        """SHA-256 (hexadecimal) of its rows and of what they are exact in."""
        digest, rows = hashlib.sha256(self.exact.encode()), self.spread()
        for column in (rows.cell, rows.planned, rows.seen, rows.samples):
            digest.update(column.astype("<i8").tobytes())
        return digest.hexdigest()

    def by_cell(self) -> ByCell:
        """The figures of each cell."""
        cell, first, _ = self._cells()
        starts = np.flatnonzero(np.diff(self.cell, prepend=-1))
        group = np.searchsorted(starts, first)
        surplus = self.seen - self.planned
        per_row = (
            self.samples,
            self.samples * self.planned,
            self.samples * self.seen,
            self.samples * np.maximum(surplus, 0),
            self.samples * np.maximum(-surplus, 0),
            self.samples * ((self.planned > 0) & (self.seen == 0)),
        )
        return ByCell(cell, *(np.add.reduceat(figure, starts)[group] for figure in per_row))

    @cached_property
    def extra(self) -> int:
        """Views beyond the planned ones, summed over samples."""
        return sum(n * max(0, s - p) for p, s, n in self._rows())

    @cached_property
    def missing(self) -> int:
        """Planned views that did not happen, summed over samples."""
        return sum(n * max(0, p - s) for p, s, n in self._rows())

    @cached_property
    def never(self) -> int:
        """Samples that were planned and never seen."""
        return sum(n for p, s, n in self._rows() if p > 0 and s == 0)

    @cached_property
    def views(self) -> int:
        """Σ samples · seen."""
        return sum(n * s for _, s, n in self._rows())

    @cached_property
    def planned_views(self) -> int:
        """Σ samples · planned."""
        return sum(n * p for p, _, n in self._rows())

    def _rows(self) -> list[tuple[int, int, int]]:
        planned, seen, samples = (column.tolist() for column in self.table)
        return list(zip(planned, seen, samples, strict=True))
