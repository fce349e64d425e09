"""What a run costs: `pytest benchmarks`. Read the table; nothing here asserts a time."""

import json
import math
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import study_plan
import table
import where_time_goes
from measures.clock import LLAMA, events_and_failures, run_clock
from measures.storing import reading, write_study
from measures.studies import studying
from measures.timing import bare_timeouts
from pasted import paste
from table import Row, page, rows

from clustersim import load_scenario, load_study, simulate
from clustersim.account import count
from clustersim.data.corpus import Corpus
from clustersim.data.orders import order_of
from clustersim.loaders.build import loader_of
from clustersim.loaders.follow import follow, plan
from clustersim.loaders.sequence import SequenceLoader
from clustersim.study.engines import engine_of


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
    assert page([Row("a row of its own", 12_345.0, " s", told="1 s, 2 s")], {}).endswith(
        "| 12,345 s (1 s, 2 s) |  |  |"
    )


def test_two_commits_stand_side_by_side_in_a_page(tmp_path, capsys):
    stored, readme = tmp_path / "before.json", tmp_path / "page.md"
    readme.write_text("above\n<!-- performance -->\nold\n<!-- end of performance -->\nbelow\n")
    table.main(["--only", "llama_events", "--json", str(stored)])
    figures = json.loads(stored.read_text())["figures"]
    stored.write_text(json.dumps({"figures": {name: figure + 1 for name, figure in figures.items()}}))
    capsys.readouterr()
    table.main(["--only", "llama_events", "--before", str(stored), "--into", str(readme)])
    printed = capsys.readouterr().out
    now = figures["Llama, 54 days: SimPy events a failure"]
    assert f"| {now:.3g} | at most 6 | yes | {now + 1:.3g} |" in printed
    assert readme.read_text() == f"above\n<!-- performance -->\n\n{printed}\n<!-- end of performance -->\nbelow\n"
    readme.write_text("no place")
    with pytest.raises(ValueError, match="expected the lines <!-- performance --> and"):
        paste(readme, "performance", "text")


def test_a_study_that_is_timed_comes_to_its_tables():
    with engine_of("local", 1, None) as engine:
        of_study, ledger = studying(engine, 3)()
    assert of_study["replication"].tolist() == [0, 1, 2]
    assert of_study["ettr"].tolist() == [simulate(LLAMA, replication).summary()["ettr"] for replication in range(3)]
    assert ledger["replication"].nunique() == 3


def test_a_stored_study_is_grown_into_replications_that_differ(tmp_path):
    study = write_study(tmp_path / "study", 40)
    read = load_study(tmp_path / "study")
    pd.testing.assert_frame_equal(read.table, study.table)
    assert read.table["replication"].tolist() == list(range(40))
    assert read.table["ettr"].nunique() == 40
    assert read.ledger["replication"].nunique() == 40
    seconds, peak_mb = reading(tmp_path / "study", 'study.summary("ettr")')
    assert seconds > 0
    assert 20 < peak_mb < 2000


def test_a_plan_adds_up_and_stands_beside_what_ran():
    scenario = load_scenario("small")
    costs = study_plan.measured(scenario, replications=4, tasks=4, watched_s=0.2)
    assert all(cost >= 0 for cost in costs)
    lines = {line.what: line.value for line in study_plan.planned(costs, 1000, 10)}
    assert lines["cores of the workers"] == 1000 * costs.replication_s / 3600
    assert lines["tasks for Dask"] == math.ceil(1000 / costs.replications_per_task)
    assert lines["disk, when it is done"] < lines["disk, while it goes on"]
    busy_s, alone_s = 1000 * costs.replication_s, lines["core of the process that sweeps"]
    assert lines["time"] == pytest.approx(max(busy_s / 10, alone_s))
    most = lines["workers that one such process keeps busy"]
    at_most = {line.what: line.value for line in study_plan.planned(costs, 1000, most)}
    assert at_most["core of the process that sweeps"] == pytest.approx(at_most["time"])
    found = study_plan.part(scenario, 20, 2)
    assert 0.5 < found["disk, while it goes on"] / (20 * costs.line_bytes / 1e6) < 2
    shown = study_plan.page(costs, 1000, 10, found, 20)
    assert shown.startswith(
        "| what | 1,000 replications, 10 workers | 20 replications, 2 workers | these ran and took |"
    )
    assert [line for line in found if f"\n| {line} | " not in shown] == []


def test_where_time_goes_names_stages_and_rooms():
    shares = dict(where_time_goes.rooms())
    assert sum(shares.values()) == pytest.approx(1)
    assert {"`training/`", "`cluster/`", "`account/`", "simpy", "numpy"} <= set(shares)
    shown = where_time_goes.page([("a stage", 0.003), ("another", 0.001)], [("`training/`", 0.5), ("simpy", 0.001)])
    assert "| a stage | 3.0 | 75% |" in shown
    assert "| `training/` | 50% |" in shown
    assert "simpy" not in shown


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


def run_of_sixteen_thousand_readers(loader):
    """The main job with 20,000 shards over 2,048 ranks of 8 workers, each with a buffer of 1,000 or none."""
    parallelism = {"tensor": 8, "pipeline": 1, "context": 1, "data": 2048, "min_data": 1024}
    overrides = {"loader.preset": loader, "loader.readers_per_rank": 8, "parallelism": parallelism}
    data = {"data.shards": 20_000, "data.order": "shard-shuffle"}
    return simulate(load_scenario(LLAMA, {**overrides, **data}))


@pytest.mark.parametrize("loader", ["torchdata-iterable-buffer", "webdataset-no-state"])
def test_damage_at_every_restart_of_sixteen_thousand_readers(benchmark, loader):
    run = run_of_sixteen_thousand_readers(loader)
    benchmark.pedantic(lambda: replace(run).damage, rounds=1)


@pytest.mark.parametrize("loader", ["torchdata-iterable", "torchdata-iterable-buffer", "torchdata-iterable-stateless"])
def test_account_of_sixteen_thousand_readers(benchmark, loader):
    run = run_of_sixteen_thousand_readers(loader)

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
