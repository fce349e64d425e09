"""The record of death: found at its step where the order comes back, a law of crashes where it does not."""

import math
from itertools import combinations

import numpy as np
import pytest

from clustersim.data.corpus import Corpus
from clustersim.data.orders import NestedShuffle, Sequential, ShardShuffle, Shuffle, ShuffleOnce, WithReplacement
from clustersim.loaders.poison import (
    Poison,
    Policy,
    bisection_restarts,
    crashes_reshuffled,
    crashes_reshuffled_law,
    crashes_until_cornered,
    deadly_batches,
    first_deadly,
    hunt,
    places_of,
)

N, BATCH = 960, 8
STEPS = N // BATCH
ORDERS = (Sequential, Shuffle, ShuffleOnce, ShardShuffle, NestedShuffle)


def order_of(kind=Shuffle, seed=0):
    return kind(Corpus(N, 24), seed, 0)


def step_of(order, sample, epoch=0):
    """By reading the whole epoch."""
    return order.samples_at(0, epoch, np.arange(N)).tolist().index(sample) // BATCH


@pytest.mark.parametrize("kind", ORDERS)
def test_a_restored_order_crashes_at_the_same_step_until_the_batch_is_skipped(kind):
    order = order_of(kind)
    step = step_of(order, 500)
    found = hunt(Poison((500,)), order, BATCH, STEPS, every=10, policy=Policy(retries=3))
    assert found.crashes == (step,) * 4
    assert found.acted_at == (step,)
    assert found.rolled_back_steps == 4 * (step % 10)
    assert found.missing_views == BATCH
    assert found.done


def test_quarantine_takes_the_sample_from_every_later_epoch():
    order = order_of()
    found = hunt(Poison((500,)), order, BATCH, 3 * STEPS, every=10, policy=Policy(2, "quarantine"))
    assert found.crashes == (step_of(order, 500),) * 3
    assert (found.missing_views, found.restarts) == (3, 3)
    skipped = hunt(Poison((500,)), order, BATCH, 3 * STEPS, every=10, policy=Policy(2, "skip-batch"))
    steps = [epoch * STEPS + step_of(order, 500, epoch) for epoch in range(3)]
    assert list(skipped.crashes) == [step for step in steps for _ in range(3)]
    assert skipped.missing_views == 3 * BATCH


def test_bisecting_a_batch_takes_a_restart_for_each_half():
    order = order_of()
    found = hunt(Poison((500,)), order, BATCH, STEPS, every=10, policy=Policy(1, "bisect"))
    assert (len(found.crashes), found.restarts, found.missing_views) == (2, 2 + 3, 1)
    halves = {batch: bisection_restarts(batch) for batch in (1, 2, 3, 8, 9, 2048)}
    assert halves == {1: 0, 2: 1, 3: 2, 8: 3, 9: 4, 2048: 11}
    with pytest.raises(ValueError, match="that kill alone"):
        hunt(Poison((1, 2), together=2), order, BATCH, STEPS, 10, policy=Policy(1, "bisect"))


def test_without_a_policy_a_restored_run_goes_nowhere():
    found = hunt(Poison((500,)), order_of(), BATCH, STEPS, every=10, limit=50)
    assert (len(found.crashes), found.done, found.acted_at) == (50, False, ())


def test_a_pair_kills_in_a_common_batch_only():
    order = order_of(Sequential)
    assert hunt(Poison((8, 16), together=2), order, BATCH, STEPS, 10).crashes == ()
    found = hunt(Poison((9, 14, 700), together=2), order, BATCH, STEPS, 10, policy=Policy(0, "quarantine"))
    assert (found.crashes, found.missing_views) == ((1,), 2)


@pytest.mark.parametrize(("blocks", "every"), [(120, 1), (12, 10), (2, 60)])
def test_reshuffled_the_number_of_crashes_has_its_law(blocks, every):
    """1,000 seeds; chi-squared of the numbers 1, 2, 3 and more, and the mean."""
    counts = np.array(
        [
            len(hunt(Poison((500,)), order_of(seed=seed), BATCH, STEPS, every, "reshuffle").crashes)
            for seed in range(1000)
        ]
    )
    law = crashes_reshuffled_law(blocks, 40)
    assert law.sum() == pytest.approx(1)
    assert (law * np.arange(41)).sum() == pytest.approx(crashes_reshuffled(blocks))
    spread = math.sqrt((law * np.arange(41) ** 2).sum() - crashes_reshuffled(blocks) ** 2)
    assert abs(counts.mean() - crashes_reshuffled(blocks)) < 4 * spread / math.sqrt(1000)
    classes = np.array([law[1], law[2], law[3], law[4:].sum()]) * 1000
    seen = np.bincount(np.minimum(counts, 4), minlength=5)
    assert seen[0] == 0
    assert ((seen[1:] - classes) ** 2 / classes).sum() < 16.3  # 0.1 % of the law with three degrees of freedom


def test_for_many_checkpoints_the_law_is_n_over_n_plus_one_factorial():
    law = crashes_reshuffled_law(20_000, 6)
    assert law == pytest.approx([n / math.factorial(n + 1) for n in range(7)], abs=1e-4)
    assert crashes_reshuffled(20_000) == pytest.approx(math.e - 1, abs=1e-4)


def test_wandering_crashes_are_never_found():
    found = [hunt(Poison((500,)), order_of(seed=seed), BATCH, STEPS, 1, "reshuffle", Policy(2)) for seed in range(200)]
    assert all(each.done for each in found)
    assert sum(bool(each.acted_at) for each in found) <= 2
    assert max(len(each.crashes) for each in found) > 2


@pytest.mark.parametrize(("blocks", "every"), [(120, 1), (12, 10)])
def test_in_the_unread_rest_the_sample_is_cornered(blocks, every):
    """Crashes until the last interval: 1 + H_(M - 1); there it never ends, or is found where the interval is a step."""
    last = (blocks - 1) * every
    corners = []
    for seed in range(600):
        found = hunt(Poison((500,)), order_of(seed=seed), BATCH, STEPS, every, "remainder", limit=60)
        assert not found.done
        corners.append(1 + next(index for index, step in enumerate(found.crashes) if step >= last))
    expected = crashes_until_cornered(blocks)
    assert abs(np.mean(corners) - expected) < 4 * np.std(corners) / math.sqrt(len(corners))
    if every == 1:
        found = hunt(Poison((500,)), order_of(), BATCH, STEPS, 1, "remainder", Policy(3))
        assert found.done
        assert found.acted_at[-1] <= last


@pytest.mark.parametrize("kind", ORDERS)
@pytest.mark.parametrize(("poisoned", "together"), [(2, 2), (12, 2), (30, 3), (1, 1)])
def test_deadly_batches_of_an_epoch_are_as_many_in_every_order(kind, poisoned, together):
    rng = np.random.default_rng(poisoned)
    counts = []
    for seed in range(400):
        order = order_of(kind, seed)
        poison = Poison(tuple(sorted(rng.choice(N, poisoned, replace=False).tolist())), together)
        steps = places_of(poison, order, 0, range(1)) // BATCH
        counts.append((np.unique(steps, return_counts=True)[1] >= together).sum())
    expected = deadly_batches(N, BATCH, poisoned, together)
    if (poisoned, together) == (2, 2):
        assert expected == pytest.approx((BATCH - 1) / (N - 1))
    assert abs(np.mean(counts) - expected) < 4 * max(np.std(counts), math.sqrt(expected)) / 20


def test_every_pair_of_a_small_epoch_in_each_order():
    """The formula by enumeration: all pairs of 24 samples, six orders of four shards each."""
    for kind in ORDERS:
        order = kind(Corpus(24, 4), 1, 0)
        met = sum(
            first_deadly(Poison(pair, 2), places_of(Poison(pair, 2), order, 0, range(1)), 4, 0, 6) is not None
            for pair in combinations(range(24), 2)
        )
        assert met / math.comb(24, 2) == pytest.approx(deadly_batches(24, 4, 2, 2))


def test_a_share_of_the_corpus_is_poison():
    poison = Poison.share(1e-8, 10**10, 3, 0, together=2)
    assert len(set(poison.samples)) == 100
    assert 0 <= poison.samples[0] < poison.samples[-1] < 10**10
    assert poison == Poison.share(1e-8, 10**10, 3, 0, together=2)
    assert poison != Poison.share(1e-8, 10**10, 3, 1, together=2)
    assert np.mean(poison.samples) == pytest.approx(5e9, rel=0.25)


def test_samples_that_are_drawn_with_replacement_have_no_place():
    with pytest.raises(ValueError, match="with replacement have no position"):
        places_of(Poison((1,)), WithReplacement(Corpus(N, 24), 0, 0), 0, range(1))


@pytest.mark.parametrize("kind", ORDERS)
@pytest.mark.parametrize("size", [96, 10**7])
def test_all_places_at_once_are_those_one_by_one(kind, size):
    order, samples = kind(Corpus(size, 24), 2, 0), (0, 5, 17, size - 1)
    places = places_of(Poison(samples), order, 3, range(2, 5))
    for row, epoch in enumerate(range(2, 5)):
        for column, sample in enumerate(samples):
            offset = order.offset_of(np.array([3]), np.array([epoch]), sample)[0]
            assert places[row, column] == epoch * size + offset
            assert order.samples_at(3, epoch, np.array([offset]))[0] == sample
