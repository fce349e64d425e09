import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustersim.account import Draws, count_apart

SIZE = 30
ROWS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, SIZE - 1), st.integers(1, SIZE)), max_size=6
)
SAMPLES = st.sets(st.integers(0, SIZE - 1), min_size=1, max_size=5)


def to_draws(account, rows):
    """Rows of (family, epoch, start, length); what reads an epoch whole reads the next one too, but in family 1."""
    found = []
    for family, epoch, start, length in rows:
        stop = min(start + length, SIZE)
        found.append((family, epoch, start, stop, 2 if stop - start == SIZE and family == 0 else 1))
    return account.draws(*found) if found else Draws.empty()


@given(planned=ROWS, seen=ROWS, samples=SAMPLES, seed=st.integers(0, 9))
def test_samples_that_are_followed_are_counted_as_they_are(account, planned, seen, samples, seed):
    spaces = account.uniform(SIZE, seed)
    planned, seen = (to_draws(account, rows) for rows in (planned, seen))
    ledger = count_apart(spaces, planned, seen, np.array(sorted(samples)), np.random.default_rng(seed))
    in_plan, in_lineage = account.counts(spaces, planned), account.counts(spaces, seen)
    followed = {(in_plan[sample], in_lineage[sample]) for sample in samples}
    table = account.table(ledger)
    assert all(table[row] >= sum((in_plan[s], in_lineage[s]) == row for s in samples) for row in followed)
    assert (ledger.planned_views, ledger.views) == (planned.views(), seen.views())
    assert int(ledger.samples.sum()) == SIZE


@given(planned=ROWS, seen=ROWS, samples=SAMPLES, seed=st.integers(0, 9))
def test_beside_them_one_permutation_is_exact(account, planned, seen, samples, seed):
    spaces = account.uniform(SIZE, seed)
    planned, seen = (to_draws(account, [(1, 0, *row[2:]) for row in rows]) for rows in (planned, seen))
    ledger = count_apart(spaces, planned, seen, np.array(sorted(samples)), None)
    assert account.table(ledger) == account.brute(spaces, planned, seen)
    assert ledger.exact == "identity"


def test_what_nearly_all_are_followed_for_is_exact(account):
    spaces, planned = account.uniform(SIZE), account.draws((0, 0, 0, SIZE))
    seen = account.draws((0, 0, 3, 9), (1, 0, 5, 22), (0, 2, 0, 11))
    ledger = count_apart(spaces, planned, seen, np.arange(SIZE - 1), np.random.default_rng(0))
    assert account.table(ledger) == account.brute(spaces, planned, seen)


def test_refuses_every_nth_offset(account):
    seen = Draws(*(np.array([value]) for value in (0, 0, 1, 0, 9, 0, 0, 8, 3, 0, 1)))
    with pytest.raises(ValueError, match="every n-th offset"):
        count_apart(account.uniform(SIZE), Draws.empty(), seen, np.array([4]), np.random.default_rng(0))
