"""Results on disk: they read back as they were, and as one table over all replications."""

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest

from clustersim import load_scenario, simulate
from clustersim.study.provenance import provenance
from clustersim.study.store import TABLES, Store

QUIET = {"failures": None}
BUSY = {"loader.preset": "epoch"}


def stored(directory, overrides, replications):
    scenario = load_scenario("small", overrides)
    store = Store(directory, provenance(scenario, 0, len(replications)))
    runs = [simulate(scenario, number) for number in replications]
    for run in runs:
        store.add(run)
    return runs


@pytest.mark.parametrize("overrides", [QUIET, BUSY])
def test_tables_read_back_as_they_were(tmp_path, overrides):
    runs = stored(tmp_path, overrides, [0, 1])
    for name in TABLES:
        read = pd.read_parquet(tmp_path / name)
        for run in runs:
            own = read[read["replication"] == run.replication].drop(columns="replication").reset_index(drop=True)
            pd.testing.assert_frame_equal(own, getattr(run, name), check_dtype=len(own) > 0)


def test_the_summary_is_a_row_a_replication(tmp_path):
    runs = stored(tmp_path, BUSY, [0, 4])
    summary = pd.read_parquet(tmp_path / "summary").set_index("replication")
    for run in runs:
        row = summary.loc[run.replication]
        assert (row["outcome"], row["exact"], row["seed"]) == ("done", run.exact, 0)
        assert {name: row[name] for name in run.summary()} == run.summary()


def test_storing_leaves_the_run_as_it_was(tmp_path):
    (run,) = stored(tmp_path, BUSY, [0])
    assert "replication" not in run.legs


def test_a_replication_alone_is_the_same_file_as_one_of_many(tmp_path):
    stored(tmp_path / "all", BUSY, range(18))
    stored(tmp_path / "alone", BUSY, [17])
    for name in ("summary", *TABLES):
        one, many = (pd.read_parquet(tmp_path / part / name / "00017.parquet") for part in ("alone", "all"))
        pd.testing.assert_frame_equal(one, many)


def test_files_say_where_they_came_from(tmp_path):
    (run,) = stored(tmp_path, BUSY, [0])
    for name in TABLES:
        told = json.loads(pq.read_schema(tmp_path / name / "00000.parquet").metadata[b"clustersim"])
        assert load_scenario(told["scenario"]) == run.scenario
        assert {"python", "clustersim", "numpy", "pandas", "simpy"} <= set(told["versions"])
