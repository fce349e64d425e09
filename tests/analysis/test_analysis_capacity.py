"""Plans against a date, on a table small enough to work out by hand, and on a stored study."""

import numpy as np
import pandas as pd
import pytest

from analysis import capacity, spread
from clustersim import load_scenario, sweep

INF = float("inf")


@pytest.fixture
def table():
    """Three plans of ten runs: the first is cheap and late, the second dear and in time, the third dearer."""
    runs = 10 * np.ones(10)
    late = [*range(91, 100), 50]  # one run of the first plan starved after 50 h
    return pd.DataFrame(
        {
            "point": np.repeat([0, 1, 2], 10),
            "cluster.spares": np.repeat([0, 4, 8], 10),
            "outcome": ["done"] * 9 + ["starved"] + ["done"] * 20,
            "wall_h": np.concatenate([late, 8 * runs, 7 * runs]).astype(float),
            "gpu_hours": np.repeat([1.0, 2.0, 3.0], 10),
            "time_waiting_for_nodes_h": np.concatenate([runs, 4 * runs / 5, 0 * runs]),
            "cost": np.concatenate([np.arange(10.0), 20 + runs, 20.5 + runs]),
        }
    )


def test_plans_by_hand(table):
    found = capacity.plans(table, by_h=95, confidence=0.6).set_index("spares")
    assert found["on_time"].tolist() == [0.5, 1, 1]
    assert found["unfinished"].tolist() == [1, 0, 0]
    assert found["p50_h"].tolist() == [95, 80, 70]
    assert found["p95_h"].tolist() == [INF, 80, 70]
    assert found["waiting_share"].tolist() == pytest.approx([100 / (855 + 50), 0.1, 0])
    assert found["cost"].tolist() == [4.5, 30, 30.5]
    half = 2.262157 * 3.02765 / 10**0.5  # Student's t of 9 degrees of freedom, standard deviation of 0 .. 9
    assert found["cost_ci95_high"].tolist() == pytest.approx([4.5 + half, 30, 30.5], rel=1e-6)
    assert found["recommended"].tolist() == [False, True, False]


def test_ten_of_ten_runs_are_not_sure_of_seven_tenths(table):
    assert not capacity.plans(table, by_h=95, confidence=0.7)["recommended"].any()


def test_the_exact_interval_of_a_share():
    # Known values: 1 - 0.025^(1/10), and the interval of 2 in 10 of Clopper and Pearson's table.
    assert spread.proportion(10, 10)[1:] == pytest.approx((0.025**0.1, 1))
    assert spread.proportion(0, 10)[1:] == pytest.approx((0, 1 - 0.025**0.1))
    assert spread.proportion(2, 10) == pytest.approx((0.2, 0.0252, 0.5561), abs=5e-5)


def test_a_single_run_has_no_interval():
    assert spread.mean(np.array([3.0]))[0] == 3
    assert np.isnan(spread.mean(np.array([3.0]))[1:]).all()


def test_the_ring_is_where_the_recommended_plan_is(table):
    chance, date, cost = capacity.figure(capacity.plans(table, 95, 0.6), 95, 0.6, "what $ it takes").axes
    for axes, height in ((chance, 100), (date, 80 / 24), (cost, 30)):
        ring = axes.lines[-2 if axes in (chance, date) else -1]
        assert ring.get_xdata().tolist() == [1]
        assert ring.get_ydata().tolist() == pytest.approx([height])
    assert [label.get_text() for label in date.get_xticklabels()] == ["0", "4", "8"]


def test_a_stored_sweep_is_enough(tmp_path, capsys):
    base = load_scenario("small", {"run.wall_time": None, "run.steps": 20_000, "cost.gpu_hour": 1})
    sweep(base, {"cluster.spares": [0, 2], "cluster.repair_slots": [1, 4]}, 3, workers=1, out=tmp_path)
    assert capacity.main([str(tmp_path), "--by-days", "6"]) == 0
    assert (tmp_path / "capacity.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.count("\n") == 5


def test_what_cannot_be_read_is_one_line(tmp_path, capsys):
    assert capacity.main([str(tmp_path), "--by-days", "6"]) == 2
    sweep("small", {"cluster.spares": [0, 2]}, 1, workers=1, out=tmp_path)
    assert capacity.main([str(tmp_path), "--by-days", "6"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "study.json" in first
    assert second.endswith("expected runs with a cost ([cost] in the scenario), found none")
