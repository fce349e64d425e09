"""The simulated wait for data against the closed form, an independent simulation, and what it must not depend on."""

from dataclasses import replace

import numpy as np
import pytest
import simpy

from clustersim.laws import draw
from clustersim.scenario import load_scenario
from clustersim.storage.bounds import bottleneck, least_wait_share, margin
from clustersim.storage.compile import reading_of, store_of
from clustersim.storage.patterns import IN_SHARDS, PATTERNS, access_of
from clustersim.storage.waiting import Waits, simulate_waits
from clustersim.streams import Hashed

BASE = {"model.step_time": "1 s", "storage.read_bandwidth": "1 GB/s", "storage.operations_per_s": 1_000_000}
TAIL = {"type": "lognormal", "mean": "20 ms", "sigma": 1.5}


def world(pattern, changes, **parts):
    """Access, reading and store of the small job: 16 ranks, 32 samples of 32 KiB each a step of 1 s."""
    scenario = load_scenario("small", {**BASE, **changes})
    reading = replace(reading_of(scenario), **parts)
    store = store_of(scenario.storage, reading.nodes)
    return access_of(pattern, reading, store), reading, store


def operations(pattern):
    """Half of what a pattern asks for, in requests a second: 512 samples, in windows of 4 or blocks of 1,024."""
    per_sample = 1 / 4 if pattern in IN_SHARDS else 1 / 32 if pattern == "block-shuffle" else 1
    return round(256 * per_sample)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("scarce", ["bandwidth", "operations", "workers"])
def test_where_one_resource_is_scarce_steps_wait_as_long_as_the_closed_form_says(pattern, scarce):
    changes = {
        "bandwidth": {"storage.read_bandwidth": "8 MB/s"},
        "operations": {"storage.operations_per_s": operations(pattern)},
        "workers": {"feed.decode": "62.5 ms"},
    }[scarce]
    if pattern == "block-shuffle":
        changes = {**changes, "feed.prefetch": 64}  # a block is 32 batches: fewer would not hide its coming all at once
    access, reading, store = world(pattern, changes)
    least = bottleneck(access, reading, store)
    assert least.resource == scarce
    bound_s = reading.step_s / margin(least, reading)
    assert 1.5 < bound_s < 7
    waits = simulate_waits(access, reading, store, 320)
    found_s = reading.step_s + waits.mean_ns / 1e9
    assert found_s == pytest.approx(bound_s, rel=0.02)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(
    "changes",
    [
        {"storage.read_bandwidth": "17 MB/s", "feed.decode": "25 ms"},
        {"storage.latency": TAIL, "feed.decode": "12 ms"},
        {"storage.operations_per_s": 150, "storage.latency": "2 ms", "feed.workers": 2, "feed.prefetch": 1},
        {"feed.decode": "30 ms", "data.shards": 60_000, "storage.open": "200 ms", "feed.shard_spread": 1.0},
    ],
)
def test_elsewhere_the_feed_gives_no_more_than_the_closed_form(pattern, changes):
    access, reading, store = world(pattern, {**changes, "model.step_time": "100 ms"})
    least = least_wait_share(margin(bottleneck(access, reading, store), reading))
    assert least > 0
    assert simulate_waits(access, reading, store, 300).share >= least - 0.002  # windows in flight at either end


def independent_waits(reading, store, steps):
    """The same queue as a recursion over batches: latencies only, a sample after another in each worker."""
    latency = Hashed(0, 0, "feed", "latency")
    workers, batch = reading.workers, reading.batch // reading.ranks
    ready = np.zeros((reading.ranks, steps))
    begun, waits, due = np.zeros(steps), np.zeros(steps), 0.0
    made = np.zeros((reading.ranks, workers), dtype=int)
    for step in range(steps):
        worker, held = step % workers, step - reading.prefetch * workers
        for rank in range(reading.ranks):
            start = max(ready[rank, step - workers] if step >= workers else 0, begun[held] if held >= 0 else 0)
            first = 1 + made[rank, worker]
            made[rank, worker] += batch
            reader = rank + worker * reading.ranks
            numbers = range(first, first + batch)
            ready[rank, step] = start + sum(draw(store.latency, latency, reader, number) for number in numbers)
        begun[step] = max(due, ready[:, step].max())
        waits[step] = begun[step] - due
        due = begun[step] + reading.step_s * 1e9
    return waits[2 * workers * reading.prefetch :]


def test_prefetch_hides_a_heavy_tail_as_an_independent_simulation_says():
    shares = []
    for prefetch in (1, 2, 8):
        changes = {"storage.latency": {"type": "lognormal", "mean": "40 ms", "sigma": 2.0}, "feed.workers": 2}
        access, reading, store = world("random", changes, prefetch=prefetch, batch=16 * 16)
        free = replace(store, operations=1e15, bandwidth=1e21)
        found = simulate_waits(access, reading, free, 1000)
        expected = independent_waits(reading, free, 1000 + 4 * prefetch)
        assert len(found.wait_ns) == len(expected) == 1000
        # a request takes its service of less than a nanosecond, rounded up
        np.testing.assert_allclose(found.wait_ns, expected, atol=40_000)
        shares.append(found.share)
    assert shares[0] > 1.2 * shares[1] > 1.2**2 * shares[2] > 0


def test_the_law_of_the_wait():
    access, reading, store = world("random", {"storage.latency": TAIL})
    waits = simulate_waits(access, reading, store, 200)
    assert waits.quantile_ns(0) == waits.wait_ns.min() >= 0
    assert waits.quantile_ns(0.5) < waits.mean_ns < waits.quantile_ns(0.99) <= waits.wait_ns.max()
    again = simulate_waits(access, reading, store, 200)
    np.testing.assert_array_equal(waits.wait_ns, again.wait_ns)


def test_workers_without_a_shard_leave_their_batches_to_the_others():
    """40 shards for 16 ranks of 4 workers: eight ranks have two workers that read, and set the pace."""
    changes = {"feed.workers": 4, "feed.decode": "100 ms"}
    _, all_work, store = world("sequential", changes)
    dealt = replace(all_work, dealt=True, shards=40)
    assert [dealt.workers_of(rank) for rank in (0, 7, 8, 15)] == [3, 3, 2, 2]
    access = access_of("sequential", dealt, store)
    shared_s, dealt_s = (
        reading.step_s + simulate_waits(access, reading, store, 200).mean_ns / 1e9 for reading in (all_work, dealt)
    )
    assert shared_s == pytest.approx(1, rel=0.02)
    assert dealt_s == pytest.approx(32 * 0.1 / 2, rel=0.02)
    with pytest.raises(ValueError, match="rank 12 has no shard to read: there are 12"):
        simulate_waits(access, replace(dealt, shards=12), store, 10)


def test_uneven_shards_keep_their_mean_and_make_steps_wait():
    changes = {"data.shards": 60_000, "storage.open": "500 ms", "feed.decode": "20 ms", "feed.prefetch": 1}
    access, even, store = world("shard-shuffle", changes)
    uneven = replace(even, shard_spread=1.5)
    shares = [simulate_waits(access, reading, store, 400).share for reading in (even, uneven)]
    assert 0 < shares[0] < shares[1] < 0.5


def test_a_step_costs_what_it_reads_not_what_there_is(monkeypatch):
    """As many events with 100,000 shards as with 100 of the same size, and with twice the reads twice as many."""
    scheduled = []
    schedule = simpy.Environment.schedule
    monkeypatch.setattr(
        simpy.Environment,
        "schedule",
        lambda self, *rest, **named: scheduled.append(1) or schedule(self, *rest, **named),
    )

    def events(shards, batch):
        changes = {"data.documents": f"{shards * 1000 * 8192 // 700} ", "data.shards": shards, "storage.open": "5 ms"}
        access, reading, store = world("shard-shuffle", {**changes, "feed.shard_spread": 0.5}, batch=batch)
        scheduled.clear()
        simulate_waits(access, reading, store, 100)
        return len(scheduled)

    few = events(100, 512)
    assert events(100_000, 512) == pytest.approx(few, rel=0.01)
    assert events(100, 1024) == pytest.approx(2 * few, rel=0.2)


def test_the_spread_of_a_leg_knows_that_waits_follow_each_other():
    """Of waits that depend on the one before, x' = 0.6 x + e, sums spread by 1 / 0.4 of e; of independent ones by e."""
    rng = np.random.default_rng(0)
    shocks = rng.normal(0, 1000, 40_000)
    linked = np.zeros(40_000)
    for step in range(1, 40_000):
        linked[step] = 0.6 * linked[step - 1] + shocks[step]
    for waits, expected in ((shocks, 1000), (linked, 2500)):
        found = Waits((50_000 + waits).astype(np.int64), 1)
        assert found.sd_ns == pytest.approx(expected, rel=4 / np.sqrt(2 * 19))
        assert found.error_ns == found.sd_ns / 200
    assert Waits(np.array([7]), 1).sd_ns == 0


def test_legs_take_their_steps_mean_wait_within_the_spread_that_is_told():
    """30 legs of 100 steps under a heavy tail: their totals are spread as `sd_ns` says, around n times the mean."""
    changes = {"storage.latency": {"type": "lognormal", "mean": "40 ms", "sigma": 2.0}, "feed.workers": 2}
    waits = simulate_waits(*world("random", changes, prefetch=2, batch=128), 3000)
    legs = waits.wait_ns.reshape(30, 100).sum(axis=1)
    ratio = legs.std(ddof=1) / (waits.sd_ns * 10)
    assert ratio == pytest.approx(1, abs=4 / np.sqrt(2 * 19))
    early, late = waits.wait_ns[:1000].mean(), waits.wait_ns[1000:].mean()
    assert abs(early - late) < 4 * waits.sd_ns * np.sqrt(1 / 1000 + 1 / 2000)


@pytest.mark.parametrize("steps", [49, 50, 56])
def test_bursts_that_come_with_the_turns_of_the_workers_are_seen_whole(steps):
    """Eight workers ask for their batches at once: one step in eight waits for all of them. 7 turns are 56 steps."""
    changes = {"storage.operations_per_s": 256, "feed.workers": 8, "feed.prefetch": 4}
    access, reading, store = world("indices", changes)
    waits = simulate_waits(access, reading, store, steps)
    assert len(waits.wait_ns) == 56
    assert (waits.wait_ns > 0).mean() == 1 / 8
    bound_s = reading.step_s / margin(bottleneck(access, reading, store), reading)
    assert reading.step_s + waits.mean_ns / 1e9 == pytest.approx(bound_s, rel=0.002)
    assert waits.error_ns < 0.002 * waits.mean_ns < 0.01 * waits.wait_ns.std()
