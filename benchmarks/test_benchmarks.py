"""What a run costs: `pytest benchmarks`. Read the table; nothing here asserts a time."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from measures.clock import LLAMA, events_and_failures, run_clock
from measures.timing import bare_timeouts
from table import Row, page, rows

from clustersim import load_scenario, simulate
from clustersim.account import count
from clustersim.data.corpus import Corpus
from clustersim.data.orders import order_of
from clustersim.loaders.build import loader_of
from clustersim.loaders.follow import follow, plan
from clustersim.loaders.sequence import SequenceLoader


def test_bare_loop_of_as_many_events(benchmark):
    benchmark(bare_timeouts, events_and_failures(LLAMA)[0])


def test_llama_clock(benchmark):
    benchmark(run_clock(LLAMA))
    events, failures = events_and_failures(LLAMA)
    assert events <= 6 * failures


def test_the_table_says_what_is_met():
    found = rows(["llama_events"])
    assert all(row.met for row in found)
    missed = Row("a row that misses its bar", 7.0, " ms", 5)
    told = page([*found, missed], {found[0].what: 4.5})
    assert told.splitlines()[2].endswith("| at most 6 | yes | 4.5 |")
    assert "| 7 ms | at most 5 ms | **no** |" in told


@pytest.mark.parametrize("loader", ["restore", "epoch", "reshuffle", "no-rewind"])
def test_llama_account(benchmark, loader):
    """The ledger of a run whose corpus is passed three times."""
    run = simulate(load_scenario(LLAMA, {"loader.preset": loader, "data.documents": "5 B"}))
    planned, seen = run.planned_draws, run.seen_draws
    benchmark(lambda: count(run.spaces, planned, seen, np.random.default_rng(0)))


@pytest.mark.parametrize("loader", ["restore", "epoch", "reshuffle"])
@pytest.mark.parametrize("size", [10**6, 10**9, 10**12, 10**15])
def test_account_of_the_same_legs_at_every_size(benchmark, loader, size):
    """The main job's legs over an epoch and a half: the batch scales with the samples."""
    run = simulate(LLAMA)
    batch = max(1, 3 * size // (2 * run.steps))
    order = order_of("shuffle", Corpus(size, 1), 0, 0)
    reader = SequenceLoader(order, batch, loader_of(load_scenario(LLAMA, {"loader.preset": loader}), order).parts)
    planned, _ = reader.draws(plan(reader, 1, run.steps))
    seen, _ = reader.draws(follow(run.history, reader).kept)
    benchmark(lambda: count(order, planned, seen, np.random.default_rng(0)))


@pytest.mark.parametrize("loader", ["torchdata-iterable", "torchdata-iterable-buffer"])
def test_account_of_sixteen_thousand_readers(benchmark, loader):
    """The main job with 20,000 shards over 2,048 ranks of 8 workers, each with a buffer of 1,000 or none."""
    parallelism = {"tensor": 8, "pipeline": 1, "context": 1, "data": 2048, "min_data": 1024}
    overrides = {"loader.preset": loader, "loader.readers_per_rank": 8, "parallelism": parallelism}
    data = {"data.shards": 20_000, "data.order": "shard-shuffle"}
    run = simulate(load_scenario(LLAMA, {**overrides, **data}))

    def account():
        return replace(run).account  # a run that has not counted yet

    benchmark(account)
    tracemalloc.start()
    account()
    benchmark.extra_info["peak_mb"] = round(tracemalloc.get_traced_memory()[1] / 1e6)
    tracemalloc.stop()


@pytest.mark.parametrize("loader", ["restore", "epoch", "reshuffle"])
def test_account_of_a_global_position_with_as_many_ranks(benchmark, loader):
    parallelism = {"tensor": 8, "pipeline": 1, "context": 1, "data": 2048, "min_data": 1024}
    run = simulate(load_scenario(LLAMA, {"loader.preset": loader, "parallelism": parallelism}))
    benchmark(lambda: replace(run).account)
