"""Named random streams: a draw belongs to what it is about, not to when it is made.

Every stream is named by (seed, replication, names...), hashed, so that no two streams are shifted copies of each other
and replication 17 alone draws what replication 17 of a sweep draws.
"""

import hashlib
import math
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


def mix_array(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's finaliser: a bijection of 64-bit words in which every input bit moves every output bit.

    Args:
        words: of any shape, one dimension at least; they are overwritten, as what is new costs more than what is done.
    """
    shifted = words >> np.uint64(30)
    words ^= shifted
    words *= np.uint64(_MIX_1)
    np.right_shift(words, np.uint64(27), out=shifted)
    words ^= shifted
    words *= np.uint64(_MIX_2)
    np.right_shift(words, np.uint64(31), out=shifted)
    words ^= shifted
    return words


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
        # `mix_array` of a word, twice; written out, as a call would cost as much as what is in it.
        word = (self._low + entity * _ODD_A) & _MASK
        word = (word ^ (word >> 30)) * _MIX_1 & _MASK
        word = (word ^ (word >> 27)) * _MIX_2 & _MASK
        word = ((word ^ (word >> 31)) ^ self._high) + number * _ODD_B & _MASK
        word = (word ^ (word >> 30)) * _MIX_1 & _MASK
        word = (word ^ (word >> 27)) * _MIX_2 & _MASK
        return (((word ^ (word >> 31)) >> 12) + 0.5) * 2.0**-52

    def words(self, entities: NDArray[np.integer[Any]], numbers: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
        """64 random bits for each (entity, number), elementwise."""
        words = mix_array(np.uint64(self._low) + entities.astype(np.uint64) * np.uint64(_ODD_A))
        return mix_array((words ^ np.uint64(self._high)) + numbers.astype(np.uint64) * np.uint64(_ODD_B))

    def lowest(self, first: int, stop: int, number: int, share: float) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Which of the entities first .. stop - 1 draw at most `share`, in order, counted from `first`; and the draws.

        It is `uniforms(...) <= share`, compared before words become numbers.
        """
        words = np.arange(first, stop, dtype=np.uint64)
        words *= np.uint64(_ODD_A)
        words += np.uint64(self._low)
        words = mix_array(words)
        words ^= np.uint64(self._high)
        words += np.uint64(number * _ODD_B & _MASK)
        words = mix_array(words)
        # A draw is (word >> 12) + 1/2 in units of 2^-52.
        whole = math.floor(share * 2.0**52)
        at_most = whole - (share * 2.0**52 - whole < 0.5)
        below = np.flatnonzero(words < np.uint64(at_most + 1 << 12)) if at_most + 1 < 2**52 else np.arange(stop - first)
        return below, _uniform(words[below])

    def uniforms(self, entities: NDArray[np.integer[Any]], number: int) -> NDArray[np.float64]:
        """`uniform` for an array of entities, bit for bit the same numbers."""
        return _uniform(self.words(entities, np.array([number])))


def _uniform(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """64 random bits as a number in the open interval (0, 1), elementwise."""
    return ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
