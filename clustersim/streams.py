"""Named random streams: a draw belongs to what it is about, not to when it is made.

Every stream is named by (seed, replication, names...), hashed, so that no two streams are shifted copies of each other
and replication 17 alone draws what replication 17 of a sweep draws.
"""

import hashlib
import math
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MASK = 2**64 - 1
_ODD_A = 0x9E3779B97F4A7C15  # 2^64 / golden ratio: spreads consecutive integers over the whole range
_ODD_B = 0xD1B54A32D192ED03
_MIX_1 = 0xBF58476D1CE4E5B9  # the finaliser of SplitMix64 (Steele, Lea, Flood 2014)
_MIX_2 = 0x94D049BB133111EB


_HALVINGS = 5
_BLOCK = 1 << _HALVINGS  # entities: fewer cost more among 131,072, more cost more among 2,048
_OF_BLOCK = -1  # the number of the draw that is a block's
_ALMOST_1 = 1 - 2.0**-53


def key(seed: int, replication: int, *names: str | int) -> int:
    """The 128-bit key of a named stream."""
    parts = [f"str:{name}" if isinstance(name, str) else f"int:{index(name)}" for name in (seed, replication, *names)]
    return int.from_bytes(hashlib.blake2b("\x1f".join(parts).encode(), digest_size=16).digest(), "little")


def generator(seed: int, replication: int, *names: str | int) -> np.random.Generator:
    """A numpy generator (Philox) for a named stream."""
    return np.random.Generator(np.random.Philox(key=key(seed, replication, *names)))


def mix_array(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's finaliser: a bijection of 64-bit words in which every input bit moves every output bit.

    Args:
        words: of any shape, one dimension at least; they are overwritten, as what is new costs more than what is done.
    """
    words ^= words >> np.uint64(30)
    return _mixed_on(words)


def _mixed_on(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """What follows its first shift."""
    words *= np.uint64(_MIX_1)
    shifted = words >> np.uint64(27)
    words ^= shifted
    words *= np.uint64(_MIX_2)
    np.right_shift(words, np.uint64(31), out=shifted)
    words ^= shifted
    return words


class Hashed:
    """Uniform numbers addressed by two integers: the k-th draw of entity a is a function of (stream, a, k) alone.

    It costs nothing to have a stream per node: no state is kept.
    """

    # Weyl's sequence in two dimensions, which starts where the first half of the key says, mixed as SplitMix64 does it;
    # the second half of the key goes into the mixing, so that no stream is a shifted copy of another.
    __slots__ = ("_high", "_low")

    def __init__(self, seed: int, replication: int, *names: str | int) -> None:
        whole = key(seed, replication, *names)
        self._low, self._high = whole & _MASK, whole >> 64

    def uniform(self, entity: int, number: int) -> float:
        """A number in the open interval (0, 1)."""
        # `words` of one; written out, as a call would cost as much as what is in it.
        word = self._low + entity * _ODD_A + number * _ODD_B & _MASK
        word = (word ^ word >> 30 ^ self._high) * _MIX_1 & _MASK
        word = (word ^ word >> 27) * _MIX_2 & _MASK
        return (((word ^ word >> 31) >> 12) + 0.5) * 2.0**-52

    def first(self, entity: int) -> float:
        """A number in (0, 1) for any integer, so drawn that `lowest` finds the lowest of many at little cost.

        Entities 32 b .. 32 b + 31 are block b. Drawn are the block's least number, whose it is, and those of the
        others, uniform above it: so all are independent and uniform. It uses up `uniform` of the numbers 0 and -1.
        """
        block, place = divmod(entity, _BLOCK)
        # The first bits of one draw say whose the least number is; the bits after them are a uniform number again.
        drawn = self.uniform(block, _OF_BLOCK) * _BLOCK
        whose = int(drawn)
        least = drawn - whose
        # The least of n is 1 - (1 - u)^(1/n): the root is taken as square roots, which are the same to the last bit one
        # by one and in vectors, and 1 - sqrt(1 - u) = u / (1 + sqrt(1 - u)) loses nothing where u is small.
        for _ in range(_HALVINGS):
            least /= 1 + math.sqrt(1 - least)
        if place == whose:
            return least
        return min(least + (1 - least) * self.uniform(entity, 0), _ALMOST_1)

    def words(self, entities: NDArray[np.integer[Any]], numbers: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
        """64 random bits for each (entity, number), elementwise."""
        return _words(np.uint64(self._low), np.uint64(self._high), entities, numbers)

    def uniforms(self, entities: NDArray[np.integer[Any]], number: int) -> NDArray[np.float64]:
        """`uniform` for an array of entities, bit for bit the same numbers."""
        return _uniform(self.words(entities, np.array([number])))


def lowest(
    streams: Sequence[Hashed], shares: Sequence[float], stops: Sequence[int]
) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.float64]]:
    """Of each stream the entities 0 .. stop - 1 whose number, `first`, is at most its share; all streams in one go.

    Nobody looks into a block whose least number is too large.

    Returns:
        The index of the stream, the entity and its number, [found] each, by stream and entity.
    """
    counts = -(-np.array(stops, dtype=np.int64) // _BLOCK)
    low = np.array([stream._low for stream in streams], dtype=np.uint64)
    high = np.array([stream._high for stream in streams], dtype=np.uint64)
    share, stop = np.array(shares), np.array(stops)
    of = np.repeat(np.arange(len(streams)), counts)
    block = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
    drawn = _uniform(_words(low[of], high[of], block, np.array([_OF_BLOCK]))) * _BLOCK
    whose = np.floor(drawn)
    least = drawn - whose
    for _ in range(_HALVINGS):
        least /= 1 + np.sqrt(1 - least)
    near = np.flatnonzero(least <= share[of])
    of, least = of[near, None], least[near, None]  # [block, 1]
    entity = block[near, None] * _BLOCK + np.arange(_BLOCK)  # [block, place]
    others = _uniform(_words(low[of], high[of], entity, np.array([0])))
    number = np.minimum(least + (1 - least) * others, _ALMOST_1)
    number[np.arange(len(near)), whose[near].astype(np.int64)] = least[:, 0]
    found = (number <= share[of]) & (entity < stop[of])
    return np.broadcast_to(of, found.shape)[found], entity[found], number[found]


def _words(
    low: NDArray[np.uint64] | np.uint64,
    high: NDArray[np.uint64] | np.uint64,
    entities: NDArray[np.integer[Any]],
    numbers: NDArray[np.integer[Any]],
) -> NDArray[np.uint64]:
    """64 random bits for each (entity, number) of a stream, whose key has two halves; elementwise."""
    words = entities.astype(np.uint64) * np.uint64(_ODD_A) + numbers.astype(np.uint64) * np.uint64(_ODD_B)
    words += low
    words ^= words >> np.uint64(30)
    words ^= high
    return _mixed_on(words)


def _uniform(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """64 random bits as a number in the open interval (0, 1), elementwise."""
    return ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
