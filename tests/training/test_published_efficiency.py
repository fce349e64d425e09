"""ETTR against the exact models: failures strike during saves and restarts too (Daly 2006, complete model)."""

import math
import statistics

import pytest

from clustersim import load_scenario, simulate
from clustersim.theory import daly_efficiency

MINUTE_NS = 60_000_000_000


def job(*, failures, wall_time, every, step, stall="0 s", restart, nodes=1):
    return load_scenario(
        {
            "name": "one job",
            "run": {"wall_time": wall_time},
            "model": {"global_batch": nodes, "step_time": step},
            "cluster": {"nodes": nodes, "gpus_per_node": 1},
            "failures": [{"cause": "any", **failures}],
            "checkpoint": {"every": every, "stall": stall},
            "recovery": {"start_up": restart},
            "data": {"samples": "1 T"},
        }
    )


def z_score(values, exact):
    return (statistics.mean(values) - exact) / (statistics.stdev(values) / math.sqrt(len(values)))


def ettr(scenario, replications):
    return [
        simulate(scenario, replication).time_ns["useful"] / scenario.run.wall_time
        for replication in range(replications)
    ]


@pytest.mark.parametrize(("interval", "exact"), [(60, 0.7202), (5, 0.9345)])
def test_checkpoint_interval_of_a_cluster_of_two_thousand_nodes(interval, exact):
    """6.50 failures per 1000 node-days, 5 min to restart, saves cost nothing (Kokolis et al., arXiv 2410.21680)."""
    mtbf = 24 * 60 / (2000 * 6.5 / 1000)
    assert daly_efficiency(interval, 0, mtbf, 5) == pytest.approx(exact, abs=5e-5)
    scenario = job(
        failures={"rate": "6.50 per 1000 node-days"},
        nodes=2000,
        wall_time="180 d",
        every=f"{interval} min",
        step="600 ms",
        restart="5 min",
    )
    values = ettr(scenario, 16)
    assert abs(z_score(values, exact)) < 3.5
    assert statistics.stdev(values) / 4 < 0.002


@pytest.mark.parametrize(
    ("save", "mtbf", "restart", "interval", "exact"),
    [
        (5, 108, 10, 29.61, 0.6616),
        (5, 180, 10, 39.16, 0.7402),
        (5, 1440, 10, 116.69, 0.9126),
        (1, 18, 3, 5.35, 0.5948),
    ],
)
def test_daly_complete_model(save, mtbf, restart, interval, exact):
    """Minutes; a step is at most a five-hundredth of the interval."""
    assert daly_efficiency(interval, save, mtbf, restart) == pytest.approx(exact, abs=5e-5)
    steps = 500
    scenario = job(
        failures={"count": 1, "over": f"{mtbf} min", "scope": "job"},
        wall_time=f"{mtbf * 5000} min",
        every=f"{steps} steps",
        step=f"{interval * 60 / steps} s",
        stall=f"{save} min",
        restart=f"{restart} min",
    )
    values = ettr(scenario, 16)
    assert abs(z_score(values, daly_efficiency(interval, save, mtbf, restart))) < 3.5
    assert statistics.stdev(values) / 4 < 0.002
