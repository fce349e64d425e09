"""Checkpoint intervals: the best by the fit, beside Daly's, and what the table counts."""

import numpy as np
import pytest
from scipy import stats

from clustersim import theory
from clustersim.scenario import load_scenario
from clustersim.study.intervals import around, best_interval, intervals

MTBF_S, SAVE_S = 10_000.0, 20.0


def world():
    return load_scenario(
        {
            "run": {"wall_time": "20 d"},
            "model": {"global_batch": 4, "step_time": "5 s"},
            "cluster": {"nodes": 4, "gpus_per_node": 1},
            "failures": [{"cause": "crash", "rate": "8.64 per day", "scope": "job"}],
            "checkpoint": {"every": "10 min", "stall": "20 s"},
            "data": {"documents": 1_000_000_000},
        }
    )


def test_the_fit_finds_the_peak_of_its_own_form():
    lengths = np.geomspace(100, 3000, 9)
    ettr = (1 / (1.01 + 20 / lengths + lengths / 20_000))[:, None].repeat(3, axis=1)
    assert best_interval(lengths, ettr) == pytest.approx((np.sqrt(20 * 20_000),) * 3, rel=0.002)


def test_the_fit_finds_the_peak_of_dalys_model():
    lengths = theory.young(SAVE_S, MTBF_S) * 2 ** np.linspace(-2, 2, 9)
    ettr = np.array([[theory.daly_efficiency(each, SAVE_S, MTBF_S, 60)] * 2 for each in lengths])
    assert best_interval(lengths, ettr).best_s == pytest.approx(theory.daly(SAVE_S, MTBF_S), rel=0.002)


@pytest.mark.parametrize(("slope", "end"), [(-1, 100), (1, 400)])
def test_a_best_beyond_what_was_tried_is_its_end(slope, end):
    lengths = np.array([100.0, 200.0, 300.0, 400.0])
    ettr = (1 / (2 - slope * lengths / 1000))[:, None].repeat(2, axis=1)
    assert best_interval(lengths, ettr) == pytest.approx((end, end, end))


def test_nine_intervals_lie_around_youngs():
    steps = [int(text.removesuffix(" steps")) for text in around(world())]
    middle = theory.young(SAVE_S, MTBF_S) / 5
    assert len(steps) == 9
    assert steps[4] == round(middle)
    assert (steps[0], steps[-1]) == (round(middle / 4), round(middle * 4))


def test_exponential_failures_agree_with_daly():
    found = intervals(world(), loaders=["restore"], replications=40, workers=1)
    assert found.best.ci95_low_s < found.daly_s < found.best.ci95_high_s
    assert found.best.ci95_high_s < 2 * found.best.ci95_low_s
    assert found.table["rolled_back_steps"].is_monotonic_increasing
    assert found.mtbf_s == pytest.approx(MTBF_S)
    runs = found.study.table
    assert found.met_mtbf_s == pytest.approx(3600 * runs["wall_h"].sum() / runs["interruptions"].sum())
    assert found.daly_met_s == pytest.approx(theory.daly(SAVE_S, found.met_mtbf_s))


@pytest.mark.slow
def test_nodes_and_racks_of_a_new_fleet_want_shorter_intervals_than_daly():
    """By a Weibull law of shape 0.7 what is new fails far more often than in the long run, of which Daly knows."""
    weibull = {"type": "weibull", "shape": 0.7}
    fleet = {
        "cluster": {"nodes": 1024, "gpus_per_node": 1, "nodes_per_domain": 4, "spares": 64},
        "model": {"global_batch": 1024, "step_time": "5 s"},
        "failures": [
            {"cause": "node", "rate": "5 per 1000 node-days", "law": weibull, "repair": "3 h"},
            {"cause": "rack", "rate": "5 per domain-year", "law": weibull, "scope": "domain", "repair": "3 h"},
        ],
    }
    found = intervals(load_scenario(world(), fleet), loaders=["restore"], replications=40, workers=1)
    assert found.best.ci95_high_s < 0.9 * found.daly_s
    assert found.met_mtbf_s < 0.75 * found.mtbf_s
    # At the rate that the runs met, the many clocks together are nearly without memory.
    assert found.best.best_s == pytest.approx(found.daly_met_s, rel=0.03)


@pytest.mark.slow
def test_a_job_that_fails_in_bursts_wants_longer_intervals_than_daly():
    """One clock of shape 0.7: it stops again soon after it stopped, with little to lose, or not for long."""
    bursts = {"failures.0.law": {"type": "weibull", "shape": 0.7}}
    found = intervals(load_scenario(world(), bursts), loaders=["restore"], replications=100, workers=1)
    assert found.best.ci95_low_s > found.daly_s
    assert found.best.ci95_low_s > found.daly_met_s


def test_damage_is_counted_for_each_planned_view():
    found = intervals(
        world(), ["5 min", "20 min", "30 min", "1 h"], ["restore", "no-rewind"], replications=2, workers=1
    )
    runs = found.study.table
    own = runs[(runs["checkpoint.every"] == "1 h") & (runs["loader.preset"] == "no-rewind")]
    damage = (own["extra_views"] + own["missing_views"]).sum() / own["planned_views"].sum()
    assert damage > 0
    row = found.table.iloc[3]
    assert row["damage_no-rewind"] == damage
    # Runs that end by time have nearly the same plans: the ratio's error is nearly that of the mean of ratios.
    ratios = (own["extra_views"] + own["missing_views"]) / own["planned_views"]
    half = stats.sem(ratios) * stats.t.ppf(0.975, len(own) - 1)
    assert row["damage_no-rewind_ci95_high"] - damage == pytest.approx(half, rel=0.15)
    assert damage - row["damage_no-rewind_ci95_low"] == pytest.approx(row["damage_no-rewind_ci95_high"] - damage)
    assert (found.table["damage_restore"] == 0).all()
    assert list(found.table["interval_s"]) == [300, 1200, 1800, 3600]


def test_intervals_of_one_length_count_once():
    with pytest.raises(ValueError, match=r"expected at least 4 intervals .*, found 5 min, 300 s, 1 h, 2 h"):
        intervals(world(), ["1 h", "5 min", "300 s", "2 h"], workers=1)


def test_intervals_shorter_than_a_write_are_shown_and_not_fitted():
    slow = load_scenario(world(), {"checkpoint.write": "4 min"})
    longer = ["5 min", "8 min", "12 min", "20 min"]
    assert int(around(slow)[0].removesuffix(" steps")) * 5 >= 240
    alone, beside = (
        intervals(slow, every, ["restore"], replications=3, workers=1) for every in (longer, ["1 min", *longer])
    )
    assert list(beside.table["interval"]) == ["1 min", *longer]
    assert beside.best == alone.best
