"""Ages survive other nodes' failures: failure counts against the renewal equation."""

import itertools
import math
import statistics

import pytest

from clustersim import load_scenario, simulate

LAWS = [
    ({"type": "exponential"}, 432.0),
    ({"type": "weibull", "shape": 0.7}, 865.0),
    ({"type": "weibull", "shape": 2.0}, 70.75),
    ({"type": "lognormal", "sigma": 1.0}, 305.9),
    # Two exponential stages of rate r: r t / 2 - 1/4 + exp(-2 r t) / 4 renewals by t, here with r t = 54 / 128.
    ({"type": "gamma", "shape": 2.0}, 2048 * (54 / 256 - 0.25 + 0.25 * math.exp(-54 / 64))),
    # Stretched to a mean of 256 the short life is 26.9 days: half the nodes fail then, half of them again at 53.8 days.
    ({"type": "empirical", "durations": ["27 d", "487 d"]}, 2048 * (1 / 2 + 1 / 4)),
]


def cluster(law, ages="wall", **more):
    """A cause of a name of its own, as draws go by the name: what one test happens to draw, another does not."""
    cause = {"cause": f"wear, {law}", "rate": "1 per 256 node-days", "law": law, "ages": ages, **more}
    return load_scenario(
        {
            "name": "2,048 nodes of mean life 256 days",
            "run": {"wall_time": "54 d"},
            "model": {"global_batch": 2048, "step_time": "10 s"},
            "cluster": {"nodes": 2048, "gpus_per_node": 1},
            "failures": [cause],
            "checkpoint": {"every": "10 min"},
            "data": {"samples": "1 T"},
        }
    )


@pytest.mark.parametrize("ages", ["wall", "in_job", "training"])
@pytest.mark.parametrize(("law", "expected"), LAWS)
def test_failures_of_new_nodes_without_repair_time(law, expected, ages):
    """No time passes in repair or recovery, so all three clocks that a cause may age by are the same."""
    scenario = cluster(law, ages)
    counts = [simulate(scenario, replication).summary()["failures"] for replication in range(40)]
    standard_error = statistics.stdev(counts) / math.sqrt(len(counts))
    assert abs(statistics.mean(counts) - expected) < 3.5 * standard_error
    assert standard_error < 0.01 * expected + 1


def mean_count(scenario, runs=40):
    counts = [simulate(scenario, replication).summary()["failures"] for replication in range(runs)]
    return statistics.mean(counts), statistics.stdev(counts) / math.sqrt(runs), counts


def test_a_rate_that_changes_at_dates():
    """Three times the rate for 10 days, then the rate, then nothing from day 40 on: 30 + 30 days' worth."""
    steps = {"by": "date", "at": ["0 d", "10 d", "40 d"], "times": [3, 1, 0]}
    mean, error, _ = mean_count(cluster({"type": "exponential"}, cause="dates", steps=steps, repair="0 s"))
    assert abs(mean - 2048 * 60 / 256) < 3.5 * error
    assert error < 5


def test_a_change_at_a_date_leaves_what_was_before():
    step = {"by": "date", "at": ["20 d"], "times": [4]}
    law = {"type": "weibull", "shape": 1.5}
    before = [
        [row for row in simulate(cluster(law, **keys)).history.happenings if row.time_ns < 20 * 86_400 * 10**9]
        for keys in ({}, {"steps": step})
    ]
    assert before[0] == before[1]
    assert len(before[0]) > 20


def test_young_nodes_fail_ten_times_as_often():
    """For two days, and after each failure again: the renewal equation of 1 - exp(-(hazard summed to the age t))."""
    steps = {"by": "age", "at": ["0 d", "2 d"], "times": [10, 1]}
    expected = 2048 * renewal_count(lambda t: -math.expm1(-(10 * min(t, 2) + max(t - 2, 0)) / 256), 54, grid=540)
    mean, error, _ = mean_count(cluster({"type": "exponential"}, cause="youth", steps=steps))
    assert abs(mean - expected) < 3.5 * error
    assert error < 0.01 * expected


def test_a_rate_of_which_few_failures_are_known():
    """Negative binomial: mean (n + 1/2) x, variance that times (1 + x), x the run's exposure over that of the count."""
    seen = {"cause": "few known", "rate": None, "count": 8, "over": "27 d", "on_nodes": 1024, "uncertain": True}
    scenario = cluster({"type": "exponential"}, **seen)
    runs, mean, variance = 150, 8.5 * 4, 8.5 * 4 * 5
    counts = mean_count(scenario, runs)[2]
    assert abs(statistics.mean(counts) - mean) < 3.5 * math.sqrt(variance / runs)
    assert abs(statistics.variance(counts) / variance - 1) < 3.5 * math.sqrt(2.9 / runs)
    certain = mean_count(load_scenario(scenario, {"failures.0.uncertain": False}), 40)[2]
    assert statistics.variance(certain) < 2 * 32
    assert simulate(scenario, 7).history == simulate(scenario, 7).history


def renewal_count(cdf, horizon, grid=4000):
    """Expected renewals by `horizon`, from the renewal equation m(t) = F(t) + integral of m(t - x) dF(x)."""
    share = [cdf(horizon * i / grid) for i in range(grid + 1)]
    mass = [b - a for a, b in itertools.pairwise(share)]
    renewals = [0.0] * (grid + 1)
    for i in range(1, grid + 1):
        renewals[i] = share[i] + sum(mass[j] * (renewals[i - j] + renewals[i - j - 1]) / 2 for j in range(i))
    return renewals[grid]


def test_published_counts_solve_the_renewal_equation():
    scale = 256 / math.gamma(1.5)
    m = renewal_count(lambda t: -math.expm1(-((t / scale) ** 2)), 54, grid=800)
    assert 2048 * m == pytest.approx(70.75, abs=0.05)


def test_a_repair_keeps_a_node_from_failing():
    """Exponential lives, repair as long as a life: a node fails at half its rate once the start is forgotten."""
    scenario = cluster({"type": "exponential"}, cause="long repair", repair={"type": "exponential", "mean": "256 d"})
    rate, days = 1 / 256, 54
    up_then = lambda t: 0.5 * t + (1 - math.exp(-2 * rate * t)) / (4 * rate)  # noqa: E731  # mean time up by t
    expected = 2048 * rate * up_then(days)
    counts = [simulate(scenario, replication).summary()["failures"] for replication in range(40)]
    standard_error = statistics.stdev(counts) / math.sqrt(len(counts))
    assert abs(statistics.mean(counts) - expected) < 3.5 * standard_error
