"""Single runs, one after the other, and the spread of their figures."""

import numpy as np
import pytest
from scipy import stats

from clustersim import load_scenario, simulate
from clustersim.study.runs import runs
from clustersim.study.spread import figures


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


def test_replication_17_alone_is_replication_17_of_20():
    scenario = load_scenario("small", {"loader.preset": "reshuffle"})
    of_many = list(runs(scenario, 20, seed=8))[17]
    assert of_many.summary() == simulate(scenario, 17, seed=8).summary()


@pytest.mark.parametrize("replications", [0, -1])
def test_no_replications_are_refused(replications):
    with pytest.raises(ValueError, match=f"expected at least 1 replication, found {replications}"):
        runs(load_scenario("small"), replications)


@pytest.mark.parametrize("ending", [{}, {"run.wall_time": None, "run.steps": 30_000}])
def test_progress_is_told_in_order_and_changes_nothing(ending):
    scenario = load_scenario("small", {"loader.preset": "epoch", **ending})
    told = []
    watched = list(runs(scenario, 2, progress=told.append))
    assert told == sorted(told)
    # The last checkpoint or failure before the end of either is told of, and no more than the two are done.
    assert max(share for share in told if share <= 1) > 0.9
    assert 1.9 < told[-1] <= 2
    for run, alone in zip(watched, runs(scenario, 2), strict=True):
        assert run.history == alone.history
