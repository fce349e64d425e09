from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustersim.account import Draws, count, count_identity, damage, damage_identity

Z = 4.5  # a fair test passes this bound but once in 150,000
LENGTHS = (5, 0, 7, 1, 12, 3, 0)  # shards, two of them empty
SIZE = sum(LENGTHS)
END = 2000  # a step beyond every read


@st.composite
def histories(draw, families=2, epochs=3):
    """Planned and seen rows for `make_draws`, samples a step, and the steps to cut at."""
    sides = []
    for _ in range(2):
        rows = []
        for _ in range(draw(st.integers(1, 6))):
            family, epoch = draw(st.integers(0, families - 1)), draw(st.integers(0, epochs - 1))
            if draw(st.booleans()):
                rows.append((family, epoch, 0, SIZE, draw(st.integers(1, 3)) if epochs > 1 else 1))
            else:
                start = draw(st.integers(0, SIZE - 1))
                rows.append((family, epoch, start, draw(st.integers(start + 1, SIZE)), 1))
        sides.append(rows)
    steps = draw(st.lists(st.integers(0, 120), max_size=8))
    return *sides, draw(st.sampled_from([1, 3, 8, 100])), np.array([*sorted(steps), END])


def to_draws(account, history):
    planned, seen, per_step, steps = history
    return account.draws(*planned, per_step=per_step), account.draws(*seen, per_step=per_step), steps


def extra_and_missing(table):
    extra = sum(n * max(0, s - p) for (p, s), n in table.items())
    return extra, sum(n * max(0, p - s) for (p, s), n in table.items())


def as_pairs(found):
    return list(zip(found.extra.tolist(), found.missing.tolist(), strict=True))


@given(history=histories(), seed=st.integers(0, 9))
def test_identity_is_a_count_of_the_reads_before_each_step(account, history, seed):
    planned, seen, steps = to_draws(account, history)
    for spaces in (account.uniform(SIZE, seed), account.shards(LENGTHS, seed)):
        expected = [extra_and_missing(account.brute(spaces, planned, seen, step)) for step in steps.tolist()]
        assert as_pairs(damage_identity(spaces, planned, seen, steps)) == expected


@given(history=histories(), seed=st.integers(0, 9))
def test_blocks_are_exact_at_every_step(account, history, seed):
    planned, seen, steps = to_draws(account, history)
    spaces = account.shards(LENGTHS, seed)
    found = damage(spaces, planned, seen, steps, np.random.default_rng(0))
    assert as_pairs(found) == as_pairs(damage_identity(spaces, planned, seen, steps))
    assert found.exact == "identity"


@given(history=histories(families=1, epochs=1))
def test_one_permutation_is_exact_at_every_step(account, history):
    planned, seen, steps = to_draws(account, history)
    rng = np.random.default_rng(0)
    found = damage(account.uniform(SIZE), planned, seen, steps, rng)
    assert as_pairs(found) == as_pairs(damage_identity(account.uniform(SIZE, 1), planned, seen, steps))
    assert found.exact == "identity"
    assert rng.bit_generator.state == np.random.default_rng(0).bit_generator.state


@given(history=histories(), seed=st.integers(0, 99))
def test_a_path_that_reads_and_ends_in_the_ledger(account, history, seed):
    planned, seen, steps = to_draws(account, history)
    found = damage(account.uniform(SIZE), planned, seen, steps, np.random.default_rng(seed))
    ledger = count(account.uniform(SIZE), planned, seen, np.random.default_rng(seed))
    assert (found.extra[-1], found.missing[-1]) == (ledger.extra, ledger.missing)

    read = np.array(
        [
            [sum(account.counts(account.uniform(SIZE), draws, step).values()) for draws in (planned, seen)]
            for step in steps.tolist()
        ]
    )
    assert (found.extra - found.missing).tolist() == (read[:, 1] - read[:, 0]).tolist()
    more_planned, more_seen = np.diff(read, axis=0, prepend=0).T
    change = np.diff(found.extra, prepend=0)
    assert (change <= more_seen).all()
    assert (-change <= more_planned).all()


# Rows as for `make_draws`, and the steps of the cuts, at 3 samples a step.
HISTORIES = {
    "fresh orders, and a cut in every epoch": (
        [(0, 0, 0, 60, 3), (0, 3, 0, 20)],
        [(0, 0, 0, 25), (1, 0, 25, 60), (0, 1, 0, 10), (2, 1, 10, 40), (3, 1, 40, 60), (0, 2, 0, 60), (0, 3, 0, 20)],
        [4, 9, 20, 24, 28, 34, 40, 55, 67],
    ),
    "epochs begun again while the plan goes on": (
        [(0, 0, 0, 60, 3), (0, 3, 0, 33)],
        [(0, 0, 0, 50), (0, 0, 0, 31), (0, 0, 0, 60), (0, 1, 0, 20), (0, 1, 0, 52)],
        [9, 21, 28, 35, 45, 55, 61, 71],
    ),
    "a run epochs behind its plan": (
        [(0, 0, 0, 60, 6)],
        [(0, 0, 0, 50), (0, 0, 0, 31), (0, 0, 0, 60), (0, 1, 0, 20), (0, 1, 0, 60), (0, 2, 0, 41), (0, 2, 0, 55)],
        [21, 28, 45, 52, 60, 75, 90, 105, 120],
    ),
    "spaces that end uneven begin out of turn": (
        [(0, 1, 0, 60), (0, 2, 0, 60), (0, 0, 0, 44)],
        [(0, 2, 0, 60), (0, 0, 30, 60), (0, 1, 20, 50), (0, 2, 0, 7), (0, 0, 0, 31)],
        [5, 12, 23, 31, 37, 43, 49, 56],
    ),
}


@pytest.mark.parametrize("name", HISTORIES)
@pytest.mark.parametrize("draws", [300, pytest.param(5000, marks=pytest.mark.slow)])
def test_every_row_follows_the_law_of_true_permutations(account, name, draws):
    planned, seen, steps = HISTORIES[name]
    planned, seen = account.draws(*planned, per_step=3), account.draws(*seen, per_step=3)
    steps, seeds = np.array(steps), range(draws)
    drawn = [damage(account.uniform(60), planned, seen, steps, np.random.default_rng(seed)) for seed in seeds]
    true = [damage_identity(account.uniform(60, seed), planned, seen, steps) for seed in seeds]
    assert {found.exact for found in drawn} == {"distribution"}
    ours = np.array([found.extra for found in drawn], float)
    theirs = np.array([found.extra for found in true], float)
    assert (theirs.std(axis=0) > 0.5).sum() >= 4
    for power in (1, 2):
        a, b = (ours - theirs.mean(axis=0)) ** power, (theirs - theirs.mean(axis=0)) ** power
        error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / len(seeds))
        assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) <= Z * error).all()


def test_a_sound_loader_shows_no_damage_at_any_restart(account):
    planned = account.draws((0, 0, 0, 60, 5), (0, 5, 0, 20), per_step=7)
    cuts = [0, 11, 41, 60, 95, 120, 188, 250, 320]
    rows = []
    for begin, end in pairwise(cuts):
        for epoch in range(begin // 60, (end - 1) // 60 + 1):
            rows.append((0, epoch, max(begin - 60 * epoch, 0), min(end - 60 * epoch, 60)))
    seen = account.draws(*rows, per_step=7)
    steps = np.arange(1, 47, 3)  # the last epoch, which stays uneven, begins between two of them
    for spaces in (account.uniform(60), account.shards((20, 30, 10))):
        found = damage(spaces, planned, seen, steps, np.random.default_rng(0))
        assert as_pairs(found) == [(0, 0)] * len(steps)
        assert found.exact == "identity"
        assert as_pairs(damage_identity(spaces, planned, seen, steps)) == [(0, 0)] * len(steps)


def test_a_thousand_million_epochs_cost_nothing(account):
    planned = account.draws((0, 0, 0, 60, 10**9))
    seen = account.draws((0, 0, 0, 60, 7), (0, 7, 0, 33), (0, 7, 33, 60), (0, 8, 0, 60, 10**9 - 8))
    steps = np.array([7, 54, 10**5 + 1, 7_500_000_000 - 3, 7_500_000_000])
    found = damage(account.uniform(60), planned, seen, steps, np.random.default_rng(0))
    assert as_pairs(found) == [(0, 0)] * len(steps)
    assert as_pairs(damage_identity(account.uniform(60), planned, seen, steps)) == as_pairs(found)


@pytest.mark.parametrize(
    ("steps", "complaint"),
    [
        ([5, 4, 9], "the steps of the cuts must not fall"),
        ([5, 7], r"step 7 is read, and the last cut is before \[7\]"),
        ([], r"step 7 is read, and the last cut is before \[\]"),
    ],
)
def test_refuses_cuts_that_leave_reads_out(account, steps, complaint):
    planned = account.draws((0, 0, 0, 60))
    with pytest.raises(ValueError, match=complaint):
        damage(account.uniform(60), planned, Draws.empty(), np.array(steps, np.int64), np.random.default_rng(0))


def restarts(loader, epoch_steps, per_step, legs=466):
    """A run of so many legs of about 500 steps: planned and seen reads, and the step each leg restarts from."""
    rng, size = np.random.default_rng(2), epoch_steps * per_step
    rows, steps, step, family, epoch, place = [], [], 0, 0, 0, 0
    for leg in range(legs):
        left = int(rng.exponential(500)) // 10 * 10
        while left > 0:
            some = min(left, epoch_steps - place)
            rows.append((family, epoch, 1, place * per_step, (place + some) * per_step, step, 0, per_step))
            step, place, left = step + some, place + some, left - some
            if place == epoch_steps:
                family, epoch, place = 0, epoch + 1, 0
        steps.append(step)
        if loader == "epoch":
            place = 0
        elif place:
            family = leg + 1
    plan = [(0, 0, step // epoch_steps, 0, size, 0, 0, per_step)] if step >= epoch_steps else []
    if step % epoch_steps:
        first = step // epoch_steps * epoch_steps
        plan.append((0, step // epoch_steps, 1, 0, (step - first) * per_step, first, 0, per_step))
    planned, seen = (Draws(*np.array(side, np.int64).T.copy()) for side in (plan, rows))
    return planned, seen, np.array(steps)


@pytest.mark.parametrize("loader", ["epoch", "reshuffle"])
@pytest.mark.parametrize("epoch_steps", [1000, 50_000])
def test_months_of_restarts_at_any_size(account, loader, epoch_steps):
    planned, seen, steps = restarts(loader, epoch_steps, per_step=10**9)
    spaces = account.uniform(epoch_steps * 10**9)
    found = damage(spaces, planned, seen, steps, np.random.default_rng(4))
    ledger = count(spaces, planned, seen, np.random.default_rng(4))
    assert (found.extra[-1], found.missing[-1]) == (ledger.extra, ledger.missing)
    small = restarts(loader, epoch_steps, per_step=2)
    true = damage_identity(account.uniform(epoch_steps * 2, 8), *small)
    assert true.extra[-1] == count_identity(account.uniform(epoch_steps * 2, 8), *small[:2]).ledger().extra
    # Shares of N: the small run scatters about the large one by a sample's deviation over √N.
    extra_of_sample = np.maximum(ledger.table.seen - ledger.table.planned, 0)
    mean = ledger.extra / spaces.size
    variance = (ledger.table.samples / spaces.size * (extra_of_sample - mean) ** 2).sum()
    off = np.abs(true.extra / (epoch_steps * 2) - found.extra / spaces.size)
    assert off.max() < Z * np.sqrt(variance / (epoch_steps * 2))
    assert mean > 0.2
