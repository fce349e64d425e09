"""Named random streams: a draw belongs to what it is about, not to when it is made.

Every stream is named by (seed, replication, names...), hashed, so that no two streams are shifted copies of each other
and replication 17 alone draws what replication 17 of a sweep draws.
"""

import hashlib
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MASK = 2**64 - 1
_ODD_A = 0x9E3779B97F4A7C15  # 2^64 / golden ratio: spreads consecutive integers over the whole range
_ODD_B = 0xD1B54A32D192ED03
_MIX_1 = 0xBF58476D1CE4E5B9  # the finaliser of SplitMix64 (Steele, Lea, Flood 2014)
_MIX_2 = 0x94D049BB133111EB


def key(seed: int, replication: int, *names: str | int) -> int:
    """The 128-bit key of a named stream."""
    parts = (name if isinstance(name, str) else index(name) for name in (seed, replication, *names))
    words = "\x1f".join(f"{type(part).__name__}:{part}" for part in parts)
    return int.from_bytes(hashlib.blake2b(words.encode(), digest_size=16).digest(), "little")


def generator(seed: int, replication: int, *names: str | int) -> np.random.Generator:
    """A numpy generator (Philox) for a named stream."""
    return np.random.Generator(np.random.Philox(key=key(seed, replication, *names)))


def mix(word: int) -> int:
    """SplitMix64's finaliser: a bijection of 64-bit words in which every input bit moves every output bit."""
    word ^= word >> 30
    word = word * _MIX_1 & _MASK
    word ^= word >> 27
    word = word * _MIX_2 & _MASK
    return word ^ (word >> 31)


def mix_array(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """`mix` for an array of any shape."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(_MIX_1)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(_MIX_2)
    return words ^ (words >> np.uint64(31))


class Hashed:
    """Uniform numbers addressed by two integers: the k-th draw of entity a is a function of (stream, a, k) alone.

    It costs nothing to have a stream per node: no state is kept.
    """

    __slots__ = ("_high", "_low")

    def __init__(self, seed: int, replication: int, *names: str | int) -> None:
        whole = key(seed, replication, *names)
        self._low, self._high = whole & _MASK, whole >> 64

    def uniform(self, entity: int, number: int) -> float:
        """A number in the open interval (0, 1)."""
        word = mix((self._low + entity * _ODD_A) & _MASK)
        word = mix((word ^ self._high) + number * _ODD_B & _MASK)
        return ((word >> 12) + 0.5) * 2.0**-52

    def words(self, entities: NDArray[np.integer[Any]], numbers: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
        """64 random bits for each (entity, number), elementwise."""
        words = mix_array(np.uint64(self._low) + entities.astype(np.uint64) * np.uint64(_ODD_A))
        return mix_array((words ^ np.uint64(self._high)) + numbers.astype(np.uint64) * np.uint64(_ODD_B))

    def uniforms(self, entities: NDArray[np.integer[Any]], number: int) -> NDArray[np.float64]:
        """`uniform` for an array of entities, bit for bit the same numbers."""
        words = self.words(entities, np.array([number]))
        return ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
