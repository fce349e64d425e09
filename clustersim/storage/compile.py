"""From a scenario to a store, what is read from it, and by which pattern."""

import math

from clustersim.cluster.compile import law_of
from clustersim.scenario import Scenario
from clustersim.scenario.loader import Loader
from clustersim.scenario.storage import Feed, Pattern, Storage
from clustersim.storage.store import NS, Reading, Store


def feed_of(scenario: Scenario) -> Feed:
    """How the scenario's workers read; the defaults where it does not say."""
    return scenario.feed or Feed()


def store_of(storage: Storage, nodes: int) -> Store:
    """The store that so many nodes read from."""
    shuffles = storage.shuffle_bandwidth or storage.read_bandwidth / 2
    return Store(
        lanes=nodes if storage.scope == "node" else 1,
        bandwidth=storage.units * storage.read_bandwidth,
        operations=float(storage.units * storage.operations_per_s),
        shuffle_bandwidth=storage.units * shuffles,
        client_bandwidth=storage.client_bandwidth or math.inf,
        latency=law_of(storage.latency),
        open=law_of(storage.open),
        page=storage.page,
        request=storage.request,
        read_ahead=storage.read_ahead,
    )


def reading_of(scenario: Scenario, degree: int | None = None) -> Reading:
    """What the scenario's job reads with `degree` replicas (all, if not said); each replica is a rank that reads.

    Of a replica that spans several nodes one reads and passes on.

    Raises:
        ValueError: nothing says how many bytes a sample has.
    """
    sizes, data, feed = scenario.sizes, scenario.data, feed_of(scenario)
    if sizes.bytes_per_sample is None:
        raise ValueError("expected the bytes of a sample: data.bytes_per_sample, or model.sequence_length")
    degree = degree or sizes.data
    windows = data.windows
    stored = sizes.samples * sizes.bytes_per_sample
    if windows is not None:
        stored = windows.numbers * (sizes.bytes_per_sample / windows.length)
    return Reading(
        samples=sizes.samples,
        sample_bytes=sizes.bytes_per_sample,
        stored_bytes=stored,
        overlaps=windows is not None,
        shards=sizes.shards,
        dealt=scenario.loader.partition in ("shards", "contiguous-shards", "queue"),
        shard_spread=feed.shard_spread,
        batch=sizes.batch,
        ranks=degree,
        workers=feed.workers or scenario.loader.readers_per_rank,
        nodes=-(-degree // sizes.unit_replicas),
        prefetch=feed.prefetch,
        buffer=scenario.loader.buffer,
        block=feed.block,
        step_s=sizes.step_ns(degree) * NS,
        decode_s=feed.decode * NS,
    )


def pattern_of(scenario: Scenario) -> Pattern:
    """The pattern that the run itself reads by: what it says, or what its order and its buffer come to."""
    stated, order = feed_of(scenario).pattern, scenario.data.order
    if stated is not None:
        return stated
    if order in ("shuffle", "shuffle-once"):
        return "random"
    if scenario.loader.buffer or order == "nested-shuffle":  # a nested shuffle holds a shard in memory
        return "shuffle-buffer"
    return "sequential" if order == "sequential" else "shard-shuffle"


def replays(loader: Loader) -> bool:
    """Whether a loader comes back by reading again all that it read of the epoch: it has saved a count of batches."""
    return loader.saves in ("batches", "steps") and loader.comes_back in ("exact", "reshuffle", "remainder", "reapply")
