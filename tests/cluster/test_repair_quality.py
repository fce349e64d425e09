"""Repairs that another follows, that mend nothing, or that the wrong node gets."""

import itertools
import math
import statistics

import numpy as np
import pytest
import simpy
from scipy import stats

from clustersim import load_scenario
from clustersim.cluster.repair import RepairShop
from clustersim.training.compile import World

HOUR_NS = 3600 * 10**9


def happenings(cause, replication=0, days=20, nodes=20, **cluster):
    scenario = load_scenario(
        {
            "name": "repairs",
            "run": {"wall_time": f"{days} d"},
            "model": {"global_batch": nodes, "step_time": "10 s"},
            "cluster": {"nodes": nodes, "gpus_per_node": 1, **cluster},
            "failures": [{"cause": "wear", **cause}],
            "checkpoint": {"every": "10 min"},
            "data": {"samples": "1 T"},
        }
    )
    return World(scenario, 0, replication).run().happenings


def hours(rows, kind):
    return [row.time_ns / HOUR_NS for row in rows if row.kind == kind]


TEN_HOURS = {"law": {"type": "empirical", "durations": ["10 h"]}}


def test_a_manual_repair_follows_a_share_of_the_others():
    cause = {"rate": "0.2 per node-day", "repair": "2 h", "escalates": 0.3, "manual_repair": "5 h"}
    rows = happenings(cause, days=100, nodes=100, spares=50)
    failed, durations = {}, []
    for row in rows:
        if row.kind == "failure":
            failed[row.node] = row.time_ns
        else:
            durations.append((row.time_ns - failed[row.node]) / HOUR_NS)
    assert sorted(set(durations)) == [2, 7]
    assert len(durations) > 2000
    by_hand = durations.count(7)
    assert abs(by_hand - 0.3 * len(durations)) < 3.5 * math.sqrt(len(durations) * 0.3 * 0.7)


def test_a_manual_repair_waits_for_a_slot_again():
    """Both nodes break at 10 h; one slot: until 12 and 14 h, then by hand until 17, for which one waits, and 20."""
    cause = TEN_HOURS | {"repair": "2 h", "escalates": 1, "manual_repair": "3 h"}
    assert hours(happenings(cause, nodes=2, days=0.9, repair_slots=1), "repair") == [17, 20]


@pytest.mark.parametrize(
    ("slots", "ends", "alarms"),
    [
        (None, [5, 5, 5], 3),
        # Five stages, and that the third arrives later.
        (1, [8, 11, 14], 6),  # the first stages until 2 and 4, the third repair until 8, then what is done by hand
        (2, [5, 6, 8], 6),
        (3, [5, 5, 5], 6),
    ],
)
def test_what_waits_for_no_slot_takes_one_alarm(slots, ends, alarms):
    env = simpy.Environment()
    shop, done = RepairShop(env, slots), []
    for arrives, stages in [(0, [2, 3]), (0, [2, 3]), (1, [4])]:
        shop.take_in(arrives, stages, lambda alarm: done.append(alarm.at_ns))
    events = 0
    while env.peek() < math.inf:
        env.step()
        events += 1
    assert (done, events) == (ends, alarms)


@pytest.mark.parametrize(("keys", "back"), [({"recurs": "3 h"}, 3), ({}, 10)])
def test_what_was_not_mended_fails_again_after_a_time_of_its_own(keys, back):
    rows = happenings(TEN_HOURS | {"repair": "1 h", "repair_fails": 1} | keys, nodes=1, days=1.7)
    assert hours(rows, "failure") == list(np.arange(10, 40.8, 1 + back))


@pytest.mark.parametrize(("escalates", "mends"), [(0, 0.6), (1, 0.8), (0.8, 0.8 * 0.8 + 0.2 * 0.6)])
def test_a_repair_that_mends_nothing_leaves_a_lemon_one(escalates, mends):
    """A lemon fails at the rate a until a repair, each with probability q, cures it: (1 - exp(-a q t)) / q times."""
    cause = {"rate": "0.02 per node-day", "repair": "0 s", "repair_fails": 0.4}
    if escalates:
        cause |= {"escalates": escalates, "manual_repair": "0 s", "manual_fails": 0.2}
    a, r, t, q = 0.2, 0.02, 20, mends
    as_lemon = (1 - math.exp(-a * q * t)) / q
    expected = 300 * (as_lemon + r * (t - as_lemon / a))
    lemons = {"share": 1, "times": 10, "cured_by_repair": True}
    counts = [len(hours(happenings(cause, k, nodes=300, lemons=lemons), "failure")) for k in range(30)]
    error = statistics.stdev(counts) / math.sqrt(len(counts))
    assert abs(statistics.mean(counts) - expected) < 3.5 * error
    assert error < 0.02 * expected


def test_the_wrong_node_is_taken_out_and_the_bad_one_fails_again():
    cause = {"rate": "0.1 per node-day", "repair": "30 min", "misdiagnosis": 0.5, "recurs": "1 h"}
    rows = happenings(cause, days=60, spares=4)
    failures = [row for row in rows if row.kind == "failure" and row.where == "job"]
    wrong = []
    for row, following in itertools.pairwise(rows):
        if following.kind == "misdiagnosis":
            assert (row.kind, row.time_ns) == ("failure", following.time_ns)
            assert following.node != row.node
            wrong.append((row, following.node))
    assert len(failures) > 200
    assert abs(len(wrong) - len(failures) / 2) < 3.5 * math.sqrt(len(failures) / 4)
    struck = {(row.time_ns, row.node) for row in rows if row.kind == "failure"}
    back = {(row.time_ns, row.node) for row in rows if row.kind == "repair"}
    for row, taken in wrong[:-2]:
        assert (row.time_ns + HOUR_NS, row.node) in struck
        assert (row.time_ns + HOUR_NS // 2, taken) in back
        assert (row.time_ns + HOUR_NS // 2, row.node) not in back


def test_each_node_is_mistaken_for_others_as_often():
    """Without spares all nodes are alike: a spare can be mistaken for another only while the job holds it."""
    cause = {"rate": "0.1 per node-day", "repair": "30 min", "misdiagnosis": 0.5, "recurs": "1 h"}
    taken = [row.node for row in happenings(cause, days=200) if row.kind == "misdiagnosis"]
    assert len(taken) > 300
    assert stats.chisquare(np.bincount(taken, minlength=20)).pvalue > 1e-3


def test_no_node_beside_the_spares_is_mistaken_more_often():
    """The first of each run: the job holds nodes 0 .. 19 of 24 then, and any but the one that failed is as likely."""
    cause = {"rate": "0.1 per node-day", "repair": "30 min", "misdiagnosis": 1}
    taken = []
    for replication in range(400):
        rows = happenings(cause, replication, days=1, spares=4)
        taken += [row.node for row in rows if row.kind == "misdiagnosis"][:1]
    assert len(taken) > 300
    assert stats.chisquare(np.bincount(taken, minlength=20)).pvalue > 1e-3


def test_the_only_node_of_a_job_is_not_mistaken():
    rows = happenings(TEN_HOURS | {"repair": "1 h", "misdiagnosis": 1}, nodes=1, spares=1, days=0.9)
    assert {row.kind for row in rows} == {"failure", "repair"}


def test_the_record_is_that_of_the_node_that_was_taken_out():
    """Two nodes that break at 10 h: each is taken for the other, and its first failure on record retires it."""
    cause = TEN_HOURS | {"repair": "1 h", "misdiagnosis": 1}
    rows = happenings(cause, nodes=3, days=0.6, retirement={"failures": 1, "within": "1 d", "replaced": "2 h"})
    mistaken, retired = ([row.node for row in rows if row.kind == kind] for kind in ("misdiagnosis", "retirement"))
    assert len(mistaken) > 0
    assert set(mistaken) <= set(retired)
    assert set(hours(rows, "repair")) == {12}
