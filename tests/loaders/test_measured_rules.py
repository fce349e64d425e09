"""Loaders with a global position at the sizes at which real libraries were crashed and restarted.

960 samples, global batch 24, so 40 steps an epoch, 2 epochs; a checkpoint at each of the named steps, a crash after it.
E: the loop runs to the end of its epochs. T: the run ends after 80 steps. Figures are views against the plan.
"""

import math
import statistics

import pytest

from clustersim import load_scenario, simulate

N, B, S = 960, 24, 40
EXACT = {"saves": "samples", "comes_back": "exact"}
RESTART = {"saves": "epoch", "comes_back": "restart-epoch", "epoch_edge": "old"}
SAME = [20]
EPOCH_2 = [60]
TWICE = [10, 30]
EDGE = [40]


def crashed(checkpoints, ends, loader, order="shuffle", seed=7, ranks=(4, 4, 4)):
    """A save after every 5 steps; the n-th crash comes 3 steps after the n-th of the given checkpoints."""
    return simulate(
        load_scenario(
            {
                "name": "crash and restart",
                "run": {"epochs": 2} if ends == "E" else {"steps": 2 * S},
                "model": {"global_batch": B, "step_time": "1 s"},
                "cluster": {"nodes": 4, "gpus_per_node": 1},
                "failures": [
                    {
                        "cause": "crash",
                        "at_steps": [c + 3 for c in checkpoints],
                        "data": list(ranks[: len(checkpoints)]),
                    }
                ],
                "checkpoint": {"every": "5 steps"},
                "data": {"samples": N, "order": order},
                "loader": loader,
            }
        ),
        seed=seed,
    )


def histogram(run):
    return dict(zip(run.account.table.seen.tolist(), run.account.table.samples.tolist(), strict=True))


@pytest.mark.parametrize("ends", ["E", "T"])
@pytest.mark.parametrize("checkpoints", [SAME, [25], EPOCH_2, TWICE, EDGE])
@pytest.mark.parametrize("ranks", [(4, 4), (3, 4), (2, 4)])
def test_a_global_position_serves_any_ranks(checkpoints, ends, ranks):
    """Skipping batches, samples consumed: 0 / 0 however the ranks change."""
    run = crashed(checkpoints, ends, EXACT, ranks=ranks)
    assert (histogram(run), run.steps) == ({2: N}, 80)
    assert run.summary()["identical_steps_share"] == 1.0


@pytest.mark.parametrize(
    ("checkpoints", "ends", "hist", "steps"),
    [
        (SAME, "E", {2: 480, 3: 480}, 100),
        ([25], "E", {2: 360, 3: 600}, 105),
        (EPOCH_2, "E", {2: 480, 3: 480}, 100),
        (EDGE, "E", {3: 960}, 120),
        (TWICE, "E", {2: 480, 3: 240, 4: 240}, 110),
        (EPOCH_2, "T", {1: 480, 3: 480}, 80),
        (EDGE, "T", {2: 960}, 80),
    ],
)
def test_restarting_the_epoch(checkpoints, ends, hist, steps):
    """torch DistributedSampler with its epoch saved: exact wherever one permutation holds all the damage."""
    run = crashed(checkpoints, ends, RESTART)
    assert (histogram(run), run.steps) == (hist, steps)


@pytest.mark.parametrize(
    ("checkpoints", "hist"),
    [
        (SAME, {1: 480, 3: 480}),
        ([25], {1: 360, 2: 240, 3: 360}),
        (EPOCH_2, {1: 480, 3: 480}),
        (TWICE, {1: 480, 2: 240, 4: 240}),
        (EDGE, {2: 960}),
    ],
)
def test_restarting_an_epoch_that_is_read_in_the_same_order_as_the_others(checkpoints, hist):
    """The same sampler whose epoch is never set, ending after its steps: extra = missing = min(c', S - c') B."""
    run = crashed(checkpoints, "T", RESTART, order="shuffle-once")
    assert histogram(run) == hist
    if len(checkpoints) == 1:
        into_epoch = checkpoints[0] % S
        assert run.account.extra == run.account.missing == min(into_epoch, S - into_epoch) * B
    interval = load_scenario(run.scenario, {"run.account": "interval"})
    assert histogram(simulate(interval)) == hist
    assert simulate(interval).exact == "identity"


@pytest.mark.parametrize(
    ("checkpoints", "hist", "steps"),
    [
        (SAME, {2: 480, 3: 480}, 100),
        (EPOCH_2, {3: 480, 4: 480}, 140),
        (EDGE, {3: 960}, 120),
        (TWICE, {2: 480, 3: 240, 4: 240}, 110),
    ],
)
def test_restarting_at_epoch_0_because_it_is_not_saved(checkpoints, hist, steps):
    run = crashed(checkpoints, "E", {"preset": "restart-run"})
    assert (histogram(run), run.steps) == (hist, steps)


@pytest.mark.parametrize("checkpoint", [10, 20, 25, 35])
def test_repeats_and_losses_of_different_epochs_overlap_at_random(checkpoint):
    """The same sampler whose epoch is never set: extra = missing = min(c', S - c') B when it ends after its steps."""
    extra = [crashed([checkpoint], "T", RESTART, seed=seed).account.extra for seed in range(200)]
    lost = checkpoint * B
    mean, variance = lost * (1 - lost / N), lost * (lost / N) * (1 - lost / N) * (N - lost) / (N - 1)
    assert abs(statistics.mean(extra) - mean) < 3.5 * math.sqrt(variance / 200)


@pytest.mark.parametrize(("checkpoints", "expected"), [([20], 240), (EPOCH_2, 240), (TWICE, 270)])
def test_an_order_that_is_lost_at_each_restart(checkpoints, expected):
    """N times the product of (1 - share of the epoch read under each order): 240, and 270 after two restarts."""
    extra = [crashed(checkpoints, "E", {"preset": "reshuffle"}, seed=seed).account for seed in range(200)]
    assert all(account.extra == account.missing for account in extra)
    figures = [account.missing for account in extra]
    assert abs(statistics.mean(figures) - expected) < 3.5 * statistics.stdev(figures) / math.sqrt(200)


@pytest.mark.parametrize("prefetch", [3, 4, 8])
def test_batches_that_count_as_read_when_they_are_fetched(prefetch):
    """torch's DataLoader with its sampler's state, 3, 4 or 8 batches ahead: min(ahead, S - c') B are lost."""
    loader = {**EXACT, "counted_at": "issued", "prefetch": prefetch}
    twice = prefetch + min(prefetch, S - 30 - prefetch)
    for checkpoints, lost in ((SAME, prefetch), ([25], prefetch), (EPOCH_2, prefetch), (EDGE, 0), (TWICE, twice)):
        run = crashed(checkpoints, "E", loader)
        assert (run.account.extra, run.account.missing) == (0, lost * B)
        assert run.steps == 80 - lost
    assert crashed([35], "E", loader).account.missing == min(prefetch, 5) * B


def test_an_epoch_that_goes_on_in_the_order_of_epoch_0():
    """accelerate 1.10.1: nothing happens in epoch 0; in the next one N p (1 - p) in the mean (240; measured 245)."""
    loader = {"preset": "accelerate-1.10-skip"}
    for checkpoints in (SAME, [25], TWICE, EDGE):
        assert histogram(crashed(checkpoints, "E", loader)) == {2: N}
    accounts = [crashed(EPOCH_2, "E", loader, seed=seed).account for seed in range(200)]
    assert all(account.extra == account.missing for account in accounts)
    missing = [account.missing for account in accounts]
    assert abs(statistics.mean(missing) - 240) < 3.5 * statistics.stdev(missing) / math.sqrt(200)
