"""Parts of any length shuffled by one seed: readers that share it shuffle alike, however many they are."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_WORD_BITS = 32


class Picks:
    """Shuffles by picking one value after another from a list, the last of which then fills the gap.

    A place in a list of n is the highest bits of a random word, as many as n has, and those of the next word where they
    are n or more: what Python's `random` does with its words. So lists of 6 and of 12, as 4 and 2 ranks have of 24
    shards, begin at about the same share of their length, and the ranks with the same samples.
    """

    def __init__(self, by: np.random.Generator) -> None:
        """`by`: the stream of random words; who shares a seed has a new one of the same key."""
        self._by = by

    def permutation(self, values: Ints) -> Ints:
        """The values in the order in which they are picked, int64 of their length."""
        left, picked = values.tolist(), []
        while left:
            place = self._below(len(left))
            picked.append(left[place])
            left[place] = left[-1]
            left.pop()
        return np.array(picked, dtype=np.int64)

    def _below(self, count: int) -> int:
        shift = _WORD_BITS - count.bit_length()
        while (place := int(self._by.integers(1 << _WORD_BITS)) >> shift) >= count:
            pass
        return place
