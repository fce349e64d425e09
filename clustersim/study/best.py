"""The point of a study that is best by a figure, and those that chance may have put behind it."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustersim.study.spread import half_width, paired


class Best(NamedTuple):
    """The best point, and how sure that is."""

    point: int
    mean: float
    half_width: float
    """Of the 95 % interval of the mean; 0 for a single replication."""
    as_good: tuple[int, ...]
    """The other points of which the paired difference may be 0, by its 95 % interval; ascending."""


def best_by(values: pd.Series, most: bool = True) -> Best:
    """The first point with the greatest mean, or the least.

    Args:
        values: of a figure; the index is point, replication.
        most: whether more is better.
    """
    own = {int(str(point)): rows.droplevel("point") for point, rows in values.groupby(level="point")}
    means = {point: float(rows.mean()) for point, rows in own.items()}
    point = (max if most else min)(means, key=means.__getitem__)
    best = own.pop(point)
    # A point may have fewer replications than another.
    pairs = {other: pd.concat([best, rows], axis="columns", join="inner") for other, rows in own.items()}
    as_good = tuple(other for other, pair in pairs.items() if _may_be_equal(pair.to_numpy(np.float64)))
    return Best(point, means[point], half_width(best.to_numpy(np.float64)) if len(best) > 1 else 0.0, as_good)


def _may_be_equal(both: NDArray[np.float64]) -> bool:
    """Whether 0 lies in the 95 % interval of the mean difference; both: float64[replications, 2]."""
    if len(both) < 2:
        return bool((both[:, 0] == both[:, 1]).all())
    found = paired(both[:, 0], both[:, 1])
    return abs(found.mean) <= found.half_width
