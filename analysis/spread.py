"""Intervals around figures of several replications, as all analyses give them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Interval(NamedTuple):
    """A figure and its 95 % interval."""

    figure: float
    ci95_low: float
    ci95_high: float


def mean(values: NDArray[np.float64]) -> Interval:
    """The mean of values, float64[replications], with its interval by Student's t; NaN bounds for a single one."""
    from scipy.special import stdtrit

    middle, count = float(values.mean()), len(values)
    if count == 1:
        return Interval(middle, np.nan, np.nan)
    half_width = float(stdtrit(count - 1, 0.975) * values.std(ddof=1) / count**0.5)
    return Interval(middle, middle - half_width, middle + half_width)


def proportion(hits: int, tries: int) -> Interval:
    """The share of tries that hit, with its exact interval (Clopper and Pearson, 1934), never too short."""
    from scipy.special import betaincinv

    low = float(betaincinv(hits, tries - hits + 1, 0.025)) if hits else 0.0
    high = float(betaincinv(hits + 1, tries - hits, 0.975)) if hits < tries else 1.0
    return Interval(hits / tries, low, high)
