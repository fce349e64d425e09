"""What the samples are read from, and how the job's workers read them."""

from typing import Literal

from pydantic import StrictStr, model_validator

from clustersim.scenario.errors import wrong
from clustersim.scenario.laws import DurationOrLaw
from clustersim.scenario.part import Part
from clustersim.scenario.units import Bandwidth, Bytes, Duration, Number, PositiveCount

Pattern = Literal[
    "sequential", "shard-shuffle", "shuffle-buffer", "block-shuffle", "random", "indices", "copy", "copy-behind"
]
"""A way to read an epoch. The last two read a shuffled copy of it from one end to the other."""
OF_WINDOWS: tuple[Pattern, ...] = ("random", "indices", "copy", "copy-behind")
"""What overlapping windows can be read by: they are no shards of samples until they are copied."""

_MOST_SPREAD = 3.0


class Storage(Part):
    """The store that holds the corpus. Figures are of one unit of it; the load is spread evenly over all of them."""

    preset: StrictStr | None = None
    """Shipped figures; keys beside it override its own."""
    scope: Literal["shared", "node"] = "shared"
    """One store that all nodes read from, or one in each node that reads, which then holds a whole copy."""
    units: PositiveCount = 1
    """Disks, storage nodes or prefixes that it is made of."""
    read_bandwidth: Bandwidth
    """What a unit reads."""
    operations_per_s: PositiveCount
    """Requests that a unit serves a second."""
    shuffle_bandwidth: Bandwidth | None = None
    """Data that a unit shuffles into a copy; half of read_bandwidth if not said, as it reads once and writes once."""
    client_bandwidth: Bandwidth | None = None
    """What a node that reads can take in."""
    latency: DurationOrLaw = 0
    """From a request to its first byte where nobody else asks."""
    open: DurationOrLaw = 0
    """To open a shard."""
    page: Bytes = 4096
    """What a request touches of a page is read as a whole."""
    request: Bytes = 2**20
    """The most that one request carries."""
    read_ahead: Bytes = 2**17
    """What is fetched ahead of a reader that reads on and on."""

    @model_validator(mode="after")
    def _check(self) -> "Storage":
        for key in ("page", "request", "read_ahead"):
            if getattr(self, key) == 0:
                raise wrong("a size of at least 1 B", '"0 B"', key=key)
        return self


class Feed(Part):
    """How the workers of the job read."""

    workers: PositiveCount | None = None
    """Processes that read for a rank, each one batch of the rank's after another; loader.readers_per_rank if not
    said."""
    prefetch: PositiveCount = 2
    """Batches that each worker holds ready or is making."""
    decode: Duration = 0
    """A worker's own time for a sample: unpacking, augmenting, tokenizing."""
    pattern: Pattern | None = None
    """What the run itself reads by; what data.order and loader.buffer make of it if not said."""
    block: PositiveCount = 1024
    """Samples of a block of "block-shuffle"."""
    shard_spread: Number = 0.0
    """Uneven shards: the standard deviation of the natural logarithm of their sizes, at most 3."""

    @model_validator(mode="after")
    def _check(self) -> "Feed":
        if self.shard_spread > _MOST_SPREAD:
            raise wrong(f"a number of at most {_MOST_SPREAD:g}", str(self.shard_spread), key="shard_spread")
        return self
