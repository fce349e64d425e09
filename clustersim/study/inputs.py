"""How unsure a mean is because replications are few, and how unsure because rates are known of a few failures only."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustersim.figures import Figure
from clustersim.study.spread import t_quantile

_NORMAL_95 = 1.959964
# Fewer replications beyond the rates, and the regression would find chance to be the rates' doing.
_LEAST_FREEDOM = 8


class Split(NamedTuple):
    """Halves of two 95 % intervals of a mean, in its own unit."""

    simulation: float
    """Were the rates known: more replications make it smaller."""
    input: float
    """Over what the rates may be: no replication makes it smaller."""


def splits(rows: Sequence[Mapping[str, Figure]], rates: NDArray[np.float64]) -> dict[str, Split] | None:
    """The split of each figure that every replication has; None where replications are too few to tell.

    A figure is regressed linearly on the rates that its replication drew (the law of total variance: what the rates
    explain is input, what is left over is simulation). As far as it is not linear in them, input counts as simulation.

    Args:
        rows: one mapping of figures a replication, all with the same names.
        rates: what each replication drew, float64[replications, causes].
    """
    replications, causes = rates.shape
    freedom = replications - causes - 1
    if not causes or freedom < _LEAST_FREEDOM:
        return None
    names = [name for name in rows[0] if all(row[name] is not None for row in rows)]
    values = np.array([[row[name] for name in names] for row in rows], dtype=np.float64)
    values -= values[0]  # what is the same in all replications is sure to the last bit
    # Each column by its mean, so that rates of any size weigh alike.
    design = np.column_stack([np.ones(replications), rates / rates.mean(axis=0)])
    left_over = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
    by_chance = (left_over**2).sum(axis=0) / freedom
    by_rates = np.maximum(values.var(axis=0, ddof=1) - by_chance, 0)
    simulation = t_quantile(freedom) * np.sqrt(by_chance / replications)
    halves = zip(simulation.tolist(), (_NORMAL_95 * np.sqrt(by_rates)).tolist(), strict=True)
    return {name: Split(*half) for name, half in zip(names, halves, strict=True)}
