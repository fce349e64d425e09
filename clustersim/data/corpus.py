"""The corpus: samples in shards."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Corpus:
    """`samples` samples in `shards` shards of consecutive samples, as even as they go: the first ones hold one more."""

    samples: int
    shards: int

    @cached_property
    def shard_starts(self) -> NDArray[np.int64]:
        """Boundaries of the shards, int64[shards + 1], from 0 to `samples`."""
        size, longer = divmod(self.samples, self.shards)
        shard = np.arange(self.shards + 1, dtype=np.int64)
        return shard * size + np.minimum(shard, longer)
