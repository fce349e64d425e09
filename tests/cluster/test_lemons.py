"""Nodes that are worse than others, and what giving them up does."""

import math
import statistics
from dataclasses import replace

import pytest

from clustersim import load_scenario
from clustersim.cluster.compile import causes_of, machine_of
from clustersim.cluster.lifetimes import Lifetimes
from clustersim.training.compile import World

HOUR_NS = 3600 * 10**9


def cluster(cause, days=20, nodes=1000, **keys):
    return load_scenario(
        {
            "name": "lemons",
            "run": {"wall_time": f"{days} d"},
            "model": {"global_batch": nodes, "step_time": "10 s"},
            "cluster": {"nodes": nodes, "gpus_per_node": 1, **keys},
            "failures": [{"cause": "wear", **cause}],
            "checkpoint": {"every": "10 min"},
            "data": {"samples": "1 T"},
        }
    )


def events(scenario, replication=0, kind="failure"):
    return [row for row in World(scenario, 0, replication).run().happenings if row.kind == kind]


def close(counts, expected):
    error = statistics.stdev(counts) / math.sqrt(len(counts))
    assert abs(statistics.mean(counts) - expected) < 3.5 * error
    assert error < 0.03 * expected


LEMONS = {"share": 0.1, "times": 10}


def test_lemons_fail_so_many_times_as_often():
    """Of 1,000 nodes 100 fail 2 times in 20 days and 900 fail 0.2 times."""
    scenario = cluster({"rate": "0.01 per node-day"}, lemons=LEMONS)
    assert scenario.sizes.failures_per_ns * 86_400 * 10**9 == pytest.approx(0.01 * 1000 * 1.9)
    total, of_lemons = [], []
    for replication in range(30):
        lifetimes = Lifetimes(0, replication, 0.1)
        nodes = [row.node for row in events(scenario, replication)]
        total.append(len(nodes))
        of_lemons.append(sum(lifetimes.is_lemon(node, 0) for node in nodes))
    close(total, 380)
    close(of_lemons, 200)


@pytest.mark.parametrize("law", [{"type": "weibull", "shape": 2}, {"type": "gamma", "shape": 0.5}])
def test_first_lives_are_those_of_the_nodes_one_by_one(law):
    scenario = cluster({"rate": "0.01 per node-day", "law": law}, lemons=LEMONS)
    (cause,), lifetimes = causes_of(scenario, 0, 0), Lifetimes(0, 0, 0.1)
    horizon = 20 * 24 * HOUR_NS
    lives = {node: lifetimes.life(cause, node, 0, lifetimes.is_lemon(node, 0)) for node in range(1000)}
    within = {node: life for node, life in lives.items() if life <= horizon}
    assert {node: life for _, node, life in lifetimes.first_lives([(cause, 1000)], horizon)} == within
    lemons = [node for node in range(1000) if lifetimes.is_lemon(node, 0)]
    assert 70 < len(lemons) < 130
    for node in lemons:
        assert lives[node] == pytest.approx(lifetimes.life(cause, node, 0) / 10, rel=1e-9, abs=2)


@pytest.mark.parametrize("lemons", [None, LEMONS])
def test_first_lives_of_many_nodes_are_told_in_order(lemons):
    """By several causes, more nodes than are drawn at once."""
    scenario = cluster({"rate": "0.001 per node-day"}, nodes=60_000, lemons=lemons)
    share = machine_of(scenario).lemon_share
    (cause,), lifetimes = causes_of(scenario, 0, 0), Lifetimes(0, 0, share)
    causes = [replace(cause, name=name) for name in ("wear", "tear", "rust")]
    horizon = 20 * 24 * HOUR_NS
    aging = list(zip(causes, (60_000, 41, 50_000), strict=True))
    lives = (
        (cause, node, lifetimes.life(cause, node, 0, lifetimes.is_lemon(node, 0)))
        for cause, nodes in aging
        for node in range(nodes)
    )
    assert list(lifetimes.first_lives(aging, horizon)) == [found for found in lives if found[2] <= horizon]


def test_a_repair_cures_a_lemon():
    """Its first failure comes at ten times the rate r, all others at r, by the time t."""
    r, t = 0.02, 20
    failed_once = 1 - math.exp(-10 * r * t)
    of_a_lemon = failed_once + r * (t - failed_once / (10 * r))
    cured = cluster({"rate": "0.02 per node-day", "repair": "0 s"}, lemons=LEMONS | {"cured_by_repair": True})
    counts = [len(events(cured, replication)) for replication in range(30)]
    close(counts, 1000 * (0.9 * r * t + 0.1 * of_a_lemon))


def test_a_lemon_is_one_to_every_cause_and_to_each_of_its_lives():
    scenario = cluster({"rate": "0.5 per node-day", "repair": "1 h"}, lemons={"share": 0.2, "times": 50}, nodes=40)
    lifetimes = Lifetimes(0, 0, 0.2)
    often = [node for node in range(40) if lifetimes.is_lemon(node, 0)]
    counts = [0] * 40
    for row in events(scenario):
        counts[row.node] += 1
    assert len(often) > 3
    assert min(counts[node] for node in often) > 150 > 40 > max(counts[node] for node in range(40) if node not in often)


TEN_HOURS = {"law": {"type": "empirical", "durations": ["10 h"]}}


@pytest.mark.parametrize(
    ("policy", "retired_h"),
    [
        ({"failures": 3, "within": "20 h"}, [30, 61, 92]),
        ({"failures": 3, "within": "1199 min"}, []),
        ({"failures": 1, "within": "1 s"}, [10, 21, 32, 43, 54, 65, 76, 87, 98]),
        ({"score": 1.8, "half_life": "10 h"}, [40, 81]),  # scores 1, 1.5, 1.75, 1.875
        ({"score": 2, "half_life": "10 h"}, []),
    ],
)
def test_a_node_that_fails_too_often_is_given_up(policy, retired_h):
    """It fails every 10 h and a restart mends it; a new one stands in its place an hour after it is given up."""
    scenario = cluster(TEN_HOURS, days=4.2, nodes=1, retirement=policy | {"replaced": "1 h"})
    happenings = World(scenario, 0, 0).run().happenings
    assert [row.time_ns / HOUR_NS for row in happenings if row.kind == "retirement"] == retired_h
    assert [row.time_ns / HOUR_NS for row in happenings if row.kind == "repair"] == [
        hour + 1 for hour in retired_h if hour < 99
    ]


def test_a_node_that_is_given_up_and_not_replaced_is_gone():
    scenario = cluster(TEN_HOURS, nodes=1, retirement={"failures": 2, "within": "1 d"})
    history = World(scenario, 0, 0).run()
    assert (history.outcome, history.wall_ns) == ("starved", 20 * HOUR_NS)


def test_a_silent_failure_is_on_the_record_when_it_is_seen():
    silent = TEN_HOURS | {"kind": "silent", "detection": "2 h"}
    scenario = cluster(silent, nodes=1, retirement={"failures": 2, "within": "10 h", "replaced": "1 h"})
    assert events(scenario, kind="retirement")[0].time_ns == 22 * HOUR_NS


def test_the_one_in_its_place_may_be_sound():
    """Lemons are given up one by one: after a while nearly all failures are those of sound nodes."""
    weather = {"rate": "0.02 per node-day", "repair": "1 h"}
    keys = {"lemons": {"share": 0.1, "times": 50}, "days": 60, "nodes": 200, "spares": 40}
    kept = cluster(weather, **keys)
    given_up = cluster(weather, **keys, retirement={"failures": 3, "within": "10 d", "replaced": "1 d"})
    late = [sum(row.time_ns > 30 * 24 * HOUR_NS for row in events(scenario)) for scenario in (kept, given_up)]
    assert late[0] == pytest.approx(240 * 0.02 * 30 * 5.9, rel=0.25)
    assert 0.7 * 240 * 0.02 * 30 < late[1] < 0.3 * late[0]
    assert machine_of(given_up).retirement is not None
