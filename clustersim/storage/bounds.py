"""Closed forms of feeding: the most that each resource can give, and the times that follow from the least of them."""

import math
from typing import Literal, NamedTuple

from clustersim.storage.patterns import Access
from clustersim.storage.store import Reading, Store

Resource = Literal["bandwidth", "operations", "clients", "workers"]


class Bound(NamedTuple):
    """The most samples a second that a resource allows where no other is in the way."""

    resource: Resource
    samples_per_s: float


def bounds(access: Access, reading: Reading, store: Store) -> tuple[Bound, ...]:
    """The bounds, each an upper one: bandwidth, operations, clients (what nodes take in) and workers.

    A worker makes one sample after another ready. What it reads ahead it waits for only as far as that takes longer
    than its own work; of anything else it waits for the latency of each fetch.
    """
    store_s = access.sample_bytes / (store.lanes * store.bandwidth)
    if access.remade:  # every lane makes a whole copy, beside what it reads
        store_s += reading.sample_bytes / store.shuffle_bandwidth
    latency_s = store.latency_s / access.fetch_samples
    worker_s = max(reading.decode_s, latency_s) if access.ahead else reading.decode_s + latency_s
    worker_s += access.opens * store.open_s
    working = reading.ranks * (reading.workers_with_shards if access.ahead else reading.workers)
    return (
        Bound("bandwidth", _rate(1, store_s)),
        Bound("operations", store.lanes * store.operations / access.sample_requests),
        Bound("clients", reading.nodes * store.client_bandwidth / access.sample_bytes),
        Bound("workers", _rate(working, worker_s)),
    )


def _rate(working: int, seconds: float) -> float:
    if working == 0:
        return 0.0
    return working / seconds if seconds > 0 else math.inf


def bottleneck(access: Access, reading: Reading, store: Store) -> Bound:
    """The least of the bounds."""
    return min(bounds(access, reading, store), key=lambda bound: bound.samples_per_s)


def margin(bound: Bound, reading: Reading) -> float:
    """How many times what the job asks for a resource can give; it keeps up from 1 on."""
    return bound.samples_per_s / reading.demand


def least_wait_share(margin: float) -> float:
    """The share of the time that a job waits for data at least: where the feed gives m < 1 of what is asked, 1 - m."""
    return max(0.0, 1 - margin)


def preparation_s(access: Access, reading: Reading, store: Store) -> float:
    """Time to make the copy that the first epoch reads; every lane makes a whole one."""
    return reading.epoch_bytes / store.shuffle_bandwidth if access.copies else 0.0


def lost_preparation_s(access: Access, reading: Reading, store: Store) -> float:
    """Mean time that the job loses by a crash while a copy is made, which begins anew; at any time of it alike.

    Of a copy that is made ahead half was done. One that is made behind an epoch of T, in P < T, is late only by what no
    longer fits into the epoch: the mean of max(0, a + P - T) over a of [0, P) is (2 P - T)^2 / 2 P, 0 up to P = T / 2.
    Steps that are rolled back lengthen the epoch, so it is that at most.
    """
    making = preparation_s(access, reading, store)
    if not access.remade:
        return making / 2
    epoch = max(reading.samples / reading.demand, _read_s(reading.samples, access, reading, store))
    return max(0.0, 2 * making - epoch) ** 2 / (2 * making)


def resume_s(access: Access, reading: Reading, store: Store) -> float:
    """Time from a restart with a saved position to the first batch: open, seek, fill the buffers, make a batch.

    With a saved buffer nothing has to be filled, but what it holds has to be loaded: the same bytes.
    """
    opened_s = store.open_s + store.latency_s
    return opened_s + _read_s(access.fill * reading.readers + reading.batch, access, reading, store)


def first_batch_s(access: Access, reading: Reading, store: Store) -> float:
    """Time from the start of the job to its first batch."""
    return preparation_s(access, reading, store) + resume_s(access, reading, store)


def replay_s(steps: int, access: Access, reading: Reading, store: Store) -> float:
    """Time to come back without a saved position: all batches of `steps` steps are read again, as fast as it goes."""
    return resume_s(access, reading, store) + _read_s(steps * reading.batch, access, reading, store)


def _read_s(samples: int, access: Access, reading: Reading, store: Store) -> float:
    rate = bottleneck(access, reading, store).samples_per_s
    return samples / rate if rate else math.inf
