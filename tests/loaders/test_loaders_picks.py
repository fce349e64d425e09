"""Readers that share one seed shuffle their shards alike, whatever the number of shards that each has."""

import statistics
from itertools import permutations
from random import Random

import numpy as np
import pytest
from literal.corpus import picked
from measured import clustersim_model, literal_model
from measured.table import rows
from scipy.stats import chisquare

from clustersim import streams
from clustersim.loaders.picks import Picks


class OfWords(Random):
    """Python's own random numbers over the words of another generator."""

    def __init__(self, by):
        super().__init__()
        self.by = by

    def getrandbits(self, bits):
        return int(self.by.integers(2**32)) >> (32 - bits)


def by(seed):
    return streams.generator(seed, 0, "picks")


@pytest.mark.parametrize("count", [0, 1, 2, 3, 6, 7, 12, 100])
def test_picks_are_those_of_pythons_random_over_the_same_words(count):
    for seed in range(20):
        assert Picks(by(seed)).permutation(np.arange(count)).tolist() == picked(range(count), OfWords(by(seed)))


def test_every_permutation_is_as_likely():
    found = [tuple(Picks(by(seed)).permutation(np.arange(4)).tolist()) for seed in range(2400)]
    assert chisquare([found.count(each) for each in permutations(range(4))]).pvalue > 1e-3


def test_twice_as_many_shards_begin_at_the_same_share_of_them():
    for seed in range(50):
        first, of_twice = (Picks(by(seed)).permutation(np.arange(count))[0] for count in (6, 12))
        assert of_twice // 2 == first


def test_what_other_ranks_read_first_is_what_the_first_ranks_had_read():
    """webdataset 1.0.2, 4 to 2 to 4 ranks: two restarts begin the same epoch, a quarter of which either has read.

    In orders that have nothing to do with each other 60 samples would be common to both; 109 were in the run measured.
    """
    row = next(row for row in rows() if row.loader.startswith("webdataset detshuffle") and row.scenario == "4to2to4")
    common = [
        [model.play(row, seed)["E"].get(4, 0) for seed in range(40)] for model in (clustersim_model, literal_model)
    ]
    ours, literal = map(statistics.mean, common)
    off = statistics.stdev(common[0]) / 40**0.5
    assert abs(ours - literal) < 4 * off * 2**0.5
    assert ours - 60 > 4 * off
