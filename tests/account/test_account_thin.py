from collections import Counter
from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import stats

from clustersim.account.overlay import Groups, deal, thin

Z = 4.5  # a fair test passes this bound but once in 150,000
DRAWS = 2000


def repeated(rng, counts, take, draws=DRAWS):
    """`thin` so many times, as one call over independent groups: int64[draws, classes]."""
    groups = Groups.sized(np.full(draws, len(counts)))
    return thin(rng, np.tile(counts, draws), groups, np.full(draws, take)).reshape(draws, -1)


def one(rng, counts, take):
    return thin(rng, np.array(counts, np.int64), Groups.sized(np.array([len(counts)])), np.array([take]))


@pytest.mark.parametrize("population", [10**6, 10**9, 10**12, 10**15])
@pytest.mark.parametrize("share", [0.37, 0.93, 1000, 3])
def test_moments(population, share):
    counts = (np.array([0.5, 0.3, 0.15, 0.05]) * population).astype(np.int64)
    take = share if share > 1 else int(share * population)
    drawn = repeated(np.random.default_rng(population), counts, take)
    assert (drawn.sum(axis=1) == take).all()

    p = counts / population
    covariance = take * (population - take) / (population - 1) * (np.diag(p) - np.outer(p, p))
    off = (drawn - take * p.astype(np.longdouble)).astype(float)
    assert (np.abs(off.mean(axis=0)) < Z * np.sqrt(np.diag(covariance) / DRAWS)).all()
    found = off.T @ off / DRAWS
    # The variance of a product of two centred variables; close to Isserlis' for normal ones, and measured here.
    error = (off[:, :, None] * off[:, None, :]).std(axis=0) / np.sqrt(DRAWS)
    assert (np.abs(found - covariance) < Z * error).all()


def test_moments_of_one_group_at_the_largest_population():
    counts, take = np.array([6 * 10**17, 3 * 10**17, 10**17]), 4 * 10**17
    rng = np.random.default_rng(5)
    drawn = np.array([one(rng, counts, take) for _ in range(DRAWS)])
    assert (drawn.sum(axis=1) == take).all()
    p = counts / 10**18
    deviation = np.sqrt(take * 0.6 * p * (1 - p))
    z = (drawn - (counts // 10 * 4)).astype(float) / deviation
    assert (np.abs(z.mean(axis=0)) < Z / np.sqrt(DRAWS)).all()
    assert (np.abs(z.var(axis=0) - 1) < Z * np.sqrt(2 / DRAWS)).all()


@pytest.mark.parametrize(("counts", "take"), [((5, 3, 8), 6), ((1, 1, 1, 0, 2), 2), ((2, 9), 10), ((40, 1), 7)])
def test_small_populations_follow_the_exact_law(counts, take):
    drawn = Counter(map(tuple, repeated(np.random.default_rng(7), np.array(counts), take, 20_000).tolist()))
    law = {
        outcome: np.prod([comb(n, k) for n, k in zip(counts, outcome, strict=True)]) / comb(sum(counts), take)
        for outcome in product(*(range(n + 1) for n in counts))
        if sum(outcome) == take
    }
    assert set(drawn) <= set(law)
    common = [outcome for outcome, chance in law.items() if chance * 20_000 >= 5]
    observed = [drawn[outcome] for outcome in common]
    expected = [law[outcome] * 20_000 for outcome in common]
    observed.append(20_000 - sum(observed))
    expected.append(20_000 - sum(expected))
    if expected[-1] < 5:
        observed[-2:], expected[-2:] = [sum(observed[-2:])], [sum(expected[-2:])]
    assert stats.chisquare(observed, expected).pvalue > 1e-4


@pytest.mark.parametrize("total", [5_000, 900_000_000])
def test_agrees_with_numpy_where_numpy_can(total):
    counts, take = np.array([total // 2, total // 3, total // 100]), total // 4
    ours = repeated(np.random.default_rng(11), counts, take, 4000)
    theirs = np.random.default_rng(12).multivariate_hypergeometric(counts, take, size=4000, method="marginals")
    for k in range(len(counts)):
        assert stats.ks_2samp(ours[:, k], theirs[:, k]).pvalue > 1e-4


def test_degenerate_inputs():
    rng = np.random.default_rng(0)
    assert one(rng, [0, 0, 0], 0).tolist() == [0, 0, 0]
    assert one(rng, [10**15, 0, 7], 0).tolist() == [0, 0, 0]
    assert one(rng, [10**15, 0, 7], 10**15 + 7).tolist() == [10**15, 0, 7]
    assert one(rng, [0, 10**15], 12).tolist() == [0, 12]
    assert one(rng, [9], 4).tolist() == [4]
    groups = Groups.sized(np.array([2, 1, 3]))
    drawn = thin(rng, np.array([1, 1, 5, 0, 10**15, 0]), groups, np.array([1, 5, 3]))
    assert drawn[:2].sum() == 1
    assert drawn[2:].tolist() == [5, 0, 3, 0]


@pytest.mark.parametrize("take", [-1, 6])
def test_refuses_more_than_there_are(take):
    with pytest.raises(ValueError, match=r"cannot take \[-?\d\] of \[5\]"):
        one(np.random.default_rng(0), [2, 3], take)


def test_dealing_uses_up_every_class_and_fills_every_hand():
    counts = np.array([10**12, 5, 0, 10**9, 1, 2])
    hands = np.array([[10**12 - 100, 105, 0], [10**9 - 10, 3, 10]])
    dealt = deal(np.random.default_rng(3), counts, Groups.sized(np.array([3, 3])), hands)
    assert dealt.sum(axis=0).tolist() == counts.tolist()
    assert dealt[:, :3].sum(axis=1).tolist() == hands[0].tolist()
    assert dealt[:, 3:].sum(axis=1).tolist() == hands[1].tolist()
    assert (dealt >= 0).all()
