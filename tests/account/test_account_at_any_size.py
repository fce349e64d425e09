"""Small worlds, counted by sample, against the same worlds blown up until their views come near 2^62."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clustersim.account import Draws, count, count_identity, damage, damage_identity

SHARDS = [(1,), (7,), (1, 1), (5, 0, 7, 1, 12, 3)]


@st.composite
def worlds(draw, families, epochs):
    """Lengths of shards, and on either side rows (family, epoch, start, stop, epochs); a step reads so many samples."""
    lengths = draw(st.sampled_from(SHARDS))
    sides = []
    for _ in range(2):
        rows = []
        for _ in range(draw(st.integers(0, 5))):
            start = draw(st.integers(0, sum(lengths) - 1))
            stop = draw(st.integers(start + 1, sum(lengths)))
            whole = draw(st.integers(1, 3)) if stop - start == sum(lengths) and epochs > 1 else 1
            rows.append((draw(st.integers(0, families - 1)), draw(st.integers(0, epochs - 1)), start, stop, whole))
        sides.append(rows)
    return lengths, *sides, draw(st.sampled_from([1, 3, 8]))


def reads(rows, per_step, times=1):
    """Rows read one after another, all of `times` as long."""
    family, epoch, start, stop, epochs = np.array(rows, np.int64).reshape(-1, 5).T.copy()
    before = np.cumsum(epochs * (stop - start)) - epochs * (stop - start)
    lead = times * (before % per_step)
    return Draws(family, epoch, epochs, times * start, times * stop, before // per_step, lead,
                 np.full_like(start, times * per_step))  # fmt: skip


def assert_blown_up(spaces_of, world):
    lengths, *sides, per_step = world
    small = [reads(rows, per_step) for rows in sides]
    times = (2**62 - 1) // max(sum(lengths), per_step, *(draws.views() for draws in small))
    large = [reads(rows, per_step, times) for rows in sides]
    of_small, of_large = spaces_of(lengths), spaces_of(tuple(times * length for length in lengths))
    expected = count_identity(of_small, *small).ledger()
    ledger = count(of_large, *large, np.random.default_rng(0)).spread()
    for column in ("cell", "planned", "seen"):
        assert getattr(ledger, column).tolist() == getattr(expected, column).tolist()
    assert ledger.samples.tolist() == [times * samples for samples in expected.samples.tolist()]
    for ours, theirs in zip(ledger.by_cell()[1:], expected.by_cell()[1:], strict=True):
        assert ours.tolist() == [times * figure for figure in theirs.tolist()]
    steps = np.array([2, 5, 9, 10**9])
    found, by_sample = (
        damage(of_large, *large, steps, np.random.default_rng(0)),
        damage_identity(of_small, *small, steps),
    )
    if found.exact == "identity":
        assert found.extra.tolist() == [times * extra for extra in by_sample.extra.tolist()]
        assert found.missing.tolist() == [times * missing for missing in by_sample.missing.tolist()]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(world=worlds(families=2, epochs=3), seed=st.integers(0, 9))
def test_shards_of_any_length(account, world, seed):
    assert_blown_up(lambda lengths: account.shards(lengths, seed), world)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(world=worlds(families=1, epochs=1), seed=st.integers(0, 9))
def test_one_permutation_of_any_size(account, world, seed):
    assert_blown_up(lambda lengths: account.uniform(sum(lengths), seed), world)
