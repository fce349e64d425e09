"""The forecast: closed forms beside the simulation, and its warnings."""

import math

import numpy as np
import pytest
from scipy import stats

from clustersim import load_scenario, simulate
from clustersim.forecast import forecast
from clustersim.theory import daly, first_order_ettr, young


def test_llama():
    expected = forecast(load_scenario("llama3-405b"))
    assert expected.failures_per_day * 54 == pytest.approx(466)
    assert expected.interruption_mean_h == pytest.approx(54 * 24 / 466)
    assert expected.failures == pytest.approx(466)
    assert (expected.interval_steps, expected.interval_s) == (97, pytest.approx(97 * 6.2208))
    hours = 3600
    mean_s = expected.interruption_mean_h * hours
    assert expected.young_s == pytest.approx(young(1, mean_s))
    assert expected.daly_s == pytest.approx(daly(1, mean_s))
    detection_s = (410 * 30 + 7 * 600 + 2 * 30 + 47 * 0) / 466
    assert expected.restart_s == pytest.approx(detection_s + 240 + 130)
    assert expected.ettr_first_order == pytest.approx(
        first_order_ettr(expected.interval_s, 1, mean_s, expected.restart_s)
    )
    # 356 failures that take a host; the mean of a lognormal law is its median times exp(sigma^2 / 2).
    assert expected.nodes_down == pytest.approx(356 / 54 / 24 * (2080 / 2048) * 20 * math.exp(0.5))
    assert expected.spare_shortfall == pytest.approx(stats.poisson.sf(32, expected.nodes_down))


def test_a_run_without_failures_takes_the_steps_and_the_time_that_were_forecast():
    for end in ({"run.wall_time": "10 d"}, {"run.wall_time": None, "run.steps": 1234}):
        scenario = load_scenario("small", {"failures": None, **end})
        expected, run = forecast(scenario), simulate(scenario)
        assert run.steps == expected.failure_free_steps
        assert run.history.wall_ns / 3.6e12 == expected.failure_free_h
        assert expected.interruption_mean_h is expected.ettr_first_order is expected.young_s is None


def test_nodes_down_follow_the_poisson_law_of_the_shortfall():
    """The share of runs with more nodes in repair than spares, at one time each, against the forecast.

    Few nodes are down at once, so that those that are down, which cannot fail, hardly lower the rate.
    """
    overrides = {
        "run.wall_time": "2 d",
        "cluster.repair_slots": None,
        "cluster.spares": 0,
        "failures": [{"cause": "GPU", "rate": "10 per 1000 node-days", "repair": "20 h"}],
    }
    scenario = load_scenario("small", overrides)
    expected = forecast(scenario)
    runs, short = 2000, 0
    for number in range(runs):
        events = simulate(scenario, number).history.happenings
        balance = sum({"failure": 1, "repair": -1}[event.kind] for event in events)
        short += balance > expected.spares
    assert 0.05 < expected.spare_shortfall < 0.95
    error = math.sqrt(expected.spare_shortfall * (1 - expected.spare_shortfall) / runs)
    assert abs(short / runs - expected.spare_shortfall) < 3 * error


def test_nodes_that_never_come_back_are_lost_and_not_in_repair():
    causes = [
        {"cause": "death", "rate": "100 per 1000 node-days", "repair": "never"},
        {"cause": "illness", "rate": "50 per 1000 node-days", "repair": "12 h"},
        {"cause": "swoon", "rate": "50 per 1000 node-days"},
    ]
    overrides = {"failures": causes, "run.wall_time": "10 d", "cluster.nodes": 16, "cluster.spares": 2}
    expected = forecast(load_scenario("small", overrides))
    assert [cause.takes for cause in expected.causes] == ["node for good", "node for repair", "no node"]
    assert expected.nodes_lost == pytest.approx(0.1 * 18 * 10)
    assert expected.nodes_down == pytest.approx(0.05 * 18 * 0.5)


def test_a_hang_that_nothing_notices_is_warned_of_and_leaves_the_mean_of_the_others():
    alone = [{"cause": "crash", "rate": "1 per day", "scope": "job", "detection": "2 min"}]
    silent = {"cause": "hang", "kind": "hang", "rate": "1 per day", "scope": "job", "detection": "never"}
    expected, without = (forecast(load_scenario("small", {"failures": causes})) for causes in ([*alone, silent], alone))
    assert [cause.detection_s for cause in expected.causes] == [120, None]
    assert expected.restart_s == without.restart_s
    assert expected.failures_per_day == 2
    warned = "nothing notices hang: from the first time on the job hangs until the run is over"
    assert [told for told in expected.warnings if told not in without.warnings] == [warned]


def test_cold_and_borrowed_nodes_replace_others_too_and_cold_ones_fail_as_spares_do():
    plain, more = {"cluster.spares": 0}, {"cluster.cold": {"nodes": 2, "start_up": "5 min"}}
    lent = {"cluster.borrowed": {"nodes": 3, "after": "1 h"}}
    none, cold, both = (forecast(load_scenario("small", keys)) for keys in (plain, plain | more, plain | more | lent))
    assert [expected.spares for expected in (none, cold, both)] == [0, 2, 5]
    assert cold.nodes_down == both.nodes_down == pytest.approx(18 / 16 * none.nodes_down)
    assert both.spare_shortfall == pytest.approx(stats.poisson.sf(5, cold.nodes_down))
    warned = forecast(load_scenario("small", plain | more | {"failures.0.repair": "9 d"})).warnings
    assert any("than the 2 spares replace" in told for told in warned)


def test_the_first_order_is_that_of_restarts():
    in_place = {"recovery.policy": "shrink", "recovery.in_place": True}
    assert forecast(load_scenario("small", in_place)).ettr_first_order is None


@pytest.mark.parametrize(
    ("overrides", "warning"),
    [
        ({"failures.0.repair": "40 d", "cluster.repair_slots": 1}, "repairs pile up"),
        ({"cluster.spares": 0, "failures.0.repair": "5 d"}, "spares run short"),
        ({"checkpoint.every": "2 d"}, "the checkpoint interval is longer"),
        ({"run.wall_time": "3 y", "failures.2.rate": "100 per day"}, "some 110,924 failures stop the job"),
    ],
)
def test_warnings(overrides, warning):
    assert any(told.startswith(warning) for told in forecast(load_scenario("small", overrides)).warnings)


def test_a_scripted_failure_is_counted_and_has_no_rate():
    expected = forecast(load_scenario("workshop"))
    assert (expected.failures, expected.scripted_failures, expected.failures_per_day) == (1, 1, 0)
    assert np.isclose(expected.restart_s, 5)
