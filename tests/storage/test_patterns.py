"""Access patterns in closed form: what each asks of each store, and what of it is too much."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from clustersim.data.corpus import Corpus
from clustersim.laws import Constant
from clustersim.loaders.deal import Sharded
from clustersim.scenario import load_scenario, presets
from clustersim.storage.bounds import (
    bottleneck,
    bounds,
    first_batch_s,
    lost_preparation_s,
    margin,
    preparation_s,
    replay_s,
    resume_s,
)
from clustersim.storage.compile import pattern_of, reading_of, store_of
from clustersim.storage.patterns import (
    PATTERNS,
    access_of,
    copy_factor,
    memory_bytes,
    patterns_of,
    read_amplification,
    space_bytes,
)

MS = 10**6


def world(changes):
    """Reading and store of the small job with its storage changed."""
    scenario = load_scenario("small", {"storage.read_bandwidth": "1 GB/s", "storage.operations_per_s": 1000, **changes})
    reading = reading_of(scenario)
    return reading, store_of(scenario.storage, reading.nodes)


def margins(pattern, reading, store):
    return {
        bound.resource: margin(bound, reading) for bound in bounds(access_of(pattern, reading, store), reading, store)
    }


@pytest.mark.parametrize("preset", presets("storage"))
def test_llama_reads_so_little_that_no_store_lacks_bandwidth(preset):
    """10.8 MB/s in all: 330 samples a second of 32 KiB, which one disk serves by 0.46 if each is read by itself."""
    scenario = load_scenario("llama3-405b", {"storage.preset": preset})
    reading = reading_of(scenario)
    store = store_of(scenario.storage, reading.nodes)
    assert reading.demand * reading.sample_bytes == pytest.approx(10.8e6, rel=0.01)
    for pattern in PATTERNS:
        found = margins(pattern, reading, store)
        assert found["bandwidth"] > 1
        one_by_one = preset == "hard-disk" and pattern in ("random", "indices")
        assert (found["operations"] < 1) == one_by_one, pattern
        if one_by_one:
            assert found["operations"] == pytest.approx(150 / reading.demand)
            assert found["operations"] == pytest.approx(0.456, abs=0.001)


def test_a_window_of_read_ahead_is_one_request_and_holds_many_samples():
    reading, store = world({"storage.read_ahead": "1 MiB", "storage.request": "256 KiB"})
    access = access_of("shard-shuffle", reading, store)
    assert (access.fetch_samples, access.fetch_requests, access.fetch_bytes) == (32, 4, 2**20)
    assert read_amplification(access, reading) == 1
    assert access.opens == pytest.approx(reading.shards / reading.samples)


def test_a_sample_by_itself_reads_whole_pages():
    """A sample of 32 KiB that begins anywhere touches 8 pages of 4 KiB, and a ninth unless it begins on a page."""
    reading, store = world({})
    begins = range(4096)
    touched = sum((begin + 32768 - 1) // 4096 + 1 for begin in begins) * 4096 / len(begins)
    access = access_of("random", reading, store)
    assert access.fetch_bytes == touched
    assert read_amplification(access, reading) == pytest.approx(touched / 32768)
    assert read_amplification(access_of("block-shuffle", reading, store), reading) == pytest.approx(1, abs=2e-4)
    bytewise = replace(store, page=1)
    assert read_amplification(access_of("random", reading, bytewise), reading) == 1


def test_a_list_of_indices_costs_as_many_requests_and_waits_once():
    reading, store = world({"storage.latency": "10 ms"})
    one, listed = access_of("random", reading, store), access_of("indices", reading, store)
    assert listed.sample_requests == one.sample_requests == 1
    assert listed.fetch_samples == 512 / 16
    assert margins("random", reading, store)["workers"] == pytest.approx(16 / 0.010 / reading.demand)
    assert margins("indices", reading, store)["workers"] == pytest.approx(32 * 16 / 0.010 / reading.demand)


def test_what_is_read_ahead_is_waited_for_only_beyond_the_workers_own_work():
    changes = {"storage.latency": "8 ms", "storage.read_ahead": "256 KiB", "feed.decode": "2 ms"}
    reading, store = world(changes)
    in_turn = replace(reading, decode_s=0.0005)
    assert margins("sequential", reading, store)["workers"] == pytest.approx(16 / 0.002 / reading.demand)
    assert margins("sequential", in_turn, store)["workers"] == pytest.approx(16 / 0.001 / reading.demand)
    assert margins("random", reading, store)["workers"] == pytest.approx(16 / 0.010 / reading.demand)


def test_workers_without_a_shard_read_nothing():
    shared, store = world({"data.shards": 40, "feed.workers": 4, "feed.decode": "1 ms"})
    assert shared.workers_with_shards == 4
    reading = replace(shared, dealt=True)
    assert reading.workers_with_shards == 2  # 40 shards over 16 ranks: eight ranks have three, the others two
    assert margins("shard-shuffle", reading, store)["workers"] == pytest.approx(2 * 16 / 0.001 / reading.demand)
    assert margins("random", reading, store)["workers"] == pytest.approx(4 * 16 / 0.001 / reading.demand)
    starved = replace(reading, shards=15)
    assert bottleneck(access_of("sequential", starved, store), starved, store) == ("workers", 0)


def test_a_store_in_each_node_holds_the_corpus_in_each_and_serves_for_itself():
    shared, one = world({})
    own, each = world({"storage.scope": "node"})
    access = access_of("random", shared, one)
    assert space_bytes(access, own, each) == 16 * space_bytes(access, shared, one)
    assert margins("random", own, each)["operations"] == 16 * margins("random", shared, one)["operations"]


def test_a_copy_costs_its_space_and_the_time_to_make_it():
    reading, store = world({"storage.shuffle_bandwidth": "100 MB/s"})
    once, behind = access_of("copy", reading, store), access_of("copy-behind", reading, store)
    assert space_bytes(once, reading, store) == 2 * reading.epoch_bytes
    assert space_bytes(behind, reading, store) == 3 * reading.epoch_bytes
    assert preparation_s(once, reading, store) == reading.epoch_bytes / 1e8
    assert lost_preparation_s(once, reading, store) == reading.epoch_bytes / 2e8
    assert first_batch_s(once, reading, store) == preparation_s(once, reading, store) + resume_s(once, reading, store)
    demand = reading.sample_bytes * reading.demand
    assert margins("copy-behind", reading, store)["bandwidth"] == pytest.approx(1 / demand / (1 / 1e9 + 1 / 1e8))
    assert margins("copy-behind", reading, replace(store, shuffle_bandwidth=0.99 * demand))["bandwidth"] < 1


@pytest.mark.parametrize("part", [0.2, 0.5, 0.7, 0.95])
def test_a_crash_behind_an_epoch_is_late_by_what_no_longer_fits(part):
    """Crashes at every thousandth of the making: it begins anew then, and the epoch ends when it would have."""
    reading, store = world({"storage.read_bandwidth": "1 TB/s", "storage.operations_per_s": 10**9})
    epoch = reading.samples / reading.demand
    store = replace(store, shuffle_bandwidth=reading.epoch_bytes / (part * epoch))
    access = access_of("copy-behind", reading, store)
    making = preparation_s(access, reading, store)
    assert making == pytest.approx(part * epoch)
    struck = [(number + 0.5) / 1000 * making for number in range(1000)]
    late = sum(max(0, at + making - epoch) for at in struck) / 1000
    assert lost_preparation_s(access, reading, store) == pytest.approx(late, rel=1e-4)
    assert (late > 0) == (part > 0.5)


def test_a_copy_without_readers_is_late_for_nobody():
    reading, store = world({})
    starved = replace(reading, dealt=True, shards=1)
    assert lost_preparation_s(access_of("copy-behind", starved, store), starved, store) == 0


def test_3fs_shuffles_its_published_110_tib_in_its_published_time():
    """GraySort: 110.5 TiB in 30 min 14 s on 25 storage nodes, 3.66 TiB/min."""
    scenario = load_scenario("llama3-405b", {"storage.preset": "3fs", "storage.units": 25})
    reading = reading_of(scenario)
    store = store_of(scenario.storage, reading.nodes)
    sort = replace(reading, samples=round(110.5 * 2**40 / reading.sample_bytes))
    assert preparation_s(access_of("copy", sort, store), sort, store) == pytest.approx(30 * 60 + 14, rel=1e-3)
    assert store.shuffle_bandwidth * 60 / 2**40 == pytest.approx(3.66, abs=0.01)


def test_a_buffer_is_filled_at_the_start_and_after_each_restart():
    reading, store = world({"loader.preset": "torchdata-iterable-buffer", "data.order": "shard-shuffle"})
    plain, buffered = access_of("shard-shuffle", reading, store), access_of("shuffle-buffer", reading, store)
    rate = bottleneck(plain, reading, store).samples_per_s
    assert memory_bytes(buffered, reading) == 16 * 1000 * 32768
    assert memory_bytes(plain, reading) == 0
    assert resume_s(buffered, reading, store) - resume_s(plain, reading, store) == pytest.approx(16_000 / rate)
    assert first_batch_s(plain, reading, store) == pytest.approx(512 / rate)


def test_without_a_saved_position_everything_before_it_is_read_again():
    reading, store = world({"storage.open": "1 s"})
    access = access_of("random", reading, store)
    assert resume_s(access, reading, store) == pytest.approx(1 + 512 / 1000)
    assert replay_s(500, access, reading, store) == pytest.approx(1 + 501 * 512 / 1000)


WINDOWS = {"data.documents": None, "data.tokens_per_document": None, "data.packing": None, "data.windows.length": 1024}


@pytest.mark.parametrize("stride", [1, 3, 4, 16, 1000])
def test_a_copy_of_windows_is_w_over_c_times_the_data(stride):
    numbers = 12_000_000
    changes = {**WINDOWS, "data.windows.numbers": numbers, "data.windows.stride": stride, "data.windows.wraps": True}
    reading, store = world(changes)
    assert reading.samples * stride == numbers
    assert Fraction(copy_factor(reading)).limit_denominator(10_000) == Fraction(1024, stride)
    assert patterns_of(reading) == ("random", "indices", "copy", "copy-behind")
    in_place, copy = access_of("random", reading, store), access_of("copy", reading, store)
    assert space_bytes(in_place, reading, store) == numbers * 4
    assert space_bytes(copy, reading, store) == pytest.approx(numbers * 4 * (1 + 1024 / stride))


def test_windows_that_do_not_wrap_end_with_the_sequence():
    changes = {**WINDOWS, "data.windows.numbers": 1_000_001, "data.windows.stride": 4}
    reading, _ = world(changes)
    begins = range(0, 1_000_001, 4)
    assert reading.samples == sum(begin + 1024 <= 1_000_001 for begin in begins) == (1_000_001 - 1024) // 4 + 1


@pytest.mark.parametrize(
    ("changes", "pattern"),
    [
        ({}, "random"),
        ({"data.order": "sequential"}, "sequential"),
        ({"data.order": "shard-shuffle"}, "shard-shuffle"),
        ({"data.order": "nested-shuffle", "data.documents": "100 k"}, "shuffle-buffer"),
        ({"data.order": "shard-shuffle", "loader.preset": "torchdata-iterable-buffer"}, "shuffle-buffer"),
        ({"feed.pattern": "indices"}, "indices"),
    ],
)
def test_the_order_says_how_the_run_reads_unless_the_scenario_does(changes, pattern):
    assert pattern_of(load_scenario("small", changes)) == pattern


def test_latency_is_a_law():
    _, store = world({"storage.latency": {"type": "lognormal", "mean": "5 ms", "sigma": 1.0}, "storage.open": "7 ms"})
    assert store.latency_s == pytest.approx(0.005)
    assert store.open == Constant(7 * MS)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"storage.read_ahead": "0 B"}, 'storage.read_ahead: expected a size of at least 1 B, found "0 B"'),
        ({"storage.operations_per_s": 0}, "storage.operations_per_s: expected a whole number, at least 1, found 0"),
        ({"storage.preset": "nvmee"}, 'storage.preset: expected one of 3fs, hard-disk, .*did you mean "nvme"'),
        ({"storage": "nvme"}, 'storage: expected a table such as .*did you mean "storage.preset"'),
        ({"feed.prefetch": 0}, "feed.prefetch: expected a whole number, at least 1, found 0"),
        ({"feed.shard_spread": 4.0}, "feed.shard_spread: expected a number of at most 3, found 4.0"),
        (
            {"feed.workers": "1 M"},
            "feed.workers: expected at most 534057, so that each worker of 16 ranks has a sample, found 1000000",
        ),
        (
            {"data.order": "shard-shuffle", "loader": {"preset": "torchdata-iterable-buffer", "buffer": "9 M"}},
            r"loader.buffer: expected at most 85[0-9]*, the samples, found 9000000",
        ),
        (
            {**WINDOWS, "data.windows.numbers": 10**6, "data.windows.stride": 16, "feed.pattern": "shard-shuffle"},
            'feed.pattern: expected "random" or "indices" or "copy" or "copy-behind" with data.windows, which are read '
            'one by one until they are copied, found "shard-shuffle"',
        ),
        (
            {**WINDOWS, "data.windows.numbers": 10**6, "data.windows.stride": 16, "data.order": "sequential"},
            'data.order: expected "shuffle" or "shuffle-once" with data.windows, which .*, found "sequential"',
        ),
        (
            {**WINDOWS, "data.windows.numbers": 1000, "data.windows.stride": 1},
            "data.windows.length: expected at most 1000, the numbers of the sequence, found 1024",
        ),
        (
            {**WINDOWS, "data.windows.numbers": 5000, "data.windows.stride": 0},
            "data.windows.stride: expected a whole number, at least 1, found 0",
        ),
    ],
)
def test_what_is_wrong_is_one_line(changes, told):
    with pytest.raises(ValueError, match=told) as error:
        world(changes)
    assert "\n" not in str(error.value)


def test_more_workers_than_samples_are_refused_without_a_storage_too():
    loader = {"preset": "torchdata-map", "readers_per_rank": 60}
    assert load_scenario("workshop", {"loader": loader}).loader.readers_per_rank == 60
    line = "expected at most 60, so that each worker of 4 ranks has a sample, found 61"
    with pytest.raises(ValueError, match=f"loader.readers_per_rank: {line}"):
        load_scenario("workshop", {"loader": {**loader, "readers_per_rank": 61}})
    with pytest.raises(ValueError, match=f"feed.workers: {line}"):
        load_scenario("workshop", {"feed.workers": 61})


def test_a_sample_needs_its_bytes():
    with pytest.raises(ValueError, match=r"^workshop.toml: data.bytes_per_sample: expected the bytes of a sample"):
        load_scenario("workshop", {"storage.preset": "nvme"})
    assert reading_of(load_scenario("workshop", {"data.bytes_per_sample": "110 kB"})).sample_bytes == 110_000
    with pytest.raises(ValueError, match=r"expected the bytes of a sample"):
        reading_of(load_scenario("workshop"))


def test_case_21_the_readers_hold_six_shards_or_seven_and_a_buffer_no_more():
    """100 shards of 100 samples over 16 readers: 12 of them hold 6, 4 hold 7, and a buffer of 10,000 never fills."""
    case = Path(__file__).parents[2] / "scenarios" / "cases" / "21-buffer-larger-than-a-readers-shards.toml"
    scenario = load_scenario(case, {"data.bytes_per_sample": "1 kB"})
    reading = reading_of(scenario)
    assert reading.buffered == (600, 700)
    begins = Corpus(reading.samples, reading.shards).shard_starts
    dealt = Sharded(begins, reading.readers, contiguous=False, ranks=reading.ranks).lengths
    assert sorted(dealt.tolist()) == [600] * 12 + [700] * 4


def test_case_5_fewer_shards_than_readers_are_refused_or_shared():
    case = Path(__file__).parents[2] / "scenarios" / "cases" / "05-fewer-shards-than-ranks.toml"
    with pytest.raises(ValueError, match=r"data\.shards: expected at least 4 shards, one for each of 4 ranks"):
        load_scenario(case)
    shared = reading_of(load_scenario(case, {"loader.partition": "strided", "data.bytes_per_sample": "1 kB"}))
    assert (shared.shards, shared.workers_with_shards) == (1, 1)
    assert replace(shared, dealt=True).workers_with_shards == 0
