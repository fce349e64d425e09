"""Damage per failure and per node-day of each point of a run or a study, and what it comes to in a longer run."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

VIEWS = ("extra_views", "missing_views", "discarded_views")
"""What is counted: columns of the figures of runs."""


def rate(figures: pd.DataFrame) -> pd.DataFrame:
    """Damage per interruption and per 1,000 node-days: point, views, per, rate, ci95_low, ci95_high.

    The ratio of sums over replications, with its 95 % interval by linearisation and Student's t (Cochran, Sampling
    Techniques, 1977, section 6.4); NaN bounds for one replication, a NaN rate where there was nothing to divide by.

    Args:
        figures: one row a replication: point, interruptions, node_days, and the columns `VIEWS`.
    """
    rows = []
    for point, runs in figures.groupby("point"):
        units = {"interruption": runs["interruptions"], "1,000 node-days": runs["node_days"] / 1000}
        rows += [(point, name, per, *_ratio(runs[name], unit)) for name in VIEWS for per, unit in units.items()]
    return pd.DataFrame(rows, columns=["point", "views", "per", "rate", "ci95_low", "ci95_high"])


def projected(figures: pd.DataFrame, days: float) -> pd.DataFrame:
    """What a run of so many days comes to on average: point, views, days, expected, ci95_low, ci95_high.

    At the damage per day of these runs, with its interval as in `rate`. That holds where a failure is as frequent and
    costs as much late as early: not beyond the epochs that these runs reached with a loader that begins its epoch anew,
    nor for nodes that were new in them.

    Args:
        figures: as in `rate`, with wall_h.
        days: how long the run would be.
    """
    rows = []
    for point, runs in figures.groupby("point"):
        for name in VIEWS:
            expected, low, high = (days * each for each in _ratio(runs[name], runs["wall_h"] / 24))
            rows.append((point, name, days, expected, low, high))
    return pd.DataFrame(rows, columns=["point", "views", "days", "expected", "ci95_low", "ci95_high"])


def _ratio(views: pd.Series, units: pd.Series) -> tuple[float, float, float]:
    from scipy.special import stdtrit

    above: NDArray[np.float64] = views.to_numpy(np.float64)
    below: NDArray[np.float64] = units.to_numpy(np.float64)
    if not below.sum():
        return np.nan, np.nan, np.nan
    ratio, count = float(above.sum() / below.sum()), len(above)
    if count == 1:
        return ratio, np.nan, np.nan
    spread = np.std(above - ratio * below, ddof=1) / (below.mean() * count**0.5)
    half_width = float(stdtrit(count - 1, 0.975) * spread)
    return ratio, ratio - half_width, ratio + half_width
