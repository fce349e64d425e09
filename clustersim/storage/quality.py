"""How far an access pattern's order is from a uniform shuffle.

A batch is made of **runs**: consecutive samples of one stream. Where shards are dealt out each rank has a stream of its
own, and no other rank has a sample of the same shard; else there is one stream, whose batches the ranks split.

Shards are taken as equally large (m = N / K samples), and a batch as beginning anywhere in one.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustersim.scenario.storage import Pattern
from clustersim.storage.store import Reading
from clustersim.streams import generator

MARKS = (0.0025, 0.02)
"""Published shares of the data that all buffers together hold: from 2 % on they train as well as a full shuffle does,
0.25 % was still of use at hundreds of TB (Corgi2, arXiv 2309.01640)."""

_UNIFORM: tuple[Pattern, ...] = ("random", "indices", "copy", "copy-behind")
# Buffers that are drawn where no formula is known, and up to which size with all that they hold.
_SAMPLED, _HELD_MOST = 20, 2**14


class Quality(NamedTuple):
    """Figures of an order; a uniform shuffle's are beside them where they depend on the batch."""

    same_shard: float
    """P(two samples of a batch lie in one shard)."""
    same_shard_uniform: float
    """That of a uniform shuffle."""
    shards_per_batch: float
    """Mean number of shards that a batch holds samples of."""
    shards_per_batch_uniform: float
    """That of a uniform shuffle."""
    displacement: float
    """Mean distance from a sample's place in the corpus to its place in the epoch, over the samples; 1/3 if uniform."""
    kept_neighbours: float
    """P(the next epoch reads the same sample after it)."""
    buffer_share: float
    """Share of the epoch that all buffers together hold; `MARKS` has the published ones."""
    exact: bool
    """False: shards_per_batch is a mean of samples or, of blocks, a little too high."""


def quality_of(pattern: Pattern, reading: Reading) -> Quality:
    """The quality of the order that a pattern reads in."""
    if pattern in _UNIFORM:
        # A copy is read in the same order in every epoch.
        return _uniform(reading, kept_neighbours=1.0 if pattern == "copy" else 1 / reading.samples)
    if pattern == "block-shuffle":
        return _of_blocks(reading)
    return _in_shards(pattern, reading)


def _uniform(reading: Reading, kept_neighbours: float) -> Quality:
    same, shards = same_shard_uniform(reading), distinct_uniform(reading.samples, reading.shards, reading.batch)
    return Quality(
        same_shard=same,
        same_shard_uniform=same,
        shards_per_batch=shards,
        shards_per_batch_uniform=shards,
        displacement=_moved(reading.samples),
        kept_neighbours=kept_neighbours,
        buffer_share=0.0,
        exact=True,
    )


def _in_shards(pattern: Pattern, reading: Reading) -> Quality:
    """The quality of shards that are read from one end to the other, perhaps through a buffer."""
    m, samples = reading.shard_samples, reading.samples
    runs, run, buffer = _runs(reading)
    uniform = _uniform(reading, 0.0)
    if pattern == "shuffle-buffer" and buffer > 1:
        same, shards = same_shard_behind_a_buffer(run, m, buffer), _shards_behind_a_buffer(run, m, buffer)
        kept = kept_behind_a_buffer(m, buffer)
    else:
        same, shards, buffer = same_shard_in_a_run(run, m), 1 + (run - 1) / m, 0
        kept = 1.0 if pattern == "sequential" else (m - 1) / m + 1 / samples
    return uniform._replace(
        same_shard=_pairs(reading.batch, runs, run, same),
        shards_per_batch=min(float(reading.shards), runs * shards),
        displacement=0.0 if pattern == "sequential" else _moved(reading.shards),
        kept_neighbours=kept,
        buffer_share=min(1.0, reading.buffered[1] * reading.readers / samples) if buffer else 0.0,
        exact=not buffer,
    )


def _runs(reading: Reading) -> tuple[int, int, int]:
    """Runs of a batch, samples of each, and the buffer that its stream goes through.

    Ranks that share a stream take every n-th sample of it, so that their buffers together are one n times as large.
    """
    if reading.dealt:
        return reading.ranks, reading.rank_batch, reading.buffered[1]
    return 1, reading.batch, min(reading.samples, reading.buffer * reading.readers)


def _pairs(batch: int, runs: int, run: int, same: float) -> float:
    """P(same shard) of a batch's pairs from that of a run's; pairs from two runs are from two shards."""
    return min(1.0, same * runs * run * (run - 1) / (batch * (batch - 1))) if batch > 1 else 0.0


# --- two samples of a batch in one shard


def same_shard_uniform(reading: Reading) -> float:
    """(m - 1) / (N - 1)."""
    return max(0.0, reading.shard_samples - 1) / (reading.samples - 1) if reading.samples > 1 else 0.0


def same_shard_in_a_run(run: int, m: float) -> float:
    """Mean of 1 - d / m over the pairs of a run: two samples d < m apart lie in one shard with that probability."""
    if run < 2:
        return 0.0
    apart = np.arange(1, min(run, math.ceil(m)))
    return float((2 * (run - apart) * (1 - apart / m)).sum() / (run * (run - 1)))


def apart_behind_a_buffer(lag: int, apart: NDArray[np.int64], buffer: int) -> NDArray[np.float64]:
    """P(two samples that a classic buffer lets out `lag` apart came in `apart` apart, whichever was first).

    With F slots, q = 1 - 1/F: q^(d + l - 1) / F where both were held at the first one's turn (either went first, with
    the same probability), and (q^|d - l| - q^(d + l)) / (2 F - 1) where the second came in after that.
    """
    q = 1 - 1 / buffer
    both = q ** (apart + lag - 1.0) / buffer
    after = (q ** np.abs(apart - lag).astype(float) - q ** (apart + lag + 0.0)) / (2 * buffer - 1)
    result: NDArray[np.float64] = both + after
    return result


def same_shard_behind_a_buffer(run: int, m: float, buffer: int) -> float:
    """Mean over the pairs of a run of sum_d P(d | lag) (1 - d / m), in closed form over d."""
    if run < 2:
        return 0.0
    q, last = 1 - 1 / buffer, math.ceil(m) - 1
    lags = np.arange(1, run)
    inside = np.minimum(lags, last)
    # sum over d = 1 .. last of q^d (1 - d / m)
    decaying = _powers(q, 1, last + 1) - _firsts(q, 1, last + 1) / m
    # .. of q^|d - l| (1 - d / m): with e = l - d down to d = 1, and with e = d - l beyond d = l
    below = _powers(q, lags - inside, lags) * (1 - lags / m) + _firsts(q, lags - inside, lags) / m
    until = np.maximum(last - lags, 0) + 1
    near = below + _powers(q, 1, until) * (1 - lags / m) - _firsts(q, 1, until) / m
    power = q ** lags.astype(float)
    per_lag = decaying * power / q / buffer + (near - power * decaying) / (2 * buffer - 1)
    return float((2 * (run - lags) * per_lag).sum() / (run * (run - 1)))


Numbers = int | NDArray[np.int64]


def _powers(q: float, low: Numbers, high: Numbers) -> NDArray[np.float64]:
    """Sum of q^e over e of [low, high)."""
    powers: NDArray[np.float64] = (q ** np.asarray(low, float) - q ** np.asarray(high, float)) / (1 - q)
    return powers


def _firsts(q: float, low: Numbers, high: Numbers) -> NDArray[np.float64]:
    """Sum of e q^e over e of [low, high)."""

    def below(n: Numbers) -> NDArray[np.float64]:
        n = np.asarray(n, float)
        result: NDArray[np.float64] = (q - n * q**n + (n - 1) * q ** (n + 1)) / (1 - q) ** 2
        return result

    return below(high) - below(low)


# --- shards in a batch


def distinct_uniform(samples: int, shards: int, drawn: float) -> float:
    """Mean number of shards among so many samples of a uniform shuffle: K (1 - C(N - m, n) / C(N, n))."""
    m = samples / shards
    if drawn > samples - m:
        return float(shards)
    none = (
        math.lgamma(samples - m + 1) - math.lgamma(samples - m - drawn + 1)
        - math.lgamma(samples + 1) + math.lgamma(samples - drawn + 1)
    )  # fmt: skip
    return -shards * math.expm1(none)


def _shards_behind_a_buffer(run: int, m: float, buffer: int) -> float:
    """Mean number of shards in a run behind a buffer, over some buffers that are drawn."""
    rng = generator(0, 0, "feed", "quality", run, buffer)
    found = [len(np.unique((_out_of_a_buffer(run, buffer, rng) + rng.random() * m) // m)) for _ in range(_SAMPLED)]
    return float(np.mean(found))


def _out_of_a_buffer(run: int, buffer: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Where the next samples lie that a classic buffer in its steady state lets out, int64[run], from any origin.

    Walking back from the last sample that came in, the ages of what is held grow by Geometric((B - k) / B), k = 1 ..
    B - 1. The age of what a slot holds is Geometric(1 / B), and of a buffer that is much larger than the run no two
    slots know of each other.
    """
    if buffer > _HELD_MOST:
        newest: NDArray[np.int64] = np.arange(run) - rng.geometric(1 / buffer, size=run)
        return newest
    ages = np.cumsum(rng.geometric((buffer - np.arange(1, buffer)) / buffer))
    held = rng.permutation(np.append(0, -ages))
    slots = rng.integers(buffer, size=run)
    out = np.empty(run, np.int64)
    for turn, slot in enumerate(slots.tolist()):
        out[turn] = held[slot]
        held[slot] = turn + 1
    return out


def _of_blocks(reading: Reading) -> Quality:
    """The quality of blocks of consecutive samples in a random order, each shuffled by itself, a stream a rank."""
    samples, m, batch, run = reading.samples, reading.shard_samples, reading.batch, reading.rank_batch
    block = min(reading.block, samples, max(1, int(m)))
    in_block = _pairs(batch, reading.ranks, run, same_shard_in_a_run(run, block))
    blocks = reading.ranks * (1 + (run - 1) / block)
    return _uniform(reading, kept_neighbours=(block - 1) / block**2)._replace(
        same_shard=in_block + (1 - in_block) * (m - block) / max(1, samples - block),
        shards_per_batch=distinct_uniform(max(reading.shards, samples // block), reading.shards, blocks),
        displacement=_moved(samples / block) + (block / samples) ** 2 * _moved(block),
        exact=False,
    )


# --- displacement, and neighbours


def _moved(places: float) -> float:
    """Mean distance between a place and its image under a uniform permutation, over their number: (1 - 1/n^2) / 3."""
    return (1 - 1 / places**2) / 3


def displacement_cdf(distance: int, places: int) -> float:
    """P(a uniform permutation of n places moves one by at most so much): (n (2 x + 1) - x (x + 1)) / n^2."""
    x = min(distance, places - 1)
    return (places * (2 * x + 1) - x * (x + 1)) / places**2


def displacement_behind_a_buffer(buffer: int) -> float:
    """Mean distance that a classic buffer of F moves a sample in its stream: 2 F (1 - 1/F)^F, some 0.74 F."""
    return 2 * buffer * (1 - 1 / buffer) ** buffer


def displacement_behind_a_buffer_cdf(distance: int, buffer: int) -> float:
    """P(a buffer moves a sample by at most x): a sample stays Geometric(1/F) turns, and F would leave it in place."""
    q = 1 - 1 / buffer
    left_early = q ** (buffer - distance - 1) if distance < buffer else 1.0
    return float(left_early - q ** (buffer + distance))


def kept_behind_a_buffer(m: float, buffer: int) -> float:
    """P(the same sample follows in the next epoch): sum over d of P(it lies d ahead)^2 + P(d behind)^2, in one shard.

    At a lag of 1 it lies d ahead with q^(d - 1) (q / 2 F + 1 / F^2), and d behind with q^d / 2 F.
    """
    q, last = 1 - 1 / buffer, math.ceil(m) - 1
    ahead, behind = q / (2 * buffer) + 1 / buffer**2, q / (2 * buffer)
    powers = float(_powers(q * q, 1, last + 1) - _firsts(q * q, 1, last + 1) / m) / q**2
    return powers * (ahead**2 + behind**2)
