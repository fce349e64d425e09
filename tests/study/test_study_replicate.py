"""The spread of figures over replications."""

import numpy as np
import pytest
from scipy import stats

from clustersim.study.replicate import figures


def test_spread_is_students_interval_and_linear_quantiles():
    values = np.random.default_rng(1).normal(5, 2, size=12)
    spread = figures([{"x": float(value)} for value in values])["x"]
    low, high = stats.t.interval(0.95, 11, loc=values.mean(), scale=stats.sem(values))
    assert spread["ci95_low"] == pytest.approx(low)
    assert spread["ci95_high"] == pytest.approx(high)
    assert spread["mean"] == pytest.approx(values.mean())
    assert [spread["p05"], spread["p50"], spread["p95"]] == pytest.approx(np.quantile(values, [0.05, 0.5, 0.95]))


def test_a_figure_that_the_scenario_does_not_give_stays_none():
    assert figures([{"x": None, "y": 1}, {"x": None, "y": 1}])["x"] is None
