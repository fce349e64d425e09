import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clustersim.account import Draws, count, count_identity

LENGTHS = (5, 0, 7, 1, 12, 3, 0, 9, 2, 1)  # shards, two of them empty
SIZE = sum(LENGTHS)


@st.composite
def reads(draw, families=2, epochs=3):
    """A list of rows (family, epoch, start, stop, epochs), some of them whole epochs."""
    rows = []
    for _ in range(draw(st.integers(0, 8))):
        family, epoch = draw(st.integers(0, families - 1)), draw(st.integers(0, epochs - 1))
        if draw(st.booleans()):
            rows.append((family, epoch, 0, SIZE, draw(st.integers(1, 3))))
        else:
            start = draw(st.integers(0, SIZE - 1))
            rows.append((family, epoch, start, draw(st.integers(start + 1, SIZE)), 1))
    return rows


def to_draws(account, rows):
    return account.draws(*rows) if rows else Draws.empty()


def assert_conserved(ledger, planned, seen):
    assert int(ledger.samples.sum()) == SIZE
    assert ledger.views == seen.views()
    assert ledger.planned_views == planned.views()
    assert ledger.extra - ledger.missing == seen.views() - planned.views()
    cells = ledger.by_cell()
    for figure in ("views", "planned_views", "extra", "missing", "never"):
        assert int(getattr(cells, figure).sum()) == getattr(ledger, figure)


@given(planned=reads(), seen=reads(), seed=st.integers(0, 9))
def test_identity_counts_every_sample(account, planned, seen, seed):
    planned, seen = to_draws(account, planned), to_draws(account, seen)
    for spaces in (account.uniform(SIZE, seed), account.shards(LENGTHS, seed)):
        counts = count_identity(spaces, planned, seen)
        for draws, found in ((planned, counts.planned), (seen, counts.seen)):
            expected = account.counts(spaces, draws)
            assert found.tolist() == [expected[sample] for sample in range(SIZE)]
        assert account.table(counts.ledger()) == account.brute(spaces, planned, seen)
        assert_conserved(counts.ledger(), planned, seen)


@given(planned=reads(), seen=reads(), seed=st.integers(0, 9))
def test_blocks_are_exact_shard_by_shard(account, planned, seen, seed):
    spaces = account.shards(LENGTHS, seed)
    planned, seen = to_draws(account, planned), to_draws(account, seen)
    ledger = count(spaces, planned, seen, np.random.default_rng(0))
    expected = count_identity(spaces, planned, seen).ledger()
    for column in ("cell", "planned", "seen", "samples"):
        assert getattr(ledger, column).tolist() == getattr(expected, column).tolist()
    assert ledger.exact == "identity"
    assert_conserved(ledger, planned, seen)


@given(planned=reads(families=1, epochs=1), seen=reads(families=1, epochs=1), seed=st.integers(0, 9))
def test_one_uneven_permutation_is_exact(account, planned, seen, seed):
    spaces = account.uniform(SIZE, seed)
    planned, seen = to_draws(account, planned), to_draws(account, seen)
    ledger = count(spaces, planned, seen, np.random.default_rng(0))
    assert account.table(ledger) == account.brute(spaces, planned, seen)
    assert ledger.exact == "identity"


@given(planned=reads(), seen=reads(), seed=st.integers(0, 9))
def test_views_are_conserved_across_permutations(account, planned, seen, seed):
    planned, seen = to_draws(account, planned), to_draws(account, seen)
    ledger = count(account.uniform(SIZE), planned, seen, np.random.default_rng(seed))
    assert_conserved(ledger, planned, seen)
