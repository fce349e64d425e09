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
    return load_scenario(
        {
            "name": "2,048 nodes of mean life 256 days",
            "run": {"wall_time": "54 d"},
            "model": {"global_batch": 2048, "step_time": "10 s"},
            "cluster": {"nodes": 2048, "gpus_per_node": 1},
            "failures": [{"cause": "wear", "rate": "1 per 256 node-days", "law": law, "ages": ages, **more}],
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
    scenario = cluster({"type": "exponential"}, repair={"type": "exponential", "mean": "256 d"})
    rate, days = 1 / 256, 54
    up_then = lambda t: 0.5 * t + (1 - math.exp(-2 * rate * t)) / (4 * rate)  # noqa: E731  # mean time up by t
    expected = 2048 * rate * up_then(days)
    counts = [simulate(scenario, replication).summary()["failures"] for replication in range(40)]
    standard_error = statistics.stdev(counts) / math.sqrt(len(counts))
    assert abs(statistics.mean(counts) - expected) < 3.5 * standard_error
