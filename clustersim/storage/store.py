"""A store as those see it who read from it, and what they read: the terms of every formula in this room.

Times are seconds, sizes are bytes, rates are a second; a law of duration is in nanoseconds, as everywhere.
"""

from dataclasses import dataclass

from clustersim.laws import Law

NS = 1e-9
"""Seconds of a nanosecond."""


@dataclass(frozen=True, slots=True)
class Store:
    """`lanes` equal stores, each by itself: a single one that is shared, or one in each node that reads.

    A lane serves its requests one after another: at its rate of operations, then at its bandwidth. So its units share
    the load evenly, and no unit is ever idle while another has a queue: the best that a store can do.
    """

    lanes: int
    bandwidth: float  # of a lane
    operations: float  # requests that a lane serves
    shuffle_bandwidth: float  # data that a lane shuffles into a copy
    client_bandwidth: float  # what a node takes in; infinite if nothing limits it
    latency: Law  # of a request, where nobody else asks
    open: Law  # of a shard
    page: int
    request: int
    read_ahead: int

    @property
    def latency_s(self) -> float:
        """Mean latency of a request."""
        return self.latency.mean_ns * NS

    @property
    def open_s(self) -> float:
        """Mean time to open a shard."""
        return self.open.mean_ns * NS


@dataclass(frozen=True, slots=True)
class Reading:
    """What a job reads, and by how many: N samples in shards, a batch of them a step."""

    samples: int
    sample_bytes: float
    stored_bytes: float  # of the corpus as it lies; less than N samples where they overlap
    overlaps: bool
    shards: int
    dealt: bool  # whole shards are dealt out to workers, round robin; if not, all workers share every shard
    shard_spread: float
    batch: int
    ranks: int
    workers: int  # of a rank
    nodes: int  # that read
    prefetch: int  # batches of a rank that each worker holds
    buffer: int  # samples that each worker shuffles
    block: int
    step_s: float
    decode_s: float

    @property
    def readers(self) -> int:
        """Workers of all ranks."""
        return self.ranks * self.workers

    @property
    def rank_batch(self) -> int:
        """Samples that the fullest rank takes a step."""
        return -(-self.batch // self.ranks)

    @property
    def demand(self) -> float:
        """Samples a second that the job asks for."""
        return self.batch / self.step_s

    @property
    def epoch_bytes(self) -> float:
        """Bytes of an epoch's samples, one by one."""
        return self.samples * self.sample_bytes

    @property
    def shard_samples(self) -> float:
        """Samples of a shard, on average."""
        return self.samples / self.shards

    @property
    def workers_with_shards(self) -> int:
        """Workers that have a shard in the rank that has the fewest; 0: no step is possible."""
        return self.workers_of(self.ranks - 1)

    def workers_of(self, rank: int) -> int:
        """Workers of a rank that have a shard: the worker w of rank r gets the shards r + w R, r + (w + W) R, ..."""
        return min(self.workers, max(0, -(-(self.shards - rank) // self.ranks))) if self.dealt else self.workers

    def batch_of(self, rank: int) -> int:
        """Samples that a rank takes a step."""
        return self.batch // self.ranks + (rank < self.batch % self.ranks)

    @property
    def buffered(self) -> tuple[int, int]:
        """Samples that the buffers of the workers with the fewest and the most shards can hold."""
        least, most = self.shards // self.readers, -(-self.shards // self.readers)
        if not self.dealt:
            least = most = self.shards
        return min(self.buffer, int(least * self.shard_samples)), min(self.buffer, int(most * self.shard_samples))
