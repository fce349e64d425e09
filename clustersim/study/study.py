"""A finished study: its tables, what its figures come to, and how two of its points differ."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from clustersim.study.plot import StudyPlots, spreads
from clustersim.study.points import key_columns
from clustersim.study.spread import paired, spread

_SHOWN = ("ettr", "wall_h", "extra_views", "missing_views", "rolled_back_steps")
_MOST_ROWS = 60
_NO_FIGURES = ("point", "replication", "seed")
MANIFEST = "study.json"
"""The file of a stored study that says what was simulated."""

TABLES = ("ledger", "points", "table")
"""The tables of a study; in a stored one each is a file <name>.parquet, written in this order."""


class Study:
    """Many replications of one or many points; tables are pandas DataFrames, with units in the columns' names."""

    def __init__(
        self,
        manifest: Mapping[str, Any],
        table: pd.DataFrame,
        ledger: pd.DataFrame | Callable[[], pd.DataFrame],
        points: pd.DataFrame,
    ) -> None:
        """Put a study together, with its ledger or what reads it; callers get theirs from `sweep` and `load_study`."""
        self.manifest = manifest
        """What was simulated, in JSON values: scenario, design, seed, rule, versions."""
        self.table = table
        """One row a point and replication, sorted by them: the keys that vary, outcome, every figure of `Run.summary`,
        and time_<bucket>_h for each time bucket."""
        self._ledger = ledger
        self.points = points
        """One row a point: `points_table` says its columns."""

    @cached_property
    def ledger(self) -> pd.DataFrame:
        """One row a point, replication and pair of planned and seen: how many samples."""
        return self._ledger() if callable(self._ledger) else self._ledger

    def _repr_html_(self) -> str:
        """One row a point, in notebooks: its keys, and the means of some figures with half of their 95 % intervals."""
        shown = spreads(self, *_SHOWN)
        told = self.points[["point", *key_columns(self._values), "replications"]].copy()
        for figure in _SHOWN:
            halves = (shown[f"{figure}_ci95_high"] - shown[f"{figure}_ci95_low"]) / 2
            told[figure] = [
                f"{mean:,.6g}" + (f" ± {half:,.2g}" if half > 0 else "")
                for mean, half in zip(shown[figure], halves, strict=True)
            ]
        name = escape(self.manifest["scenario"]["name"])
        head = f"{name}: {len(self.points)} points, {len(self.table)} runs, seed {self.manifest['seed']}"
        return f"<p>{head}</p>{told.to_html(index=False, max_rows=_MOST_ROWS)}"

    @cached_property
    def plot(self) -> StudyPlots:
        """The interactive figures of the study: damage, time, intervals, capacity.

        Raises:
            ImportError: plotly is not installed.
        """
        return StudyPlots(self)

    @property
    def figures(self) -> list[str]:
        """The names of the figures that the table has."""
        keys = list(key_columns(self._values)) if self._values else []
        numbers = self.table.select_dtypes("number").columns
        return [name for name in numbers if name not in _NO_FIGURES and name not in keys]

    @property
    def _values(self) -> Sequence[Mapping[str, object]]:
        values: Sequence[Mapping[str, object]] = self.manifest["design"]["points"]
        return values

    def summary(self, *figures: str) -> pd.DataFrame:
        """One row a point and figure: mean, ci95_low, ci95_high, p05, p50, p95 over its replications.

        Figures that a point has none of, and points of fewer than two replications, are left out.

        Args:
            figures: which; all of them if none is named.

        Raises:
            ValueError: there is no such figure.
        """
        names = self._checked(figures)
        rows = []
        for point, own in self.table.groupby("point"):
            for name in names:
                values = own[name].to_numpy(np.float64)
                if len(values) > 1 and not np.isnan(values).any():
                    rows.append({"point": point, "figure": name, "replications": len(values), **spread(values)})
        columns = ["point", "figure", "replications", "mean", "ci95_low", "ci95_high", "p05", "p50", "p95"]
        return pd.DataFrame(rows, columns=columns)

    def compare(self, a: int | Mapping[str, object], b: int | Mapping[str, object], *figures: str) -> pd.DataFrame:
        """What b has more than a: the paired difference over the replications that both have.

        Both met the same failures, so most of what differs by chance cancels.

        Args:
            a: a point's number, or values of keys that only this point sets ({"checkpoint.every": "5 min"}).
            b: the other.
            figures: which; all of them if none is named.

        Returns:
            One row a figure: figure, mean_a, mean_b, difference, ci95_low, ci95_high (of the difference's mean, by
            Student's t), replications, times_narrower (than the interval from as many independent runs; NaN where a
            figure does not vary).

        Raises:
            ValueError: there is no such point or figure, or fewer than two replications are in both.
        """
        names = self._checked(figures)
        columns = ["replication", *names]
        first, second = (
            self.table.loc[self.table["point"] == self._point(each), columns].set_index("replication")
            for each in (a, b)
        )
        both = first.index.intersection(second.index)
        if len(both) < 2:
            raise ValueError(f"expected at least 2 replications of both points, found {len(both)}")
        rows = []
        for name in names:
            x, y = (frame.loc[both, name].to_numpy(np.float64) for frame in (first, second))
            if np.isnan(x).any() or np.isnan(y).any():
                continue
            found = paired(x, y)
            rows.append(
                {
                    "figure": name,
                    "mean_a": x.mean(),
                    "mean_b": y.mean(),
                    "difference": found.mean,
                    "ci95_low": found.mean - found.half_width,
                    "ci95_high": found.mean + found.half_width,
                    "replications": len(both),
                    "times_narrower": found.half_width_independent / found.half_width if found.half_width else np.nan,
                }
            )
        return pd.DataFrame(rows)

    def _checked(self, figures: Sequence[str]) -> Sequence[str]:
        known = self.figures
        for name in figures:
            if name not in known:
                raise ValueError(f'expected a figure of the study ({", ".join(known)}), found "{name}"')
        return figures or known

    def _point(self, meant: int | Mapping[str, object]) -> int:
        if isinstance(meant, Mapping):
            found = [
                number
                for number, values in enumerate(self._values)
                if all(key in values and values[key] == value for key, value in meant.items())
            ]
            if len(found) != 1:
                raise ValueError(f"expected values that one point sets, found {dict(meant)}, which {len(found)} do")
            return found[0]
        if not 0 <= meant < len(self._values):
            raise ValueError(f"no point {meant}: they are numbered 0 to {len(self._values) - 1}")
        return meant


def load_study(directory: str | PathLike[str]) -> Study:
    """The study that a sweep stored in a directory: as far as it had come when it last ended in good order.

    Its ledger, which may have a hundred rows where the table has one, is read when it is first asked for.

    Raises:
        OSError: there is none.
    """
    where = Path(directory)
    ledger, points, table = (partial(pd.read_parquet, where / f"{name}.parquet") for name in TABLES)
    return Study(json.loads((where / MANIFEST).read_text("utf-8")), table(), ledger, points())
