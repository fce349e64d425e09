"""Access patterns: what a worker waits for, and what that costs in requests, bytes and space.

A **fetch** is what a worker asks the store for at once and waits for as a whole.

| pattern | a fetch | ahead |
|---|---|---|
| sequential, shard-shuffle, shuffle-buffer | a read-ahead window of its shard | yes |
| block-shuffle | a block of consecutive samples | no |
| random | one sample | no |
| indices | the batch of its rank, as one list | no |
| copy, copy-behind | as sequential, of a copy that was shuffled once, or anew behind each epoch | yes |

`ahead`: the next window is on its way while the samples of this one are being made ready.
"""

import math
from dataclasses import dataclass
from typing import get_args

from clustersim.scenario.storage import OF_WINDOWS, Pattern
from clustersim.storage.store import Reading, Store

PATTERNS: tuple[Pattern, ...] = get_args(Pattern)
IN_SHARDS: tuple[Pattern, ...] = ("sequential", "shard-shuffle", "shuffle-buffer", "copy", "copy-behind")
"""Each worker reads shards of its own, from one end to the other."""
COPIES: tuple[Pattern, ...] = ("copy", "copy-behind")
"""Read a copy that has to be made."""


@dataclass(frozen=True, slots=True)
class Access:
    """What a pattern asks of a store. Counts are means, so they need not be whole."""

    pattern: Pattern
    fetch_samples: float  # below 1: a sample takes several fetches
    fetch_requests: int
    fetch_bytes: float
    ahead: bool
    opens: float  # shards opened for each sample
    fill: int  # samples that a worker pulls before it lets the first one out
    copies: int  # of the epoch that lie beside the corpus
    remade: bool  # a copy is made in each epoch, beside the reading

    @property
    def sample_requests(self) -> float:
        """Requests for each sample."""
        return self.fetch_requests / self.fetch_samples

    @property
    def sample_bytes(self) -> float:
        """Bytes that the store delivers for each sample."""
        return self.fetch_bytes / self.fetch_samples


def patterns_of(reading: Reading) -> tuple[Pattern, ...]:
    """The patterns that a corpus can be read by."""
    return OF_WINDOWS if reading.overlaps else PATTERNS


def access_of(pattern: Pattern, reading: Reading, store: Store) -> Access:
    """What reading by a pattern asks of a store."""
    if pattern in IN_SHARDS:
        fetch_samples, fetch_requests, fetch_bytes = _window(reading, store)
    else:
        one = {"random": 1, "indices": 1, "block-shuffle": min(reading.block, reading.samples)}[pattern]
        times = reading.rank_batch if pattern == "indices" else 1
        touched = touched_bytes(one * reading.sample_bytes, store.page)
        requests = max(1, math.ceil(one * reading.sample_bytes / store.request))
        fetch_samples, fetch_requests, fetch_bytes = one * times, requests * times, touched * times
    return Access(
        pattern=pattern,
        fetch_samples=fetch_samples,
        fetch_requests=fetch_requests,
        fetch_bytes=fetch_bytes,
        ahead=pattern in IN_SHARDS,
        opens=1 / reading.shard_samples if pattern in IN_SHARDS else 0.0,
        fill=reading.buffered[1] if pattern == "shuffle-buffer" else 0,
        copies=COPIES.index(pattern) + 1 if pattern in COPIES else 0,
        remade=pattern == "copy-behind",
    )


def _window(reading: Reading, store: Store) -> tuple[float, int, float]:
    """Samples, requests and bytes of a read-ahead window; nothing is fetched beyond a shard's end."""
    window = min(float(store.read_ahead), reading.shard_samples * reading.sample_bytes)
    return window / reading.sample_bytes, max(1, math.ceil(window / store.request)), window


def touched_bytes(size: float, page: int) -> float:
    """Mean bytes of the pages that `size` bytes touch which begin at any byte of a page alike: size + page - 1."""
    return size + page - 1


def read_amplification(access: Access, reading: Reading) -> float:
    """Bytes that the store delivers, over those that the job uses."""
    return access.sample_bytes / reading.sample_bytes


def space_bytes(access: Access, reading: Reading, store: Store) -> float:
    """Bytes that lie in the store: the corpus and the copies beside it, in each node where each has a store."""
    return store.lanes * (reading.stored_bytes + access.copies * reading.epoch_bytes)


def copy_factor(reading: Reading) -> float:
    """The size of a copy over that of the corpus; w / c for windows of w at a stride of c that wrap."""
    return reading.epoch_bytes / reading.stored_bytes


def memory_bytes(access: Access, reading: Reading) -> float:
    """Bytes that all shuffle buffers hold."""
    return access.fill * reading.readers * reading.sample_bytes
