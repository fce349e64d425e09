"""Hunts by how the loader comes back: what is found, and how often it crashes until then."""

import math

import pytest

from clustersim.study.poison import hunts

JOB = {
    "run": {"epochs": 1},
    "model": {"global_batch": 8, "step_time": "1 s"},
    "cluster": {"nodes": 1, "gpus_per_node": 1},
    "checkpoint": {"every": "10 steps"},
    "data": {"samples": 960, "shards": 24, "order": "shuffle"},
}


def by_way(table):
    return {row["comes_back"]: row for row in table.to_dict("records")}


def test_only_an_order_that_comes_back_finds_the_record():
    rows = by_way(hunts(JOB, 400))
    exact, reshuffle, rest = rows["exact"], rows["reshuffle"], rows["remainder"]
    assert (exact["crashes"], exact["found"], exact["passed"], exact["missing_views"]) == (4, 1, 0, 8)
    assert exact["crashes_expected"] == 4
    assert exact["rolled_back_steps"] == pytest.approx(4 * 4.5, abs=1.5)
    assert reshuffle["crashes_expected"] == pytest.approx((12 / 11) ** 12 - 1)
    assert reshuffle["crashes"] == pytest.approx(reshuffle["crashes_expected"], abs=4 * 0.9 / 20)
    assert reshuffle["crashed"] == 1
    assert reshuffle["passed"] > 0.99
    assert reshuffle["given_up"] == 0
    assert rest["passed"] == 0  # cornered in the last ten steps, where it meets one of them four times in the end
    assert rest["found"] == 1
    assert rest["crashes"] > 5
    assert math.isnan(rest["crashes_expected"])


def test_the_scenarios_own_poison_and_policy():
    poison = {"samples": [8, 9, 500], "together": 2, "retries": 1, "act": "quarantine"}
    rows = by_way(hunts({**JOB, "data": {**JOB["data"], "order": "sequential"}, "poison": poison}, 3))
    assert list(rows) == ["exact"]
    assert (rows["exact"]["crashes"], rows["exact"]["missing_views"]) == (2, 2)
    assert math.isnan(rows["exact"]["crashes_expected"])


def test_the_seed_is_another_hunt_and_the_same_is_the_same():
    first, again, other = (by_way(hunts(JOB, 20, seed))["reshuffle"]["rolled_back_steps"] for seed in (0, 0, 1))
    assert first == again != other
