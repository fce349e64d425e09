"""Exponential lives and repairs are the machine repair model M/M/c//N: spares age and fail as the job's nodes do."""

import math
import statistics

import numpy as np
import pytest

from clustersim import load_scenario
from clustersim.training.compile import World

RATE_PER_DAY, DAYS, FORGOTTEN_DAYS, RUNS = 0.2, 400, 20, 24


def law_of_nodes_down(nodes, slots, repairs_per_day):
    """P(n nodes down), n = 0 .. nodes: one more at (nodes - n) times the rate, one less at min(n, slots) repairs."""
    weights = [1.0]
    for down in range(nodes):
        ratio = (nodes - down) * RATE_PER_DAY / (min(down + 1, slots) * repairs_per_day)
        weights.append(weights[-1] * ratio)
    return np.array(weights) / math.fsum(weights)


def measured(scenario, replication, spares):
    """Mean number of nodes down, and the share of time in which at least as many are down as there are spares."""
    happenings = World(scenario, 7, replication).run().happenings
    times = np.array([row.time_ns for row in happenings]) / 86_400e9
    down = np.cumsum([1 if row.kind == "failure" else -1 for row in happenings])
    lasts = np.diff(np.clip(np.append(times, DAYS), FORGOTTEN_DAYS, None))
    whole = DAYS - FORGOTTEN_DAYS
    return float(lasts @ down) / whole, float(lasts @ (down >= spares)) / whole


@pytest.mark.parametrize(
    ("nodes", "spares", "slots", "repair_h"),
    [(8, 2, 1, 6), (8, 2, 10, 24), (20, 4, 3, 12), (20, 1, 2, 4), (40, 10, 5, 12), (40, 10, 50, 24)],
)
def test_nodes_down_and_the_want_of_a_spare(nodes, spares, slots, repair_h):
    scenario = load_scenario(
        {
            "name": "machine repair",
            "run": {"wall_time": f"{DAYS} d"},
            "model": {"global_batch": nodes, "step_time": "1 min"},
            "cluster": {"nodes": nodes, "gpus_per_node": 1, "spares": spares, "repair_slots": slots},
            "failures": [
                {
                    "cause": "wear",
                    "rate": f"{RATE_PER_DAY} per node-day",
                    "repair": {"type": "exponential", "mean": f"{repair_h} h"},
                }
            ],
            "checkpoint": {"every": "1 h"},
            "data": {"samples": "1 T"},
        }
    )
    law = law_of_nodes_down(nodes + spares, slots, 24 / repair_h)
    expected = float(law @ np.arange(len(law))), float(law[spares:].sum())
    figures = zip(*(measured(scenario, replication, spares) for replication in range(RUNS)), strict=True)
    for seen, right in zip(figures, expected, strict=True):
        error = statistics.stdev(seen) / math.sqrt(RUNS)
        assert abs(statistics.mean(seen) - right) < 3.5 * error
        assert error < 0.05 * right


def test_availability_counts_the_repair():
    """One node, 100 h between failures and 2 h of repair: up for 98.04 % of the time."""
    scenario = load_scenario(
        {
            "name": "one node",
            "run": {"wall_time": "100 y"},
            "model": {"global_batch": 1, "step_time": "1 min"},
            "cluster": {"nodes": 1, "gpus_per_node": 1},
            "failures": [
                {"cause": "wear", "rate": "0.01 per node-hour", "repair": {"type": "exponential", "mean": "2 h"}}
            ],
            "checkpoint": {"every": "1 h"},
            "data": {"samples": "1 T"},
        }
    )
    history = World(scenario, 0, 0).run()
    waited = np.array([recovery.spent_ns("waiting_for_nodes") for recovery in history.recoveries]) / 3.6e12
    assert abs(waited.mean() - 2) < 3.5 * waited.std(ddof=1) / math.sqrt(len(waited))
    up = 1 - waited.sum() * 3.6e12 / history.wall_ns
    assert len(waited) > 8000
    assert up == pytest.approx(100 / 102, abs=3.5 * 2 * math.sqrt(2 / len(waited)) / 102)


def test_more_slots_than_nodes_are_no_limit():
    """The small scenario has 18 nodes with its spares."""
    digests = [
        World(load_scenario("small", {"cluster.repair_slots": slots}), 0, 0).run().digest for slots in (18, "1 T")
    ]
    assert digests[0] == digests[1]
