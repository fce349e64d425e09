"""Orders in which every reader permutes a contiguous part of the samples by itself."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clustersim.data.orders import LAYOUT_BITS, Shuffle
from clustersim.data.permutation import permutation
from clustersim.loaders.deal import Contiguous, Uneven
from clustersim.streams import mix_array

Ints = NDArray[np.int64]


def part_family(family: int, readers: int) -> int:
    """The name of order `family` over so many readers: their parts, and so their permutations, are others."""
    return family << LAYOUT_BITS | readers


class PartOrder:
    """Epochs of as many contiguous parts as there are readers, each a permutation of its own samples."""

    law: Literal["other"] = "other"

    def __init__(self, order: Shuffle, uneven: Uneven) -> None:
        """`order`: whose seed, and whose sameness of epochs, the parts share."""
        self.size = order.size
        self.same_every_epoch = order.same_every_epoch
        self._order = order
        self._uneven = uneven

    def samples_at(self, family: int, epoch: int, offsets: Ints) -> Ints:
        """The samples at some offsets of an epoch, int64 of their shape."""
        starts = self._starts(family)
        part = np.searchsorted(starts, offsets, side="right") - 1
        samples = np.empty_like(offsets)
        for each in np.unique(part).tolist():
            low, high = int(starts[each]), self._end(starts, each)
            inside = part == each
            key = self._key(family, epoch, each)
            samples[inside] = low + permutation(high - low).forward(offsets[inside] - low, key)
        return samples

    def offset_of(self, family: Ints, epoch: Ints, sample: int) -> Ints:
        """The offset at which each (family, epoch) reads the sample; int64 of the arrays' shape."""
        pairs = np.broadcast(family, epoch)
        found = []
        for one_family, one_epoch in pairs:
            starts = self._starts(int(one_family))
            part = int(np.searchsorted(starts, sample, side="right")) - 1
            low, high = int(starts[part]), self._end(starts, part)
            key = self._key(int(one_family), int(one_epoch), part)
            found.append(low + permutation(high - low).backward(np.array([sample - low]), key).item())
        return np.array(found, dtype=np.int64).reshape(pairs.shape)

    def _starts(self, family: int) -> Ints:
        """Where the parts begin that are not empty, rising."""
        readers = family & ((1 << LAYOUT_BITS) - 1)
        starts = Contiguous(self.size, readers, self._uneven).starts
        return np.unique(starts[starts < self.size])

    def _end(self, starts: Ints, part: int) -> int:
        return int(starts[part + 1]) if part + 1 < len(starts) else self.size

    def _key(self, family: int, epoch: int, part: int) -> NDArray[np.uint64]:
        return mix_array(self._order.key_of(family, epoch) + np.uint64(part))
