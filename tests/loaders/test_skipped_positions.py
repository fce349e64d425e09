"""Runs that pass over positions of their data: how much is read, by whom, and that a restart passes over them too."""

import numpy as np
import pytest

from clustersim import ScenarioError, load_scenario, simulate
from clustersim.data.skips import Skips

SKIP = [[100, 200], [950, 1000]]  # over the end of epoch 0


def scenario(skip, loader="restore", crashes=(), **run):
    return load_scenario(
        {
            "name": "skipped positions",
            "run": run or {"epochs": 2},
            "model": {"global_batch": 24, "step_time": "1 s"},
            "cluster": {"nodes": 4, "gpus_per_node": 1},
            "failures": [{"cause": "crash", "at_steps": list(crashes)}] if crashes else [],
            "checkpoint": {"every": "5 steps"},
            "data": {"samples": 960, "order": "shuffle", "skip": skip},
            "loader": {"preset": loader},
        }
    )


def test_positions_and_what_is_trained_are_two_counters():
    skips, read = Skips([(3, 5), (7, 8), (12, 20)]), [0, 1, 2, 5, 6, 8, 9, 10, 11, 20, 21]
    np.testing.assert_array_equal(skips.trained(np.arange(22)), [sum(p < q for p in read) for q in range(22)])
    for count, position in enumerate(read):
        assert skips.after(0, count) == position
    assert [p for low, high in skips.read(0, 22) for p in range(low, high)] == read
    assert skips.read(4, 8) == [(5, 7)]


@pytest.mark.parametrize("account", ["identity", "interval"])
@pytest.mark.parametrize("crashes", [(), (7,), (23, 44, 61)])
def test_what_is_skipped_is_never_read_and_nothing_else_is_lost(crashes, account):
    run = simulate(scenario(SKIP, crashes=crashes, epochs=2, account=account))
    assert run.steps == (2 * 960 - 150) // 24
    figures = run.summary()
    assert (figures["extra_views"], figures["missing_views"]) == (0, 0)
    assert (figures["extra_views_ideal"], figures["missing_views_ideal"]) == (0, (2 * 960 - 150) % 24)
    assert figures["identical_steps_share"] == 1
    assert run.ledger.samples.sum() == 960
    assert (run.ledger.samples * run.ledger.seen).sum() == run.steps * 24


def test_seventy_steps_read_the_first_positions_that_are_not_skipped():
    run = simulate(scenario(SKIP, crashes=(33,), steps=70))
    views = np.zeros(960, int)
    for epoch, offsets in ((0, np.r_[0:100, 200:950]), (1, np.arange(40, 70 * 24 + 150 - 960))):
        views[run.spaces.samples_at(0, epoch, offsets)] += 1
    np.testing.assert_array_equal(run.counts.seen, views)
    assert run.summary()["missing_views_ideal"] == 0


def test_a_loader_that_restarts_its_epoch_passes_over_them_once_more():
    """From step 20, 480 samples and 100 skipped positions into the epoch, back to its start: 480 views twice."""
    run = simulate(scenario(SKIP, "epoch", crashes=(23,)))
    assert run.summary()["extra_views"] == 480
    assert run.summary()["missing_views"] == 0
    seen_before = run.spaces.samples_at(0, 0, np.r_[0:100, 200:580])
    np.testing.assert_array_equal(run.counts.seen[seen_before] - run.counts.planned[seen_before], 1)


def test_the_same_run_said_twice_is_skipped_once():
    assert scenario([[150, 200], [100, 160], [100, 160]]).data.skipped == [(100, 200)]


@pytest.mark.parametrize(
    ("skip", "loader", "message"),
    [
        ([[5, 5]], "restore", "data.skip.0: expected positions [from, to) with from < to < 2^61, found [5, 5]"),
        ([[0, 5]], "torchdata-map", 'loader: expected last_batch = "span", one position of all ranks, with data.skip'),
        ([[0, 5]], "unseen-remainder", 'loader: expected counted_at = "trained" and no remainder with data.skip'),
    ],
)
def test_what_cannot_skip_says_so(skip, loader, message):
    with pytest.raises(ScenarioError) as error:
        scenario(skip, loader)
    assert message in str(error.value)
