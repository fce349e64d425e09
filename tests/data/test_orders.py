"""Orders are bijections, asked both ways, and look uniform."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustersim.data.corpus import Corpus
from clustersim.data.orders import order_of
from clustersim.data.permutation import TABLE_MAX, permutation
from clustersim.streams import Hashed

KINDS = ["shuffle", "shuffle-once", "shard-shuffle", "sequential"]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.sampled_from(KINDS), st.integers(1, 9000), st.integers(1, 40), st.integers(0, 10**9), st.integers(0, 3))
def test_an_epoch_reads_every_sample_once_and_knows_where(kind, size, shards, epoch, family):
    order = order_of(kind, Corpus(size, min(shards, size)), seed=1, replication=2)
    samples = order.samples_at(family, epoch, np.arange(size))
    np.testing.assert_array_equal(np.sort(samples), np.arange(size))
    for offset in {0, size // 2, size - 1}:
        assert order.samples_at(family, epoch, np.arange(offset, offset + 1))[0] == samples[offset]
        found = order.offset_of(np.array([family]), np.array([epoch]), int(samples[offset]))
        assert found.tolist() == [offset]


@pytest.mark.parametrize("size", [TABLE_MAX, TABLE_MAX + 1, 10**6, 10**10, 10**15, 2**62 - 1, 2**62])
def test_permutations_invert_at_every_size(size):
    family = permutation(size)
    values = np.random.default_rng(0).integers(0, size, 500)
    keys = Hashed(0, 0, "order").words(np.zeros(500, np.int64), np.arange(500))
    images = family.forward(values, keys)
    assert images.min() >= 0
    assert images.max() < size
    np.testing.assert_array_equal(family.backward(images, keys), values)


def test_epochs_and_families_differ_for_shuffles_only():
    corpus = Corpus(1000, 20)
    for kind in KINDS:
        order = order_of(kind, corpus, 0, 0)
        epochs = [
            tuple(order.samples_at(family, epoch, np.arange(1000)))
            for family, epoch in ((0, 0), (0, 1), (1, 0), (1, 1))
        ]
        assert len(set(epochs)) == {"sequential": 1, "shuffle-once": 2}.get(kind, 4)
        assert order.same_every_epoch == (epochs[0] == epochs[1])
        assert tuple(order_of(kind, corpus, 0, 0).samples_at(0, 1, np.arange(1000))) == epochs[1]


def test_a_shard_is_read_from_end_to_end():
    corpus = Corpus(1003, 10)
    samples = order_of("shard-shuffle", corpus, 0, 0).samples_at(0, 3, np.arange(1003))
    breaks = np.flatnonzero(np.diff(samples) != 1) + 1
    runs = np.split(samples, breaks)
    assert sorted(len(run) for run in runs if len(run) <= 101)[:1] >= [100]
    assert set(corpus.shard_starts[:-1]) >= {run[0] for run in runs}
    np.testing.assert_array_equal(np.diff(corpus.shard_starts), [101] * 3 + [100] * 7)


@pytest.mark.parametrize("size", [4, 240, TABLE_MAX + 1, 10_000, 1_000_003])
def test_a_permutation_looks_uniform(size):
    """The image of 0 over many keys, and the overlap of an image of a third with that third."""
    family = permutation(size)
    keys = Hashed(7, 0, "order").words(np.zeros(4000, np.int64), np.arange(4000))
    cells = min(size, 20)
    images = family.forward(np.zeros(4000, np.int64), keys)
    counts = np.bincount(images * cells // size, minlength=cells)
    expected = 4000 * np.bincount(np.arange(size) * cells // size, minlength=cells) / size
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert chi_square < cells - 1 + 4.5 * math.sqrt(2 * (cells - 1))
    if 240 <= size <= 10_000:
        third = size // 3
        overlaps = [(family.forward(np.arange(third), keys[i : i + 1]) < third).sum() for i in range(1500)]
        mean = third * third / size
        variance = mean * (1 - third / size) * (size - third) / (size - 1)
        assert abs(np.mean(overlaps) - mean) < 4 * math.sqrt(variance / 1500)
        assert abs(np.var(overlaps) / variance - 1) < 4 * math.sqrt(2 / 1500)
