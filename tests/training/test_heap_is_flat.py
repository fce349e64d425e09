"""A run of any length keeps a short queue of events: what has lost a race does not wait in it for ever."""

import gc
from collections import deque

import pytest
import simpy

from clustersim import load_scenario
from clustersim.training.compile import World

NODES = 8
WEAR = {"cause": "wear", "rate": "4 per node-day", "repair": "20 min"}
# Every kind of alarm: timeouts and detections that a nearer failure overtakes, repairs, cold starts, borrowed nodes.
CAUSES = [
    WEAR | {"ages": "wall"},
    WEAR | {"cause": "load", "ages": "training", "escalates": 0.2, "manual_repair": "2 h"},
    WEAR | {"cause": "age", "ages": "in_job", "repair_starts": "detection", "detection": "5 min"},
    {"cause": "hang", "kind": "hang", "rate": "100 per day", "scope": "job", "detection": "10 min"},
    {"cause": "bit flip", "kind": "silent", "rate": "10 per day", "scope": "job", "detection": "1 h"},
    {"cause": "bug", "rate": "150 per day", "scope": "job"},
]


def world(restarts):
    scenario = load_scenario(
        {
            "name": "storm",
            "run": {"wall_time": f"{restarts // 100} d"},
            "model": {"global_batch": NODES, "step_time": "1 s"},
            "cluster": {
                "nodes": NODES,
                "gpus_per_node": 1,
                "spares": 1,
                "repair_slots": 3,
                "cold": {"nodes": 2, "start_up": "10 min"},
                "borrowed": {"nodes": 4, "after": {"type": "exponential", "mean": "1 h"}},
            },
            "failures": CAUSES,
            "checkpoint": {"every": "1 min", "stall": "1 s", "write": "5 s"},
            "recovery": {"policy": "shrink", "start_up": "1 min", "load": {"type": "exponential", "mean": "30 s"}},
            "data": {"samples": "1 T"},
        }
    )
    return World(scenario, 0, 0)


def longest_queue(run, restarts):
    """The most events that wait at one time until so many legs are over."""
    longest = 0
    while len(run.job.history.legs) < restarts:
        run.env.step()
        longest = max(longest, len(run.env._queue))
    return longest


def test_the_queue_of_events_stays_short():
    """An alarm for each node that is out or starts, and a few of the job; twenty times as many restarts add none."""
    run = world(10_000)
    assert longest_queue(run, 500) < 30
    assert longest_queue(run, 10_000) < 30


FAR = [
    {"failures": [CAUSES[-1], {"cause": "drill", "at_steps": [10**9]}]},
    {"failures": CAUSES[-1:], "rewinds": [{"at_step": 10**9, "back": 100}]},
    {"failures": CAUSES[-1:], "checkpoint": {"every": "1 min", "corrupt_later": 0.5, "bad_after_steps": 10**5}},
    {"failures": CAUSES[-1:], "run": {"steps": 10**9, "limit": "400 d"}},
]


@pytest.mark.parametrize("far", FAR, ids=["failure", "rewind", "bad checkpoint", "end"])
def test_what_no_leg_comes_to_does_not_pile_up(far):
    """What is due at a step far ahead is aimed at by every leg, and waits in the queue once."""
    document = {
        "name": "far",
        "run": {"wall_time": "400 d"},
        "model": {"global_batch": 1, "step_time": "1 s"},
        "cluster": {"nodes": 1, "gpus_per_node": 1},
        "checkpoint": {"every": "1 min"},
        "data": {"samples": "1 T"},
    }
    assert longest_queue(World(load_scenario(document | far), 0, 0), 2000) < 10


def containers():
    """Every list, dictionary, set and queue that there is, by its identity."""
    gc.collect()
    return {id(each): each for each in gc.get_objects() if isinstance(each, (list, dict, set, deque))}


@pytest.mark.slow
def test_a_hundred_thousand_restarts_leave_queue_and_memory_flat():
    """After 100,000 restarts no more events live than after 10,000; nothing grew but records, one a leg or failure."""
    run = world(100_000)
    alive, sizes = [], []
    for restarts in (10_000, 100_000):
        assert longest_queue(run, restarts) < 30
        held = containers()
        sizes.append({identity: len(each) for identity, each in held.items()})
        alive.append(sum(isinstance(each, simpy.Event) for each in gc.get_objects()))
    assert max(alive) < 40
    grown = [held[identity] for identity in sizes[0].keys() & held if sizes[1][identity] > sizes[0][identity] + 500]
    legs, happenings = run.job.history.legs, run.cluster.happenings
    assert 4 <= len(grown) <= 5  # legs, recoveries, happenings, outages, and what the checkpoints of a leg are
    assert all(len(each) <= len(legs) for each in grown if each is not happenings)
