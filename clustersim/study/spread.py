"""What figures come to over replications: means with intervals, and paired differences."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustersim.figures import Figure

Spread = dict[str, float]
"""mean; ci95_low, ci95_high (95 % interval of the mean by Student's t); p05, p50, p95 (linear between values)."""


def figures(rows: Sequence[Mapping[str, Figure]]) -> dict[str, Spread | None]:
    """The spread of each figure over two or more replications; None where any of them has none.

    Args:
        rows: one mapping of figures a replication, all with the same names.
    """
    return {name: _known([row[name] for row in rows]) for name in rows[0]}


def _known(values: Sequence[Figure]) -> Spread | None:
    known = [value for value in values if value is not None]
    return spread(np.array(known, dtype=np.float64)) if len(known) == len(values) else None


def spread(values: NDArray[np.float64]) -> Spread:
    """The spread of two or more values, float64[replications]."""
    mean, half = float(values.mean()), half_width(values)
    p05, p50, p95 = np.percentile(values, (5, 50, 95)).tolist()
    return {"mean": mean, "ci95_low": mean - half, "ci95_high": mean + half, "p05": p05, "p50": p50, "p95": p95}


def half_width(values: NDArray[np.float64]) -> float:
    """Half of the 95 % interval of the mean by Student's t; for two or more values."""
    count = len(values)
    return t_quantile(count - 1) * float(values.std(ddof=1)) / math.sqrt(count)


class Difference(NamedTuple):
    """A mean difference, and half of its 95 % interval: paired, and as it would be were the runs independent."""

    mean: float
    half_width: float
    half_width_independent: float


def paired(first: NDArray[np.float64], second: NDArray[np.float64]) -> Difference:
    """second - first over the same replications, two or more, in the same order.

    Without pairing: Welch's interval, with the degrees of freedom by Satterthwaite (1946).
    """
    count = len(first)
    parts = np.array([first.var(ddof=1), second.var(ddof=1)]) / count
    error = math.sqrt(float(parts.sum()))
    freedom = float(parts.sum() ** 2 / (parts**2 / (count - 1)).sum()) if error else count - 1
    difference = second - first
    return Difference(float(difference.mean()), half_width(difference), t_quantile(freedom) * error)


def t_quantile(freedom: float) -> float:
    """The 97.5 % quantile of Student's t."""
    # Half a second of import, for several replications only.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.975))
