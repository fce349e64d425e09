"""One rule for what happens at one instant, whatever was made first: every order of creation and every hash seed."""

import itertools
import os
import subprocess
import sys

import pytest
import simpy

from clustersim import load_scenario
from clustersim.cluster.clock import Alarm, Rank
from clustersim.training.compile import World

# Everything takes whole hours, so steps and saves, repairs, recoveries and failures end together time and again.
HOURS = {"type": "empirical", "durations": ["1 h", "3 h", "8 h", "20 h"]}
CAUSES = [
    {"cause": "node", "law": HOURS, "repair": "1 h"},
    {"cause": "other", "law": HOURS, "repair": "1 h"},
    {"cause": "bug", "scope": "job", "law": HOURS},
    {"cause": "script", "at_times": ["1 h", "2 h", "9 h"], "detection": "1 h"},
]


def history(causes):
    scenario = load_scenario(
        {
            "name": "ties",
            "run": {"wall_time": "100 h"},
            "model": {"global_batch": 12, "step_time": "10 s"},
            "cluster": {"nodes": 4, "gpus_per_node": 1, "spares": 3},
            "failures": causes,
            "checkpoint": {"every": "1 h"},
            "recovery": {"start_up": "1 h"},
            "data": {"samples": "1 T"},
        }
    )
    return World(scenario, 0, 0).run()


def test_alarms_of_one_instant_ring_by_rank():
    for made in itertools.permutations(Rank):
        env, rung = simpy.Environment(), []
        for rank in made:
            Alarm(env, 7, rank, lambda _, rank=rank, rung=rung: rung.append(rank))
        env.run()
        assert rung == [Rank.COMPLETE, Rank.REPAIR, Rank.STRIKE, Rank.FIND, Rank.DECIDE, Rank.END]


def test_the_order_of_causes_moves_nothing():
    """But what a failure is called: of several causes of one instant it is the first in the scenario."""
    runs = [history(causes) for causes in itertools.permutations(CAUSES)]
    assert len(runs[0].legs) > 5
    for run in runs:
        assert [leg._replace(ended_by="") for leg in run.legs] == [leg._replace(ended_by="") for leg in runs[0].legs]
        assert run.recoveries == runs[0].recoveries


AGED = {"cause": "aged", "law": {"type": "empirical", "durations": ["2 h"]}, "scope": "job", "ages": "training"}
CRASH = {"cause": "crash", "at_times": ["2 h"]}
SEEN = {"cause": "seen", "kind": "silent", "at_times": ["1 h"], "detection": "1 h"}
SEEN_BY_STEP = {"cause": "seen", "kind": "silent", "at_steps": [359], "detection": "3605 s"}  # amid step 359


@pytest.mark.parametrize("causes", [*itertools.permutations([AGED, CRASH, SEEN]), (CRASH, SEEN_BY_STEP)])
def test_an_interruption_is_called_by_the_first_cause_in_the_scenario(causes):
    """Also where one strikes when another is seen, whichever alarm was set first, and whatever time they age by."""
    for order in (causes, causes[::-1]):
        first = history(order).legs[0]
        assert (first.end_ns, first.ended_by) == (2 * 3600 * 10**9, order[0]["cause"])


@pytest.mark.parametrize("seen", [SEEN, SEEN_BY_STEP], ids=["by time", "by step"])
def test_what_is_found_is_told_after_what_strikes(seen):
    told = [(each.kind, each.cause) for each in history([seen, CRASH]).happenings if each.time_ns == 2 * 3600 * 10**9]
    assert told == [("failure", "crash"), ("detection", "seen")]


def test_a_step_and_its_save_complete_before_the_failure_of_that_instant():
    assert history(CAUSES).legs[0].kept == 360


def test_of_two_causes_that_strike_a_node_at_once_the_other_ends_unseen():
    """Each node fails at 1 h, is mended of what struck it, and fails after another hour, which both lives last."""
    law = {"type": "empirical", "durations": ["1 h"]}
    run = history([{"cause": name, "law": law, "repair": repair} for name, repair in (("a", "1 h"), ("b", "9 h"))])
    told = [(each.kind, each.cause) for each in run.happenings if each.node == 0]
    assert told[:4] == [("failure", "a"), ("repair", "a")] * 2
    assert all(recovery.interruptions == 1 for recovery in run.recoveries)


def test_hash_seeds_change_nothing():
    """Sets and dictionaries of strings come in another order in each of these processes."""
    program = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from test_ties import CAUSES, history\n"
        "print(set('abcdefgh'), history(CAUSES), sep='|')"
    )
    command = [sys.executable, "-c", program, os.path.dirname(__file__)]
    told = [
        subprocess.run(command, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True)
        for seed in "0123"
    ]
    orders, histories = zip(*(each.stdout.split("|") for each in told), strict=True)
    assert len(set(orders)) > 1
    assert len(set(histories)) == 1
