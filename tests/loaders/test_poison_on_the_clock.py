"""Poison that a reshuffling loader meets at another step after each restart: in a run, and against its closed forms."""

import math

import numpy as np
import pytest
from literal.poison import Victim

from clustersim import load_scenario, simulate
from clustersim.history import Refused
from clustersim.loaders.follow import Follower
from clustersim.loaders.poison import (
    bisection_restarts,
    crashes_reshuffled,
    crashes_reshuffled_law,
    crashes_until_cornered,
)
from clustersim.loaders.remainder import RemainderSpaces
from clustersim.loaders.taken_out import follower_of

JOB = {
    "run": {"epochs": 1},
    "model": {"global_batch": 8, "step_time": "1 min"},
    "cluster": {"nodes": 4, "gpus_per_node": 1},
    "checkpoint": {"every": "10 steps"},
    "data": {"samples": 960, "shards": 12, "order": "shuffle"},
}
BLOCKS = 12
WANDERING = {"reshuffle": {"preset": "reshuffle"}, "remainder": {"preset": "unseen-remainder"}}


def crashes(run):
    return [leg.stop for leg in run.history.legs if leg.ended_by == "poison"]


def test_reshuffled_the_number_of_crashes_has_its_law_on_the_clock():
    """1,000 replications; chi-squared of the numbers 1, 2, 3 and more, and the mean."""
    scenario = load_scenario({**JOB, "loader": WANDERING["reshuffle"], "poison": {"samples": [500]}})
    counts = np.array([len(crashes(simulate(scenario, replication))) for replication in range(1000)])
    law = crashes_reshuffled_law(BLOCKS, 40)
    expected = crashes_reshuffled(BLOCKS)
    spread = math.sqrt((law * np.arange(41) ** 2).sum() - expected**2)
    assert abs(counts.mean() - expected) < 4 * spread / math.sqrt(1000)
    classes = np.array([law[1], law[2], law[3], law[4:].sum()]) * 1000
    seen = np.bincount(np.minimum(counts, 4), minlength=5)
    assert seen[0] == 0
    assert ((seen[1:] - classes) ** 2 / classes).sum() < 16.3  # 0.1 % of the law with three degrees of freedom


def test_in_the_unread_rest_the_sample_is_cornered_on_the_clock():
    """From the first checkpoint on; before it the run begins anew in its own order, and crashes at the same step."""
    poison = {"samples": [500], "retries": 3, "act": "quarantine"}
    scenario = load_scenario({**JOB, "loader": WANDERING["remainder"], "poison": poison})
    corners, at_once = [], 0
    for replication in range(200):
        steps = crashes(simulate(scenario, replication))
        if steps[0] < 10:
            assert steps == [steps[0]] * 4
            at_once += 1
        else:
            corners.append(1 + next(index for index, step in enumerate(steps) if step >= 110))
    later = [1.0] + [1 + crashes_until_cornered(blocks) for blocks in range(2, BLOCKS)]
    assert abs(np.mean(corners) - np.mean(later)) < 4 * np.std(corners) / math.sqrt(len(corners))
    assert abs(at_once - 200 / BLOCKS) < 4 * math.sqrt(200 / BLOCKS)


def literally(run, poison, together, retries, act):
    """Read every batch of every leg: how often the final model sees each sample, and how often it must crash."""
    loader, follower = run.loader, Follower(run.loader)
    victim = Victim(poison, together, retries, act, 8)
    goes_on = False
    for leg in run.history.legs:
        assert not isinstance(follower.begin(leg.start, leg.data, goes_on), Refused)
        stretch = loader.advance(follower._begun[-1][1], leg.start, leg.read - leg.start).stretch
        batches = [np.concatenate(loader.batch_at(stretch, step, leg.data)) for step in range(leg.start, leg.read)]
        victim.live(leg, [batch.tolist() for batch in batches])
        follower.end(leg.stop, leg.read)
        goes_on = leg.goes_on
    return np.bincount([x for batch in victim.model[: run.steps] for x in batch], minlength=955), len(victim.crashes)


@pytest.mark.parametrize("comes_back", WANDERING)
@pytest.mark.parametrize("order", ["shuffle", "shard-shuffle"])
@pytest.mark.parametrize(
    ("together", "act"), [(1, "skip-batch"), (1, "quarantine"), (1, "bisect"), (2, "quarantine"), (2, "skip-batch")]
)
def test_it_crashes_where_reading_every_batch_says(comes_back, order, together, act):
    """Beside other failures, over two epochs that do not end with a batch's end."""
    poison = (3, 323, 643) if together == 1 else tuple(first + more for first in range(3, 955, 80) for more in (0, 1))
    scenario = load_scenario(
        {
            **JOB,
            "run": {"steps": 230, "account": "identity"},
            "failures": [{"cause": "crash", "at_steps": [30, 155]}],
            "data": {"samples": 955, "shards": 12, "order": order},
            "loader": WANDERING[comes_back],
            "poison": {"samples": poison, "together": together, "act": act, "retries": 0 if together == 2 else 1},
        }
    )
    met = 0
    for replication in range(3):
        run = simulate(scenario, replication)
        seen, crashed = literally(run, poison, together, scenario.poison.retries, act)
        np.testing.assert_array_equal(run.counts.seen, seen)
        trials = len(crashes(run)) - crashed
        acted = run.summary()["poison_acted"]
        assert trials == (acted * bisection_restarts(8) if act == "bisect" else 0)
        met += acted
    if comes_back == "remainder" or together == 2:
        assert met > 0


def test_a_trial_that_meets_other_poison_before_crashes_there_and_is_made_later():
    """In the run's order the first sample is in step 59; after the first restart the second one is in step 53."""
    parts = {**JOB, "loader": WANDERING["reshuffle"]}
    spaces = simulate(load_scenario(parts)).loader.spaces
    first = spaces.samples_at(0, 0, np.arange(59 * 8, 60 * 8)).tolist()
    still_to_come = set(spaces.samples_at(0, 0, np.arange(60 * 8, 960)).tolist())
    second = [
        sample for sample in spaces.samples_at(1, 0, np.arange(53 * 8, 54 * 8)).tolist() if sample in still_to_come
    ]
    poison = {"samples": [first[0], second[0]], "retries": 0, "act": "bisect"}
    run = simulate(load_scenario({**parts, "poison": poison}))
    assert crashes(run) == [59, 53, *[53] * 3, *[59] * 3]  # a search of a batch of 8 has three trials
    assert run.poison.acted_at == (59, 53)


def test_a_reshuffle_passes_by_chance_and_a_place_that_comes_back_does_not():
    figures = {}
    for name, loader in {**WANDERING, "exact": {"preset": "restore"}}.items():
        run = simulate(load_scenario({**JOB, "loader": loader, "poison": {"samples": [500], "retries": 2}}), 3)
        figures[name] = run.summary()
        assert run.summary()["poison_crashes"] == run.summary()["interruptions"] == len(crashes(run))
    exact, reshuffle, rest = figures["exact"], figures["reshuffle"], figures["remainder"]
    assert (exact["poison_crashes"], exact["poison_steps"], exact["poison_acted"]) == (3, 1, 1)
    assert reshuffle["poison_crashes"] == reshuffle["poison_steps"] >= 1
    assert (reshuffle["poison_acted"], reshuffle["steps"]) == (0, 120)
    assert reshuffle["missing_views"] > 8  # of the reshuffle itself
    assert rest["poison_steps"] < rest["poison_crashes"]
    assert rest["missing_views"] == 8 * rest["poison_acted"] > 0


def test_the_law_of_the_orders_takes_out_as_much():
    parts = {**JOB, "run": {"epochs": 1, "account": "interval"}, "loader": WANDERING["remainder"]}
    run = simulate(load_scenario({**parts, "poison": {"samples": [500], "act": "quarantine", "retries": 1}}), 1)
    assert not run.by_identity
    assert (run.summary()["extra_views"], run.summary()["missing_views"]) == (0, 1)
    as_planned = run.identical_steps
    assert as_planned == run.history.legs[0].kept  # from there on the rest of the epoch is read in another order


def test_with_a_storage_it_crashes_at_the_same_steps():
    parts = {**JOB, "loader": WANDERING["reshuffle"], "poison": {"samples": [500]}}
    plain = simulate(load_scenario(parts))
    data = {**JOB["data"], "bytes_per_sample": "1 kB"}
    stored = simulate(load_scenario({**parts, "data": data, "storage": {"preset": "nvme"}}))
    assert crashes(stored) == crashes(plain) != []
    assert stored.time_ns["loader_resume"] > 0


def test_survivors_that_go_on_in_place_meet_it_again():
    """No checkpoint is read, so the order stays: in place the crash comes back at the same step."""
    recovery = {"policy": "shrink", "in_place": True, "regroup": "1 s"}
    parts = {**JOB, "recovery": recovery, "loader": WANDERING["reshuffle"]}
    run = simulate(load_scenario({**parts, "poison": {"samples": [500], "retries": 1}}))
    assert len(set(crashes(run))) == 1
    assert (len(crashes(run)), run.summary()["poison_acted"]) == (2, 1)


def test_a_leg_costs_one_shuffle_of_what_the_one_before_had_left(monkeypatch):
    """Of a billion samples: the places of a hundred, remainder after remainder, are those that the loader tells."""
    calls = []
    moved = RemainderSpaces.moved
    monkeypatch.setattr(RemainderSpaces, "moved", lambda *args: calls.append(1) or moved(*args))
    data = {"samples": 10**9, "shards": 1, "order": "shuffle"}
    poison = {"samples": list(range(0, 10**9, 10**7)), "retries": 1}
    parts = {"run": {"steps": 900_000, "limit": "9000 d"}, "model": {"global_batch": 1000, "step_time": "1 s"}}
    run = simulate(load_scenario({**JOB, **parts, "data": data, "loader": WANDERING["remainder"], "poison": poison}))
    restarts = len(run.history.legs) - 1
    assert 50 < len(crashes(run)) <= len(calls) <= restarts
    calls.clear()
    wandering = follower_of(run.scenario, run.loader, 0, 0)
    wandering.found(run.history)
    assert len(calls) <= restarts
    family = wandering._begun[-1][1].family
    expected = [
        run.loader.spaces.offset_of(np.array([family]), np.array([0]), sample)[0] for sample in poison["samples"]
    ]
    assert wandering._places[0].tolist() == expected
