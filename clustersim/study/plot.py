"""The interactive figures of a study, for notebooks and reports: `study.plot.damage()` and the like."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from pydantic_core import PydanticCustomError

from analysis.labels import labels
from clustersim.history import HOUR_NS
from clustersim.scenario.units import parse_duration

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from clustersim.study.study import Study

MOST_POINTS = 60
"""Of a study, that a figure of all points has room for: the first ones."""

_EXTRA = "figures of a study take plotly (pip install 'clustersim[report]')"


class StudyPlots:
    """Each method draws a plotly figure.

    Raises:
        ImportError: plotly is not installed.
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        if find_spec("plotly") is None:
            raise ImportError(_EXTRA)

    def damage(self) -> Figure:
        """Extra and missing views of each point (of the first `MOST_POINTS`), with 95 % intervals of the means."""
        from analysis import plots

        found = spreads(self._study, *plots.KINDS).assign(label=labels(self._study.manifest))
        return plots.damage(found.head(MOST_POINTS))

    def time(self) -> Figure:
        """Where the wall time of each point (of the first `MOST_POINTS`) went, mean over its replications."""
        from analysis import plots

        table = self._study.table
        buckets = {name: str(name)[len("time_") : -len("_h")] for name in table if str(name).startswith("time_")}
        hours = table.groupby("point")[list(buckets)].mean().rename(columns=buckets)
        return plots.time(hours.assign(label=labels(self._study.manifest)).head(MOST_POINTS))

    def intervals(self) -> Figure:
        """The useful share of time and the loaders' damage against the checkpoint interval, with its best.

        Raises:
            ValueError: the study is not one over checkpoint.every and loader.preset, see `intervals.of_study`.
        """
        from analysis import plots
        from clustersim.study.intervals import of_study

        found = of_study(self._study)
        formulas = {"Young": found.young_s, "Daly": found.daly_s}
        return plots.intervals(found.table, found.best, {name: s for name, s in formulas.items() if s is not None})

    def capacity(self, by: str, confidence: float = 0.9) -> Figure:
        """The chance of each point to finish by a date against its cost, with the cheapest that is sure to.

        Args:
            by: the date, as a duration since the start such as "60 d".
            confidence: the probability to finish by then that is asked for.

        Raises:
            ValueError: the date is no duration, or the study's runs have no cost.
        """
        from analysis import plots
        from analysis.capacity import plans

        try:
            by_h = parse_duration(by) / HOUR_NS
        except PydanticCustomError as error:
            raise ValueError(f"by: {error.message()}") from None
        names = labels(self._study.manifest)
        return plots.capacity(plans(self._study.table, by_h, confidence), names, by_h, confidence)


def spreads(study: Study, *figures: str) -> pd.DataFrame:
    """One row a point: point; each figure's mean, and <figure>_ci95_low and _ci95_high, NaN for a single run."""
    means = study.table.groupby("point")[list(figures)].mean()
    told = study.summary(*figures).pivot(index="point", columns="figure", values=["ci95_low", "ci95_high"])
    for figure in figures:
        for end in ("ci95_low", "ci95_high"):
            means[f"{figure}_{end}"] = told.get((end, figure), np.nan)
    return means.reset_index()
