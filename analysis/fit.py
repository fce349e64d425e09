"""Laws of duration fitted to durations of which some are seen in part only, by maximum likelihood.

What a row of a table (see `analysis.lives.Durations`) tells, with density f, survival S and mean m of the law:

| began in the trace | ended in it | likelihood |
|---|---|---|
| yes | yes | f(x); of 0 hours: the probability of less than the shortest duration that is longer than 0 |
| yes | no | S(x) |
| no | yes | S(x) / m |
| no | no | integral of S from x on, / m |

The last two are those of a node that has been running for long: the trace begins at a random moment of a life, so long
lives are met more often (the forward recurrence time of a renewal process in equilibrium; Cox, Renewal Theory, 1962,
section 5.2). A node that never fails counts by the last row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import optimize, special, stats

Floats = NDArray[np.float64]
Bounds = tuple[tuple[float, float], tuple[float, float]]

LEAST_ENDED = 5
"""Of fewer durations that ended no shape can be told: only the exponential law is fitted."""
# How far the log likelihood has fallen at the end of an interval: half the 95 % quantile of chi-square, one degree of
# freedom.
_DROP = float(stats.chi2.ppf(0.95, 1)) / 2
# In e-folds: how far from its start a mean is looked for, and how far the other parameter follows one that is held.
_FAR, _NEAR = 12.0, 3.0
# In place of minus infinity, which a search cannot reckon with.
_IMPOSSIBLE = -1e100


class Law(NamedTuple):
    """A family of laws, by mean and shape."""

    name: str
    """As a scenario calls it."""
    shape: str | None
    """What a scenario calls its shape; None: it has none."""
    least: float
    most: float
    """The shapes that a scenario takes."""
    family: stats.rv_continuous
    parameters: Callable[[float, float], tuple[tuple[float, ...], float]]
    """scipy's shapes and scale of the law of a mean and a shape."""
    beyond: Callable[[Floats, float, float], Floats]
    """Integral of the survival function from x on, divided by the mean, for x, mean and shape."""


class Estimate(NamedTuple):
    """A parameter with its 95 % interval by profile likelihood; a bound that nothing sets is 0 or infinite."""

    value: float
    ci95_low: float
    ci95_high: float


class Fit(NamedTuple):
    """A law, fitted."""

    law: Law
    mean_h: Estimate
    shape: Estimate | None
    log_likelihood: float
    aic: float
    """Akaike's criterion: 2 parameters - 2 log likelihood; the least is best."""
    p_exponential: float | None
    """Of the likelihood ratio test (chi-square, one degree of freedom) that the law is exponential after all; None
    where that is no special case of the law."""

    def sf(self, hours: Floats) -> Floats:
        """The share of durations that are longer."""
        shape = 1.0 if self.shape is None else self.shape.value
        shapes, scale = self.law.parameters(self.mean_h.value, shape)
        longer: Floats = self.law.family.sf(hours, *shapes, scale=scale)
        return longer


def median_of(mean: float, sigma: float) -> float:
    """The median of a lognormal law."""
    return mean * math.exp(-(sigma**2) / 2)


def _weibull_beyond(x: Floats, mean: float, shape: float) -> Floats:
    inverse = 1 / shape
    return np.asarray(special.gammaincc(inverse, (x * special.gamma(1 + inverse) / mean) ** shape))


def _gamma_beyond(x: Floats, mean: float, shape: float) -> Floats:
    scaled = x * shape / mean
    return np.asarray(special.gammaincc(shape + 1, scaled) - x / mean * special.gammaincc(shape, scaled))


def _lognormal_beyond(x: Floats, mean: float, shape: float) -> Floats:
    with np.errstate(divide="ignore"):
        place = (np.log(mean) - np.log(x)) / shape
    return np.asarray(special.ndtr(place + shape / 2) - x / mean * special.ndtr(place - shape / 2))


EXPONENTIAL = Law(
    "exponential", None, 1.0, 1.0, stats.expon, lambda mean, _: ((), mean), lambda x, mean, _: np.exp(-x / mean)
)
LAWS = (
    EXPONENTIAL,
    Law(
        "weibull",
        "shape",
        0.05,
        100.0,
        stats.weibull_min,
        lambda mean, shape: ((shape,), mean / special.gamma(1 + 1 / shape)),
        _weibull_beyond,
    ),
    Law(
        "lognormal",
        "sigma",
        0.001,
        10.0,
        stats.lognorm,
        lambda mean, shape: ((shape,), median_of(mean, shape)),
        _lognormal_beyond,
    ),
    Law("gamma", "shape", 0.05, 100.0, stats.gamma, lambda mean, shape: ((shape,), mean / shape), _gamma_beyond),
)
"""The families that a scenario knows."""


def fit(table: pd.DataFrame) -> list[Fit]:
    """Every law that the durations can tell, the best by Akaike's criterion first.

    Args:
        table: hours, begun, ended; see `analysis.lives.Durations`.

    Raises:
        ValueError: not one duration ended, or none is longer than 0.
    """
    ended = table[table["ended"]]
    if ended.empty or not (table["hours"] > 0).any():
        raise ValueError(f"expected durations that ended, found {len(ended)} of {len(table)}")
    told = len(np.unique(ended["hours"])) >= LEAST_ENDED
    exponential = fit_law(EXPONENTIAL, table)
    fits = [exponential, *(fit_law(law, table, exponential) for law in LAWS[1:] if told)]
    return sorted(fits, key=lambda each: each.aic)


def likelihood(law: Law, table: pd.DataFrame) -> Callable[[float, float], float]:
    """The log likelihood of durations, as a function of mean (hours) and shape; -1e100 where it underflows."""
    hours, begun, ended = (table[column].to_numpy() for column in ("hours", "begun", "ended"))
    whole, cut, late, through = (
        hours[(begun == began) & (ended == over)] for began in (True, False) for over in (True, False)
    )
    zeros = np.full(np.count_nonzero(whole == 0), hours[hours > 0].min())
    told = [
        (terms, values)
        for terms, values in (
            (law.family.logpdf, whole[whole > 0]),
            (law.family.logcdf, zeros),
            (law.family.logsf, np.concatenate([cut, late])),
        )
        if len(values)
    ]

    def of(mean: float, shape: float) -> float:
        shapes, scale = law.parameters(mean, shape)
        total = -len(late) * math.log(mean)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            for terms, values in told:
                total += float(terms(values, *shapes, scale=scale).sum())
            if len(through):
                total += float(np.log(np.maximum(law.beyond(through, mean, shape), 0)).sum())
        return total if math.isfinite(total) else _IMPOSSIBLE

    return of


def fit_law(law: Law, table: pd.DataFrame, exponential: Fit | None = None) -> Fit:
    """One law, fitted to durations (see `fit`), and tested against the exponential one if that is given."""
    log_likelihood = likelihood(law, table)
    start = math.log(table["hours"].sum() / table["ended"].sum())

    def loss(at: Floats) -> float:
        return -log_likelihood(math.exp(at[0]), math.exp(at[1]))

    bounds = ((start - _FAR, start + _FAR), (math.log(law.least), math.log(law.most)))
    found = optimize.minimize(
        loss,
        np.array([start, 0.0]),
        method="Nelder-Mead",
        bounds=bounds,
        options={"xatol": 1e-6, "fatol": 1e-9, "maxiter": 2000},
    )
    best, top = found.x, -float(found.fun)
    parameters = 1 if law.shape is None else 2
    return Fit(
        law,
        _interval(loss, best, 0, bounds),
        None if law.shape is None else _interval(loss, best, 1, bounds),
        top,
        2 * parameters - 2 * top,
        None
        if exponential is None or law.name == "lognormal"
        else float(stats.chi2.sf(max(0.0, 2 * (top - exponential.log_likelihood)), 1)),
    )


def _interval(loss: Callable[[Floats], float], best: Floats, axis: int, bounds: Bounds) -> Estimate:
    """A parameter, and where the likelihood, at its highest in the other parameter, has fallen by `_DROP`."""
    lowest = loss(best)
    least, most = bounds[1 - axis]
    around = max(least, float(best[1 - axis]) - _NEAR), min(most, float(best[1 - axis]) + _NEAR)

    def fallen(place: float) -> float:
        def other(value: float) -> float:
            return loss(np.array([place, value] if axis == 0 else [value, place]))

        if least == most:  # the exponential law has no other
            return other(least) - lowest - _DROP
        found = optimize.minimize_scalar(other, bounds=around, method="bounded", options={"xatol": 1e-4})
        return float(found.fun) - lowest - _DROP

    at = float(best[axis])
    low, high = (_crossing(fallen, at, end) for end in bounds[axis])
    return Estimate(math.exp(at), 0.0 if low is None else math.exp(low), math.inf if high is None else math.exp(high))


def _crossing(fallen: Callable[[float], float], at: float, end: float) -> float | None:
    """The place between the estimate and a bound at which it has fallen as far; None if it nowhere has."""
    step, inner = math.copysign(0.05, end - at), at
    while abs(inner - at) < abs(end - at):
        outer = inner + step
        if abs(outer - at) > abs(end - at):
            outer = end
        if fallen(outer) >= 0:
            return float(optimize.brentq(fallen, inner, outer, xtol=1e-6))
        inner, step = outer, 2 * step
    return None
