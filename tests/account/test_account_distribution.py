"""Where several permutations are read unevenly the ledger is a draw from their law: these tests compare laws."""

import sys

import numpy as np
import pytest
from scipy import stats

from clustersim.account import Draws, count, count_identity

Z = 4.5  # a fair test passes this bound but once in 150,000


def chi_square(found, law, draws):
    """p-value of integers against a scipy law, rare outcomes put together."""
    outcomes = np.arange(law.support()[0], law.support()[1] + 1)
    expected = law.pmf(outcomes) * draws
    common = expected >= 5
    observed = np.array([np.count_nonzero(found == outcome) for outcome in outcomes])
    rest = observed[~common].sum(), expected[~common].sum()
    return stats.chisquare([*observed[common], rest[0]], [*expected[common], rest[1]], sum_check=False).pvalue


@pytest.mark.parametrize(
    ("seen", "good", "taken"),
    [
        # The workshop's reshuffle at step 47: the second epoch is cut at 80 of 240 and goes on in a fresh order.
        (((0, 0, 0, 240), (0, 1, 0, 80), (1, 1, 80, 240)), 80, 160),
        # Its epoch loader with the checkpoint at step 10 and at 20: first-epoch repeats overlap second-epoch losses.
        (((0, 0, 0, 80), (0, 0, 0, 240), (0, 1, 0, 160)), 80, 160),
        (((0, 0, 0, 160), (0, 0, 0, 240), (0, 1, 0, 80)), 160, 80),
    ],
)
def test_workshop_follows_its_hypergeometric_law(account, seen, good, taken):
    spaces, planned, seen = account.uniform(240), account.draws((0, 0, 0, 240, 2)), account.draws(*seen)
    ledgers = [count(spaces, planned, seen, np.random.default_rng(seed)) for seed in range(2000)]
    extra = np.array([ledger.extra for ledger in ledgers])
    assert [ledger.missing for ledger in ledgers] == extra.tolist()
    assert {ledger.exact for ledger in ledgers} == {"distribution"}
    assert chi_square(extra, stats.hypergeom(240, good, taken), len(extra)) > 1e-4
    assert abs(extra.mean() - 53.333) < 3 * 3.450 / np.sqrt(2000)


HISTORIES = {
    "reshuffle": (
        [(0, 0, 0, 60, 3), (0, 3, 0, 20)],
        [(0, 0, 0, 25), (1, 0, 25, 60), (0, 1, 0, 10), (2, 1, 10, 40), (3, 1, 40, 60), (0, 2, 0, 60), (0, 3, 0, 20)],
    ),
    "epoch": (
        [(0, 0, 0, 60, 3), (0, 3, 0, 33)],
        [(0, 0, 0, 50), (0, 0, 0, 31), (0, 0, 0, 60), (0, 1, 0, 20), (0, 1, 0, 52)],
    ),
    "scattered": (
        [(0, 0, 10, 60), (0, 1, 0, 33)],
        [(0, 0, 0, 20), (0, 0, 5, 31), (0, 1, 40, 60), (4, 1, 2, 5), (4, 1, 9, 50), (4, 1, 30, 40)],
    ),
}


@pytest.mark.parametrize("history", HISTORIES)
def test_every_row_agrees_with_true_permutations(account, history):
    planned, seen = (account.draws(*rows) for rows in HISTORIES[history])
    seeds = range(1500)
    drawn = [account.table(count(account.uniform(60), planned, seen, np.random.default_rng(seed))) for seed in seeds]
    true = [account.table(count_identity(account.uniform(60, seed), planned, seen).ledger()) for seed in seeds]
    rows = sorted({row for table in (*drawn, *true) for row in table})
    assert len(rows) >= 6
    ours = np.array([[table[row] for row in rows] for table in drawn], float)
    theirs = np.array([[table[row] for row in rows] for table in true], float)
    for power in (1, 2):
        a, b = (ours - theirs.mean(axis=0)) ** power, (theirs - theirs.mean(axis=0)) ** power
        error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / len(seeds))
        assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) <= Z * error).all()


def test_the_ledger_depends_on_the_seed_and_not_on_the_order_of_rows(account):
    planned, seen = (account.draws(*rows) for rows in HISTORIES["scattered"])
    tables = []
    for mixed in range(5):
        order = np.random.default_rng(mixed).permutation(len(seen))
        tables.append(account.table(count(account.uniform(60), planned, seen.select(order), np.random.default_rng(1))))
    assert tables == [tables[0]] * 5
    assert account.table(count(account.uniform(60), planned, seen, np.random.default_rng(2))) != tables[0]


def months(loader, size, restarts=466):
    """Planned and seen reads of a history with so many restarts, whose every number scales with the samples."""
    shares = np.random.default_rng(3).uniform(0.05, 0.95, restarts)
    cuts = (shares * size).astype(np.int64)
    epochs, zero = np.arange(restarts), np.zeros(restarts, np.int64)
    if loader == "epoch":
        families, at_epochs, starts, stops = zero, zero, zero, cuts
    else:  # every epoch is cut once and goes on in a fresh order
        families = np.concatenate((zero, epochs + 1))
        at_epochs, starts = np.concatenate((epochs, epochs)), np.concatenate((zero, cuts))
        stops = np.concatenate((cuts, zero + size))
    one = np.ones_like(families)
    seen = Draws(families, at_epochs, one, starts, stops, at_epochs * 1000 + families, one - 1, one * size // 1000)
    zeros, ones = zero[:1], one[:1]
    whole = Draws(zeros, zeros, ones * restarts, zeros, ones * size, zeros, zeros, ones * size // 1000)
    return whole, seen


def calls_of(function):
    """How many functions are called: a cost that is the same on every machine."""
    calls = 0

    def tally(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(tally)
    try:
        result = function()
    finally:
        sys.setprofile(None)
    return calls, result


@pytest.mark.parametrize("loader", ["epoch", "reshuffle"])
def test_cost_does_not_depend_on_the_samples(account, loader):
    calls = []
    for size in (10**6, 10**9, 10**12, 10**15):
        planned, seen = months(loader, size)
        cost, ledger = calls_of(lambda: count(account.uniform(size), planned, seen, np.random.default_rng(1)))  # noqa: B023
        assert int(ledger.samples.sum()) == size
        assert ledger.views == seen.views()
        calls.append(cost)
    assert max(calls) < 2 * min(calls)  # the surplus of binomials takes more rounds from large populations


def test_damage_share_is_the_same_at_every_size(account):
    """The mean of each figure is a share of N, and its deviation of the order of √N."""
    small, large = (
        count(account.uniform(size), *months("reshuffle", size), np.random.default_rng(0)).extra / size
        for size in (10**9, 10**15)
    )
    assert abs(small - large) < 30 * (10**9) ** -0.5
