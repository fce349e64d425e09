"""The workshop: 240 documents, batch 8, 60 steps, a checkpoint every 10 steps, one failure; every number by hand."""

import math
import statistics

import numpy as np
import pytest

from clustersim import load_scenario, planned_batch, simulate
from clustersim.loaders.split import rank_slices

STEPS = range(60)


def workshop(loader, fail_at=47, **overrides):
    changes = {"loader.preset": loader, "failures.0.at_steps": [fail_at]}
    changes |= {key.replace("__", "."): value for key, value in overrides.items()}
    return load_scenario("workshop", changes)


def ledger(run):
    return {(row.planned, row.seen): row.samples for row in run.ledger.itertuples()}


def hypergeometric(population, good, drawn):
    mean = drawn * good / population
    return mean, math.sqrt(mean * (1 - good / population) * (population - drawn) / (population - 1))


@pytest.mark.parametrize("step", STEPS)
def test_restore_never_damages(step):
    run = simulate(workshop("restore", step))
    assert ledger(run) == {(2, 2): 240}
    assert run.summary()["identical_steps_share"] == 1.0


@pytest.mark.parametrize("step", STEPS)
def test_epoch_ending_after_its_steps(step):
    run = simulate(workshop("epoch", step))
    checkpoint = step - step % 10
    into_epoch = checkpoint % 30
    assert run.legs["start"].iloc[1] == checkpoint
    assert run.account.extra == run.account.missing
    if into_epoch == 0:
        assert run.account.extra == 0
    elif checkpoint > 30:
        assert run.account.extra == 8 * min(into_epoch, 30 - into_epoch) == 80
    else:
        assert 0 < run.account.extra <= 80


def test_epoch_at_the_published_step():
    run = simulate(workshop("epoch"))
    assert ledger(run) == {(2, 1): 80, (2, 2): 80, (2, 3): 80}
    assert run.summary()["identical_steps_share"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("step", STEPS)
def test_epoch_ending_by_epochs(step):
    """The loop runs through epoch 2 however long it takes: nothing is pushed out."""
    run = simulate(workshop("epoch", step, run={"epochs": 2}))
    assert run.account.extra == 8 * ((step - step % 10) % 30)
    assert run.account.missing == 0
    assert run.steps == 60 + run.account.extra // 8


@pytest.mark.parametrize("mode", ["identity", "interval"])
@pytest.mark.parametrize(
    ("loader", "step", "law"),
    [
        ("reshuffle", 47, (240, 80, 160)),
        ("epoch", 15, (240, 80, 160)),
        ("epoch", 25, (240, 160, 80)),
    ],
)
def test_overlap_of_two_orders_is_hypergeometric(loader, step, law, mode):
    scenario = workshop(loader, step, run__account=mode)
    ledgers = [simulate(scenario, seed=seed).account for seed in range(2000)]
    assert all(each.extra == each.missing for each in ledgers)
    extra = [each.extra for each in ledgers]
    mean, deviation = hypergeometric(*law)
    assert (mean, deviation) == (pytest.approx(53.33, abs=0.005), pytest.approx(3.450, abs=0.0005))
    assert abs(statistics.mean(extra) - mean) < 3 * deviation / math.sqrt(2000)
    assert abs(statistics.stdev(extra) - deviation) < 3 * deviation / math.sqrt(2 * 2000)


def test_a_step_is_a_function_of_seed_and_step():
    run = simulate(workshop("restore"), seed=5)
    for step in (41, 0, 59, 29, 30):
        np.testing.assert_array_equal(planned_batch(workshop("restore"), step, seed=5), run.batch(step))
    assert len(set(run.batch(41))) == 8


@pytest.mark.parametrize("step", STEPS)
def test_elastic_restarts_at_every_step(step):
    """4 replicas, then 3, 2, 1 and 4 again, at this step and the ones after it."""
    fails = [step, min(step + 3, 59), min(step + 3, 59), min(step + 14, 59)]
    run = simulate(workshop("restore", failures=[{"cause": "scripted", "at_steps": fails, "data": [3, 2, 1, 4]}]))
    assert list(run.legs["data"]) == [4, 3, 2, 1, 4]
    assert ledger(run) == {(2, 2): 240}
    assert run.summary()["identical_steps_share"] == 1.0
    for s in STEPS:
        np.testing.assert_array_equal(run.batch(s), planned_batch(run.scenario, s))


@pytest.mark.parametrize(
    ("ranks", "sizes"), [(4, [2, 2, 2, 2]), (3, [3, 3, 2]), (2, [4, 4]), (1, [8]), (8, [1] * 8), (9, [1] * 8 + [0])]
)
def test_rank_slices_partition_the_global_batch(ranks, sizes):
    slices = rank_slices(8, ranks)
    assert [stop - start for start, stop in slices] == sizes
    assert [i for start, stop in slices for i in range(start, stop)] == list(range(8))


def test_restart_run_begins_at_the_first_sample():
    """20 batches remain after the checkpoint at 40: the first 160 samples of epoch 0 once more."""
    run = simulate(workshop("restart-run"))
    np.testing.assert_array_equal(run.batch(40), run.batch(0))
    first_twice = set(np.concatenate([run.batch(step) for step in range(20)]))
    assert run.account.views == 480
    assert all(run.counts.seen[sample] >= 2 for sample in first_twice)


def test_no_rewind_goes_on_after_the_batch_in_flight():
    """Steps 40 to 46 were rolled back and 47 was read: step 40 trains what step 48 would have."""
    run = simulate(workshop("no-rewind"))
    np.testing.assert_array_equal(run.batch(40), planned_batch(run.scenario, 48))
    assert run.summary()["identical_steps_share"] == pytest.approx(40 / 60)
    by_epochs = simulate(workshop("no-rewind", run={"epochs": 2}))
    assert (by_epochs.account.extra, by_epochs.account.missing) == (0, 64)
    assert by_epochs.steps == 52


def test_reshuffle_for_good_changes_later_epochs_too():
    scenario = workshop("reshuffle", 15)
    for_good = workshop("reshuffle", 15, loader__reshuffle_lasts="for-good")
    own, lasting, plan = simulate(scenario).batch(45), simulate(for_good).batch(45), planned_batch(scenario, 45)
    np.testing.assert_array_equal(own, plan)
    assert set(lasting) != set(plan)
    assert simulate(scenario).summary()["identical_steps_share"] == pytest.approx(40 / 60)
    assert simulate(for_good).summary()["identical_steps_share"] == pytest.approx(10 / 60)
