"""Shuffle quality by formula, against orders and buffers that are played."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from clustersim.data.corpus import Corpus
from clustersim.data.orders import ShardShuffle, Shuffle
from clustersim.loaders.buffers import Buffer
from clustersim.scenario import load_scenario
from clustersim.storage.compile import reading_of
from clustersim.storage.quality import (
    MARKS,
    apart_behind_a_buffer,
    displacement_behind_a_buffer,
    displacement_behind_a_buffer_cdf,
    displacement_cdf,
    kept_behind_a_buffer,
    quality_of,
    same_shard_behind_a_buffer,
    same_shard_in_a_run,
)

N, K, M = 12_000, 60, 200


def reading(**parts):
    """12,000 samples in 60 shards, read by four ranks in batches of 32."""
    made = reading_of(load_scenario("small", {"data.bytes_per_sample": "1 kB"}))
    return replace(made, **{"samples": N, "shards": K, "batch": 32, "ranks": 4, "workers": 1, "buffer": 0, **parts})


def batches_of(order, size, epochs=1):
    """Shards of the samples of each batch, [batches, size]."""
    offsets = np.arange(N)
    samples = np.concatenate([order.samples_at(0, epoch, offsets) for epoch in range(epochs)])
    return (samples // M)[: len(samples) // size * size].reshape(-1, size)


def same_shard(shards):
    """Share of pairs within the rows that are of one shard."""
    size = shards.shape[1]
    equal = (shards[:, :, None] == shards[:, None, :]).sum() - shards.size
    return equal / (len(shards) * size * (size - 1))


def distinct(shards):
    return np.mean([len(set(row)) for row in shards.tolist()])


def test_one_stream_of_shuffled_shards_is_counted_exactly():
    """Batches of 32 begin at every even place of a shard of 199 samples alike: the mean over all is the formula's."""
    size = 7  # 7 and 200 share no divisor: 7 epochs in a row begin a batch at each place of a shard
    shards = batches_of(ShardShuffle(Corpus(N, K), 0, 0), size, epochs=7)
    found = quality_of("shard-shuffle", reading(batch=size))
    assert found.exact
    assert same_shard(shards) == pytest.approx(found.same_shard, rel=2e-3)  # a shard may meet itself between epochs
    assert distinct(shards) == pytest.approx(found.shards_per_batch, rel=2e-3)


def test_a_uniform_shuffle_is_the_measure():
    shards = batches_of(Shuffle(Corpus(N, K), 3, 0), 32, epochs=20)
    found = quality_of("random", reading())
    pairs = shards.shape[0] * 32 * 31 / 2
    z = (same_shard(shards) - found.same_shard) / np.sqrt(found.same_shard / pairs)
    assert abs(z) < 4
    assert found.same_shard == found.same_shard_uniform == (M - 1) / (N - 1)
    spread = np.std([len(set(row)) for row in shards.tolist()]) / np.sqrt(len(shards))
    assert abs(distinct(shards) - found.shards_per_batch) < 4 * spread
    assert found.shards_per_batch == found.shards_per_batch_uniform


def test_ranks_with_shards_of_their_own_mix_as_many_shards():
    """Four runs of eight: pairs of two ranks are never of one shard."""
    dealt = quality_of("shard-shuffle", reading(dealt=True))
    assert dealt.same_shard == pytest.approx(4 * 8 * 7 / (32 * 31) * same_shard_in_a_run(8, M))
    assert dealt.shards_per_batch == pytest.approx(4 * (1 + 7 / M))
    assert quality_of("shard-shuffle", reading()).same_shard > 4 * dealt.same_shard


@pytest.mark.parametrize("buffer", [2, 7, 50])
@pytest.mark.parametrize("lag", [1, 3, 40])
def test_how_far_apart_two_samples_came_in_that_a_buffer_lets_out(buffer, lag):
    out = Buffer(buffer).play(np.arange(0), np.arange(400_000), 399_000, np.random.default_rng(lag))[0]
    apart = np.abs(out[1000 + lag :] - out[1000:-lag])
    expected = apart_behind_a_buffer(lag, np.arange(1, 60 * buffer + lag), buffer)
    assert expected.sum() == pytest.approx(1)
    seen = np.bincount(np.minimum(apart, len(expected)), minlength=len(expected) + 1)[1 : len(expected) + 1]
    big = expected * len(apart) > 50
    # neighbours overlap, so the counts scatter up to twice as much as independent ones
    z = (seen - expected * len(apart))[big] / np.sqrt(expected[big] * len(apart))
    assert np.abs(z).max() < 8
    assert np.abs(z.mean()) < 2


@pytest.mark.parametrize(
    ("buffer", "run", "m"), [(2, 5, 3), (5, 40, 200), (300, 64, 200), (1000, 8, 200.5), (40, 3, 1)]
)
def test_pairs_behind_a_buffer_in_closed_form_are_the_sum(buffer, run, m):
    lags, apart = np.arange(1, run), np.arange(1, int(np.ceil(m)))
    per_lag = [(apart_behind_a_buffer(lag, apart, buffer) * (1 - apart / m)).sum() for lag in lags.tolist()]
    expected = (2 * (run - lags) * per_lag).sum() / (run * (run - 1))
    assert same_shard_behind_a_buffer(run, m, buffer) == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_a_buffer_brings_a_stream_towards_the_uniform():
    dealt = reading(dealt=True, ranks=1, batch=16)
    same, shards = zip(
        *(
            (found.same_shard, found.shards_per_batch)
            for found in (quality_of("shuffle-buffer", replace(dealt, buffer=size)) for size in (10, 100, 1000, 8000))
        ),
        strict=True,
    )
    assert list(same) == sorted(same, reverse=True)
    assert list(shards) == sorted(shards)
    assert same[0] < quality_of("shard-shuffle", dealt).same_shard
    assert same[-1] < 2 * quality_of("random", dealt).same_shard


def test_batches_behind_a_buffer_as_it_is_played():
    out = Buffer(300).play(np.arange(0), np.arange(2_000_000), 1_990_000, np.random.default_rng(5))[0][10_000:]
    shards = (out[: len(out) // 16 * 16].reshape(-1, 16)) // M
    found = quality_of("shuffle-buffer", reading(dealt=True, ranks=1, batch=16, buffer=300))
    assert same_shard(shards) == pytest.approx(found.same_shard, rel=0.01)
    assert distinct(shards) == pytest.approx(found.shards_per_batch, rel=0.05)  # a mean of 20 of its own
    assert not found.exact
    follows = dict(zip(out[:-1].tolist(), out[1:].tolist(), strict=True))
    again = Buffer(300).play(np.arange(0), np.arange(2_000_000), 1_990_000, np.random.default_rng(6))[0][10_000:]
    kept = sum(follows.get(one) == two for one, two in zip(again[:-1].tolist(), again[1:].tolist(), strict=True))
    expected = len(again) * kept_behind_a_buffer(1e12, 300)
    assert abs(kept - expected) < 5 * np.sqrt(expected)


def test_what_a_buffer_moves():
    out = Buffer(50).play(np.arange(0), np.arange(300_000), 299_000, np.random.default_rng(1))[0]
    moved = np.abs(out - np.arange(len(out)))[1000:]
    assert moved.mean() == pytest.approx(displacement_behind_a_buffer(50), rel=0.02)
    for distance in (0, 10, 49, 50, 120):
        share = displacement_behind_a_buffer_cdf(distance, 50)
        assert abs((moved <= distance).mean() - share) < 5 * np.sqrt(share * (1 - share) / len(moved)) * 2


def test_what_a_permutation_moves():
    every = np.abs(np.arange(9)[:, None] - np.arange(9))
    assert quality_of("random", reading(samples=9, shards=3)).displacement * 9 == pytest.approx(every.mean())
    for distance in range(12):
        assert displacement_cdf(distance, 9) == pytest.approx((every <= distance).mean())
    order = ShardShuffle(Corpus(N, K), 1, 0)
    moved = [np.abs(order.samples_at(0, epoch, np.arange(N)) - np.arange(N)).mean() / N for epoch in range(60)]
    expected = quality_of("shard-shuffle", reading()).displacement
    assert abs(np.mean(moved) - expected) < 4 * np.std(moved) / np.sqrt(60)
    assert quality_of("sequential", reading()).displacement == 0


def blocks_shuffled(rng, block):
    order = rng.permutation(N // block)[:, None] * block + np.arange(block)
    return rng.permuted(order, axis=1).ravel()


def test_blocks_are_between_the_two():
    rng, block = np.random.default_rng(2), 20
    drawn = [blocks_shuffled(rng, block) for _ in range(40)]
    found = quality_of("block-shuffle", reading(ranks=1, batch=33, block=block))
    shards = np.concatenate([each[: N // 33 * 33].reshape(-1, 33) for each in drawn]) // M
    assert same_shard(shards) == pytest.approx(found.same_shard, rel=0.02)
    assert distinct(shards) == pytest.approx(found.shards_per_batch, rel=0.02)
    moved = [np.abs(each - np.arange(N)).mean() / N for each in drawn]
    assert abs(np.mean(moved) - found.displacement) < 4 * np.std(moved) / np.sqrt(40)
    kept = [np.isin(a[:-1] * N + a[1:], b[:-1] * N + b[1:]).mean() for a, b in pairwise(drawn)]
    assert np.mean(kept) == pytest.approx(found.kept_neighbours, rel=0.05)


def test_neighbours_from_epoch_to_epoch():
    def kept(order):
        pairs = [order.samples_at(0, epoch, np.arange(N)) for epoch in (0, 1)]
        first, second = ({*zip(each[:-1].tolist(), each[1:].tolist(), strict=True)} for each in pairs)
        return len(first & second) / N

    assert kept(ShardShuffle(Corpus(N, K), 1, 0)) == pytest.approx(
        quality_of("shard-shuffle", reading()).kept_neighbours, abs=4 / N
    )
    assert quality_of("copy-behind", reading()).kept_neighbours == 1 / N
    assert quality_of("copy", reading()).kept_neighbours == quality_of("sequential", reading()).kept_neighbours == 1


def test_the_buffers_share_of_the_data_beside_the_published_marks():
    shares = [quality_of("shuffle-buffer", reading(buffer=size)).buffer_share for size in (7, 60, 10**6)]
    assert shares == [28 / N, 240 / N, 1.0]
    assert shares[0] < MARKS[0] < shares[1] == MARKS[1] < shares[2]
