"""Reads that are known in number: exact where nothing tells their offsets apart, else a draw from the law."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from clustersim.account import Draws, Sparse, count, count_sparse

LENGTHS = (7, 0, 12, 4, 20)
SIZE = sum(LENGTHS)


def sparse(account, *rows):
    """Rows (family, epoch, start, stop, count)."""
    if not rows:
        return Sparse.empty()
    return Sparse(account.draws(*(row[:4] for row in rows)), np.array([row[4] for row in rows], np.int64))


def dense(account, *rows):
    return account.draws(*rows) if rows else Draws.empty()


@st.composite
def some_reads(draw, whole):
    """Rows of `sparse`; if whole, they read all that they span."""
    rows = []
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, SIZE - 1))
        stop = draw(st.integers(start + 1, SIZE))
        number = stop - start if whole else draw(st.integers(1, stop - start))
        rows.append((draw(st.integers(0, 1)), draw(st.integers(0, 2)), start, stop, number))
    return rows


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data(), st.sampled_from(["uniform", "blocks"]))
def test_all_of_an_interval_is_a_plain_read(account, data, law):
    spaces = account.uniform(SIZE) if law == "uniform" else account.shards(LENGTHS, 3)
    rows = [data.draw(some_reads(whole=True)) for _ in range(4)]
    sides = [(dense(account, *(row[:4] for row in rows[i])), sparse(account, *rows[i + 2])) for i in (0, 1)]
    plain = [dense(account, *(row[:4] for row in rows[i] + rows[i + 2])) for i in (0, 1)]
    ledger = count_sparse(spaces, *sides, np.random.default_rng(0))
    expected = count(spaces, *plain, np.random.default_rng(0))
    assert (ledger.views, ledger.planned_views) == (expected.views, expected.planned_views)
    if expected.exact == "identity":
        for column in ("cell", "planned", "seen", "samples"):
            assert getattr(ledger, column).tolist() == getattr(expected, column).tolist()


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data(), st.sampled_from(["uniform", "blocks"]), st.integers(0, 9))
def test_views_are_conserved(account, data, law, seed):
    spaces = account.uniform(SIZE) if law == "uniform" else account.shards(LENGTHS, seed)
    rows = [data.draw(some_reads(whole=False)) for _ in range(2)]
    sides = [(Draws.empty(), sparse(account, *side)) for side in rows]
    ledger = count_sparse(spaces, *sides, np.random.default_rng(seed))
    assert int(ledger.samples.sum()) == SIZE
    assert [ledger.planned_views, ledger.views] == [sum(row[4] for row in side) for side in rows]


def test_what_nothing_cuts_is_exact(account):
    spaces = account.shards((40, 60))
    planned = dense(account, (0, 0, 0, 100)), Sparse.empty()
    first = int(spaces.block_order(0, 0)[0])  # the first read lies within it
    seen = dense(account, (0, 0, 30, 40)), sparse(account, (0, 0, 0, 30, 12))
    ledger = count_sparse(spaces, planned, seen, None)
    assert ledger.exact == "identity"
    assert ledger.by_cell().never[first] == spaces.lengths[first] - 22
    assert (ledger.extra, ledger.missing) == (0, 78)


@pytest.mark.parametrize(
    ("planned", "seen", "seen_some", "good", "taken", "size"),
    [
        # 12 of 40 are read, of which the plan holds the first 25: how many of the 12 are planned?
        (((0, 0, 0, 25),), (), ((0, 0, 0, 40, 12),), 25, 12, 40),
        # 12 and 25 of the same 40: how many are read twice?
        ((), (), ((0, 0, 0, 40, 12), (0, 0, 0, 40, 25)), 25, 12, 40),
    ],
)
@pytest.mark.parametrize("law", ["uniform", "blocks"])
def test_what_is_cut_follows_the_hypergeometric_law(account, law, planned, seen, seen_some, good, taken, size):
    spaces = account.uniform(100) if law == "uniform" else account.shards((100,))
    sides = (dense(account, *planned), Sparse.empty()), (dense(account, *seen), sparse(account, *seen_some))
    found = []
    for seed in range(3000):
        table = account.table(count_sparse(spaces, *sides, np.random.default_rng(seed)))
        found.append(table[1, 1] if planned else table[0, 2])
    law = stats.hypergeom(size, good, taken)
    outcomes = np.arange(taken + 1)
    expected = law.pmf(outcomes) * len(found)
    common = expected >= 5
    observed = np.array([found.count(outcome) for outcome in outcomes])
    observed, expected = ([*a[common], a[~common].sum()] for a in (observed, expected))
    assert stats.chisquare(observed, expected, sum_check=False).pvalue > 1e-4
