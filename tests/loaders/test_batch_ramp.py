"""Runs whose batch grows: what they read, what restarts do to it, and what cannot go with it."""

import numpy as np
import pytest

from clustersim import ScenarioError, load_scenario, planned_batch, simulate

# 12 steps of 8, which reach 90 samples, then 9 of 16, which reach 240, then 24 each.
RAMP = [{"global_batch": 8, "until_samples": 90}, {"global_batch": 16, "until_samples": 240}]
STEPS = [8] * 12 + [16] * 9


def scenario(loader="restore", crashes=(), ramp=RAMP, **changes):
    return load_scenario(
        {
            "name": "batch ramp",
            "run": {"steps": 60},
            "model": {"global_batch": 24, "step_time": "1 s", **({"batch_ramp": ramp} if ramp else {})},
            "cluster": {"nodes": 4, "gpus_per_node": 1},
            "failures": [{"cause": "crash", "at_steps": list(crashes)}] if crashes else [],
            "checkpoint": {"every": "5 steps"},
            "data": {"samples": 300},
            "loader": {"preset": loader} if isinstance(loader, str) else loader,
        },
        {key.replace("__", "."): value for key, value in changes.items()},
    )


def before(step):
    return sum((STEPS + [24] * 60)[:step])


@pytest.mark.parametrize("account", ["identity", "interval"])
def test_a_sound_loader_reads_every_position_once(account):
    run = simulate(scenario(crashes=(7, 13, 23, 44), run__account=account))
    assert [len(run.batch(step)) for step in range(60)] == [*STEPS, *[24] * 39]
    figures = run.summary()
    assert (figures["lineage_views"], figures["extra_views"], figures["missing_views"]) == (before(60), 0, 0)
    assert (figures["extra_views_ideal"], figures["missing_views_ideal"]) == (0, 0)
    assert figures["identical_steps_share"] == 1
    rolled_back = [before(stop) - before(kept) for stop, kept in ((7, 5), (13, 10), (23, 20), (44, 40))]
    assert figures["discarded_views"] == sum(rolled_back)
    assert run.damage["discarded_views"].tolist() == rolled_back
    assert run.damage["lineage_views"].tolist() == [before(10), before(20), before(40), before(60)]
    for step in (0, 11, 12, 20, 21, 59):
        np.testing.assert_array_equal(run.batch(step), planned_batch(run.scenario, step))


@pytest.mark.parametrize("account", ["identity", "interval"])
def test_positions_that_are_skipped_are_in_no_batch_however_large(account):
    """One run of them lies in the first stage, one goes over the end of the ramp and of epoch 0."""
    skip = [[40, 61], [290, 310]]
    run = simulate(scenario(crashes=(7, 13, 33), data__skip=skip, run__account=account))
    read = np.delete(np.arange(before(60) + 41), np.r_[40:61, 290:310])
    samples = [run.spaces.samples_at(0, place // 300, np.array([place % 300])).item() for place in read.tolist()]
    assert np.concatenate([run.batch(step) for step in range(60)]).tolist() == samples
    assert [len(run.batch(step)) for step in range(60)] == [*STEPS, *[24] * 39]
    figures = run.summary()
    assert (figures["extra_views"], figures["missing_views"], figures["identical_steps_share"]) == (0, 0, 1)
    assert (figures["extra_views_ideal"], figures["missing_views_ideal"]) == (0, 0)
    assert run.account.views == before(60)


@pytest.mark.parametrize("account", ["identity", "interval"])
def test_an_epoch_that_is_read_again_is_as_long_as_its_samples(account):
    """The crash in step 33 goes back to step 30, 456 samples into the run: 156 of epoch 1 are read again."""
    assert before(30) == 456
    run = simulate(scenario("epoch", crashes=(33,), run__account=account))
    ideal = np.full(300, before(60) // 300)
    ideal[run.spaces.samples_at(0, before(60) // 300, np.arange(before(60) % 300))] += 1
    if account == "identity":
        np.testing.assert_array_equal(run.counts.planned, ideal)
        again = run.spaces.samples_at(0, 1, np.arange(156))
        last = run.spaces.samples_at(0, 3, np.arange(before(60) - 156 - 900))
        np.testing.assert_array_equal(run.counts.seen, 3 + np.isin(np.arange(300), again) + np.isin(range(300), last))
    assert run.account.views == run.account.planned_views == before(60)
    assert run.damage["extra_views"].iloc[-1] == run.account.extra
    assert run.identical_steps == 30


@pytest.mark.parametrize(
    ("crash", "kept", "position"), [(9, 5, 5 * 8), (18, 15, 15 * 16), (33, 30, 30 * 24), (58, 55, 55 * 24)]
)
def test_a_position_in_todays_batches_is_wrong_once_they_have_grown(crash, kept, position):
    loader = {"saves": "steps", "comes_back": "exact"}
    run = simulate(scenario(crashes=(crash,), loader=loader))
    read = [*range(before(kept)), *range(position, position + before(60) - before(kept))]
    seen = np.zeros(300, int)
    for place in read:
        seen[run.spaces.samples_at(0, place // 300, np.array([place % 300]))] += 1
    np.testing.assert_array_equal(run.counts.seen, seen)
    assert run.identical_steps == (60 if position == before(kept) else kept)


def test_without_a_ramp_a_position_in_batches_is_the_position():
    run = simulate(scenario(crashes=(18, 33), loader={"saves": "steps", "comes_back": "exact"}, ramp=None))
    assert (run.account.extra, run.account.missing, run.identical_steps) == (0, 0, 60)


def test_the_steps_that_read_a_sample_are_those_whose_batches_hold_it():
    run = simulate(scenario("reshuffle", crashes=(7, 13, 44)))
    for sample in range(0, 300, 37):
        kept = run.sample(sample).query("fate == 'kept'")["step"].tolist()
        assert kept == [step for step in range(60) if sample in run.batch(step)]
        assert len(kept) == run.counts.seen[sample]


@pytest.mark.parametrize(
    ("end", "steps"),
    [
        ({"samples": 96}, 12),
        ({"samples": 97}, 13),
        ({"samples": 241}, 22),
        ({"tokens": 10 * 240}, 21),
        ({"epochs": 2}, 21 + (600 - 240) // 24),
        ({"epochs": 1}, 21 + (300 - 240) // 24),
    ],
)
def test_ends_are_reached_by_samples(end, steps):
    ended = scenario(run=end, model__sequence_length=10)
    assert ended.sizes.steps == steps
    assert simulate(ended).steps == steps


def test_an_epoch_that_restarts_lengthens_a_run_that_ends_by_epochs():
    run = simulate(scenario("epoch", crashes=(9,), run={"epochs": 2}))
    # 40 samples before step 5 are read again, in step 5 and later: the last batch that fits is today's.
    ends = next(step for step in range(100) if before(step + 1) > 640)
    assert run.steps == ends
    seen = np.full(300, 2)
    seen[run.spaces.samples_at(0, 0, np.arange(40))] += 1
    seen[run.spaces.samples_at(0, 1, np.arange(300 - (640 - before(ends)), 300))] -= 1
    np.testing.assert_array_equal(run.counts.seen, seen)


def test_a_ramp_of_a_megatron_like_form_is_exact_at_its_thresholds():
    """Start 8, increment 8, over 90 samples to 32: 8 until 30, 16 until 60, 24 until 90."""
    stages = [{"global_batch": 8 * (k + 1), "until_samples": 30 * (k + 1)} for k in range(3)]
    batches = scenario(ramp=stages, model__global_batch=32).sizes.batches
    consumed, found = 0, []
    for _ in range(8):
        found.append(8 + 8 * (consumed // 30) if consumed <= 90 else 32)
        consumed += found[-1]
    assert np.diff([batches.before(step) for step in range(9)]).tolist() == found


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"model__batch_ramp": [{"global_batch": 24, "until_samples": 9}]},
            "model.batch_ramp.0.global_batch: expected less than 24, the batch of the model, found 24",
        ),
        (
            {"model__batch_ramp": [*RAMP, {"global_batch": 12, "until_samples": 900}]},
            "model.batch_ramp.1.global_batch: expected less than 12, the batch of the next stage, found 16",
        ),
        (
            {"model__batch_ramp": [RAMP[0], {"global_batch": 9, "until_samples": 90}]},
            "model.batch_ramp.0.until_samples: expected less than 90, where the next stage ends, found 90",
        ),
        (
            {"model__batch_ramp.0.global_batch": 3},
            "model.batch_ramp.0.global_batch: expected at least 4 samples, one for each replica, found 3",
        ),
        (
            {"model__batch_ramp.0.global_batch": 9, "parallelism__uneven": "refuse"},
            'parallelism.data: expected a divisor of global_batch = 9 with uneven = "refuse", found 4',
        ),
        (
            {"loader__preset": "accelerate-skip"},
            'loader: expected last_batch = "span" with model.batch_ramp, as other loaders count batches of one size, '
            "found parts",
        ),
        (
            {"loader": {"saves": "steps", "comes_back": "exact", "epoch_edge": "old"}},
            'loader.epoch_edge: expected "new" beside saves = "steps" and batches that span epochs, found "old"',
        ),
        (
            {"loader__counted_at": "issued", "loader__prefetch": 1},
            'loader.counted_at: expected "trained" with model.batch_ramp, found "issued"',
        ),
        (
            {"poison": {"samples": [3]}},
            "poison: expected no poison with model.batch_ramp, as it is looked for in one sequence of batches of one "
            "size, found both",
        ),
    ],
)
def test_what_does_not_go_with_a_ramp_is_said_in_one_line(changes, message):
    with pytest.raises(ScenarioError) as error:
        scenario(**changes)
    assert message in str(error.value)
