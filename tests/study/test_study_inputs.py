"""The interval of a mean, split into what replications are too few for and what is not known of the rates."""

import math

import numpy as np
import pytest
from scipy import stats

from clustersim import load_scenario
from clustersim.cluster.compile import drawn_rates
from clustersim.study.inputs import splits
from clustersim.study.result import Result
from clustersim.study.runs import runs

COUNT, SEEN_DAYS, DAYS, NODES = 8, 27 * 64, 20, 32


def known_of_few(**changes):
    """Failures that take nothing but a step each; 8 of them were seen, on 64 nodes in 27 days."""
    cause = {"cause": "wear", "count": COUNT, "over": "27 d", "on_nodes": 64, "uncertain": True}
    return load_scenario(
        {
            "name": "few failures",
            "run": {"wall_time": f"{DAYS} d"},
            "model": {"global_batch": NODES, "step_time": "1 min"},
            "cluster": {"nodes": NODES, "gpus_per_node": 1},
            "failures": [cause],
            "checkpoint": {"every": "1 steps"},
            "data": {"samples": "1 T"},
        },
        changes,
    )


def gathered(scenario, replications):
    result = Result(scenario, 3)
    for run in runs(scenario, replications, seed=3):
        result.add(run)
    return result


def test_what_rates_explain_is_theirs():
    """y = 5 + 3 a - 2 b + noise; rates of any size, and one that explains nothing."""
    rng, replications = np.random.default_rng(4), 4000
    rates = np.column_stack(
        [rng.gamma(9, 1e-18, replications), rng.gamma(4, 1.0, replications), rng.random(replications)]
    )
    noise = rng.normal(0, 2.5, replications)
    values = 5 + 3e18 * rates[:, 0] - 2 * rates[:, 1] + noise
    found = splits([{"y": float(value), "none": None, "same": 0.1} for value in values], rates)
    assert found.keys() == {"y", "same"}
    assert found["same"] == (0, 0)
    # Both standard deviations are known to 1.1 %.
    assert found["y"].simulation == pytest.approx(1.96 * 2.5 / math.sqrt(replications), rel=0.04)
    assert found["y"].input == pytest.approx(1.96 * math.sqrt(9 * 9 + 4 * 4), rel=0.05)


def test_failures_at_a_rate_of_which_eight_are_known():
    """Of n failures in an exposure the rate has the variance (n + 1/2) / exposure^2; those of a run are Poisson's."""
    replications, exposure = 120, DAYS * NODES
    result = gathered(known_of_few(), replications)
    split = result.splits["failures"]
    expected = (COUNT + 0.5) / SEEN_DAYS * exposure
    by_chance = (split.simulation / stats.t.ppf(0.975, replications - 2)) ** 2 * replications
    assert stats.chi2.ppf(0.0005, replications - 2) < by_chance / expected * (replications - 2)
    assert by_chance / expected * (replications - 2) < stats.chi2.ppf(0.9995, replications - 2)
    # The sample variance of a Gamma law of shape 8.5 is off by sqrt((2 + 6 / 8.5) / n) of itself, so z < 3.5.
    by_rates = (COUNT + 0.5) * (exposure / SEEN_DAYS) ** 2
    off = (split.input / 1.96) ** 2 / by_rates - 1
    assert abs(off) < 3.5 * math.sqrt((2 + 6 / 8.5) / replications) + 2 * expected / by_rates / math.sqrt(replications)


def test_only_what_is_uncertain_is_split_and_only_by_replications_enough():
    assert gathered(known_of_few(**{"failures.0.uncertain": False}), 12).splits is None
    assert gathered(known_of_few(), 9).splits is None
    result = gathered(known_of_few(), 12)
    assert result.as_json()["ci95_half"]["failures"] == result.splits["failures"]._asdict()
    assert "ci95_half" not in gathered(known_of_few(), 1).as_json()


def test_a_replication_draws_the_same_rates_whatever_else_is_asked():
    scenario = known_of_few()
    assert drawn_rates(scenario, 3, 5) == drawn_rates(known_of_few(**{"run.wall_time": "1 d"}), 3, 5)
    assert drawn_rates(scenario, 3, 5) != drawn_rates(scenario, 3, 6)
