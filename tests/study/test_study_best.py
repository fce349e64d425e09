"""The best point of a study: chance that all points share does not hide it, chance of their own does."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from clustersim.study.best import best_by


def figure(*points):
    """A figure's values, a list of replications a point."""
    keys = [(point, replication) for point, own in enumerate(points) for replication in range(len(own))]
    values = [value for own in points for value in own]
    return pd.Series(values, index=pd.MultiIndex.from_tuples(keys, names=["point", "replication"]))


def test_what_all_points_share_is_no_doubt():
    shared = np.random.default_rng(0).normal(0, 100, 20)
    own = np.random.default_rng(1).normal(0, 1, (3, 20))
    values = figure(shared + own[0], shared + own[1] + 5, shared + own[2] + 5)
    found = best_by(values)
    assert (found.point, found.as_good) == (1, (2,))
    low, high = stats.t.interval(0.95, 19, loc=values[1].mean(), scale=stats.sem(values[1]))
    assert (found.mean - found.half_width, found.mean + found.half_width) == pytest.approx((low, high))
    assert best_by(values, most=False).point == 0
    assert best_by(values, most=False).as_good == ()


def test_only_replications_that_both_have_are_compared():
    values = figure([1.0, 2.0, 3.0], [2.0, 3.0, 4.0, 5.0, 600.0], [1.0, 2.0])
    found = best_by(values)
    assert (found.point, found.as_good) == (1, ())


def test_a_single_replication_tells_all_that_differ():
    found = best_by(figure([3], [5], [5], [1]))
    assert found == (1, 5.0, 0.0, (2,))
