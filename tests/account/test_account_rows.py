"""Tables as parallel columns, sorted and merged, against Python's own sorting and adding."""

from collections import Counter

import numpy as np
import pytest

from clustersim.account.rows import in_order, merge

# The last two keys do not fit into one integer of 62 bits; so many rows of few values need no sorting.
TABLES = [(3, 4, 0), (3, 4, 1), (3, 4, 500), (1000, 1000, 500), (2**31, 2**31, 500), (2**62, 2**62, 500)]


def columns(first, second, rows):
    rng = np.random.default_rng(rows)
    return rng.integers(-first, first, rows), rng.integers(-second, second, rows)


@pytest.mark.parametrize("table", TABLES)
def test_rows_in_order_are_sorted_by_the_first_key_first(table):
    keys = columns(*table)
    found, rows = (zip(*map(np.ndarray.tolist, each), strict=True) for each in (in_order(keys), keys))
    assert list(found) == sorted(rows)


@pytest.mark.parametrize("table", TABLES)
def test_rows_with_equal_keys_become_one_and_those_without_samples_none(table):
    keys, samples = columns(*table), np.random.default_rng(1).integers(0, 2**52, table[2])
    samples[::3] = 0
    expected = Counter()
    for *key, count in zip(*map(np.ndarray.tolist, (*keys, samples)), strict=True):
        expected[tuple(key)] += count
    merged, sums = merge(keys, samples)
    rows = zip(*map(np.ndarray.tolist, (*merged, sums)), strict=True)
    assert list(rows) == [(*key, count) for key, count in sorted(expected.items()) if count]
