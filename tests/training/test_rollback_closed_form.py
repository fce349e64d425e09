"""How far a failure goes back when saves are asynchronous, against the exact mean."""

import math

import numpy as np
import pytest

from clustersim import load_scenario
from clustersim.training.compile import World


def mean_rollback(period, write, mtbf):
    """Mean time that a failure takes back: E[T] - period * E[durable saves by T], T exponential.

    Save k ends its stall at k * period and is durable `write` later, so the mean number that is durable is the sum over
    k of P(T >= k * period + write) = exp(-write / mtbf) / (exp(period / mtbf) - 1).
    """
    return mtbf - period * math.exp(-write / mtbf) / math.expm1(period / mtbf)


@pytest.mark.parametrize(
    ("interval", "stall", "write", "mtbf", "exact"), [(600, 5, 51, 10_012, 348.8), (1800, 5, 300, 6490, 1115.0)]
)
def test_mean_rollback_with_asynchronous_saves(interval, stall, write, mtbf, exact):
    """Seconds. A save that were durable at once would take 49 and 254 s less back."""
    assert mean_rollback(interval + stall, write, mtbf) == pytest.approx(exact, abs=0.05)
    scenario = load_scenario(
        {
            "name": "rollback",
            "run": {"wall_time": f"{20_000 * mtbf} s"},
            "model": {"global_batch": 1, "step_time": "300 ms"},
            "cluster": {"nodes": 1, "gpus_per_node": 1},
            "failures": [{"cause": "any", "count": 1, "over": f"{mtbf} s", "scope": "job"}],
            "checkpoint": {"every": f"{interval} s", "stall": f"{stall} s", "write": f"{write} s"},
            "recovery": {"start_up": "60 s"},
            "data": {"samples": "1 T"},
        }
    )
    every = interval * 10 // 3  # steps
    legs = World(scenario, 3, 0).run().legs[:-1]
    assert {leg.timetable.step_of(0, number) for leg in legs for number in (0, 1)} == {every, 2 * every}
    back = np.array(
        [(leg.end_ns - leg.begin_ns) / 1e9 - (leg.kept - leg.start) // every * (interval + stall) for leg in legs]
    )
    error = back.std(ddof=1) / math.sqrt(len(back))
    assert error < exact / 100
    assert abs(back.mean() - exact) < 3.5 * error
