"""The rows of a sweep as they come in, from whatever worker in whatever order, and the two tables that they make."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustersim.study.work import Row

_HEAD = ["point", "replication", "seed", "outcome", "reason", "exact"]
_KEYS = ["point", "replication"]
# So many rows are turned into a frame at once: rows take ten times the memory.
_CHUNK = 1000


class Gathered:
    """Rows of finished replications, each (point, replication) once. Its tables depend on the rows alone."""

    def __init__(self, figure: str | None = None) -> None:
        """Start with none.

        Args:
            figure: the figure whose values `values` gives.
        """
        self._figure = figure
        self._of_figure: dict[int, dict[int, float]] = {}
        self._rows: list[Row] = []
        self._tables: list[pd.DataFrame] = []
        self._ledgers: list[pd.DataFrame] = []
        # The columns of all rows, in their orders: more than one only where points have different figures.
        self._orders: dict[tuple[str, ...], None] = {}
        self.count = 0
        """How many rows there are."""

    def load(self, table: pd.DataFrame, ledger: pd.DataFrame) -> None:
        """Take in tables that an earlier sweep made."""
        self._tables.append(table)
        self._ledgers.append(ledger)
        self._orders[tuple(table.columns)] = None
        values = table[self._figure] if self._figure in table else pd.Series(np.nan, index=table.index)
        for point, replication, value in zip(table["point"], table["replication"], values, strict=True):
            self._note(int(point), int(replication), float(value))

    def add(self, rows: Iterable[Row]) -> None:
        """Take in rows of replications that are not there yet."""
        for row in rows:
            self._rows.append(row)
            self._orders[tuple(column for column in row if column != "ledger")] = None
            value = row.get(self._figure) if self._figure else None
            self._note(row["point"], row["replication"], np.nan if value is None else float(value))
        if len(self._rows) >= _CHUNK:
            self._pack()

    def _note(self, point: int, replication: int, value: float) -> None:
        self._of_figure.setdefault(point, {})[replication] = value
        self.count += 1

    def has(self, point: int, replication: int) -> bool:
        """Whether a replication of a point is there."""
        return replication in self._of_figure.get(point, ())

    def replications(self, point: int) -> int:
        """How many replications of a point are there."""
        return len(self._of_figure.get(point, ()))

    def values(self, point: int, count: int | None = None) -> NDArray[np.float64]:
        """The figure's values in the first replications of a point, all of which are there; NaN where it has none."""
        of_point = self._of_figure.get(point, {})
        numbers: Sequence[int] = sorted(of_point) if count is None else range(count)
        return np.array([of_point[number] for number in numbers], dtype=np.float64)

    @property
    def columns(self) -> list[str]:
        """The table's columns: as all rows have them; if these differ, sorted by name behind the head."""
        if len(self._orders) == 1:
            return list(next(iter(self._orders)))
        every = {column for order in self._orders for column in order}
        return [*_HEAD, *sorted(every.difference(_HEAD))] if self._orders else _HEAD

    def table(self) -> pd.DataFrame:
        """One row a point and replication, sorted by them: every column of `work.Row` but the ledger."""
        self._pack()
        if not self._tables:
            return pd.DataFrame(columns=_HEAD)
        return pd.concat(self._tables).sort_values(_KEYS, ignore_index=True).reindex(columns=self.columns)

    def ledger(self) -> pd.DataFrame:
        """One row a point, replication and pair of counts, sorted: planned, seen, samples, and what else runs tell."""
        self._pack()
        if not self._ledgers:
            return pd.DataFrame(columns=[*_KEYS, "planned", "seen", "samples"])
        # The rows of a replication stay in the order in which the run tells them.
        return pd.concat(self._ledgers).sort_values(_KEYS, kind="stable", ignore_index=True)

    def _pack(self) -> None:
        rows, self._rows = self._rows, []
        if not rows:
            return
        columns = list(dict.fromkeys(column for row in rows for column in row if column != "ledger"))
        self._tables.append(pd.DataFrame({column: _array([row.get(column) for row in rows]) for column in columns}))
        ledgers = [row["ledger"] for row in rows]
        lengths = [len(ledger["samples"]) for ledger in ledgers]
        self._ledgers.append(
            pd.DataFrame(
                {
                    **{key: np.repeat([row[key] for row in rows], lengths) for key in _KEYS},
                    **{column: _array([each for told in ledgers for each in told[column]]) for column in ledgers[0]},
                }
            )
        )


def _array(values: Sequence[object]) -> NDArray[np.float64] | NDArray[np.int64] | pd.Series:
    """A column: whole numbers if all values are, texts if any is, else floats with NaN for none."""
    if any(isinstance(value, str) for value in values):
        return pd.Series(values, dtype="str")
    if all(isinstance(value, int) for value in values):
        return np.array(values, dtype=np.int64)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
