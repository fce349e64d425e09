"""`clustersim run --out`: finished replications stay, whatever happens to the others."""

import json

import pandas as pd
import pytest

import clustersim.study.replicate as replicate_module
from clustersim import simulate
from clustersim.study import store as store_module


@pytest.fixture
def out(tmp_path):
    return tmp_path / "results" / "small"


def arguments(out, replications=3):
    return "run", "small", "--set", "loader.preset=epoch", "--replications", replications, "--out", out, "--json"


def numbers(out, table):
    return sorted(pd.read_parquet(out / table)["replication"].unique())


def test_run_json_is_what_json_prints(clustersim, out):
    code, printed, _ = clustersim(*arguments(out))
    assert code == 0
    assert (out / "run.json").read_text() == printed
    assert numbers(out, "summary") == [0, 1, 2]


def test_a_directory_that_holds_something_is_refused(clustersim, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    code, printed, err = clustersim(*arguments(tmp_path))
    assert (code, printed) == (2, "")
    expected = f'expected a new or an empty directory, found "{tmp_path}" with 1 entry'
    assert err == f"clustersim: Invalid value for '--out': {expected}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_directory_that_cannot_be_made_is_refused(clustersim, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = clustersim(*arguments(tmp_path / "file" / "below"))
    assert code == 2
    assert err.count("\n") == 1


def test_a_wrong_scenario_makes_no_directory(clustersim, out):
    code, _, _ = clustersim("run", "small", "--set", "cluster.nodes=0", "--out", out)
    assert code == 2
    assert not out.parent.exists()


def test_a_full_disk_leaves_the_finished_replications(clustersim, out, monkeypatch):
    real, written = store_module.pq.write_table, []

    def write(table, path, **options):
        written.append(path)
        if len(written) == 10:  # in the midst of the second replication
            path.write_bytes(b"half a fi")
            raise OSError(28, "No space left on device", str(path))
        real(table, path, **options)

    monkeypatch.setattr(store_module.pq, "write_table", write)
    code, printed, err = clustersim(*arguments(out))
    assert code == 1
    assert err.startswith("could not write: No space left on device (")
    assert err.endswith("; 1 of 3 replications are kept\n")
    assert json.loads(printed)["replications"] == 1
    files = sorted(path.name for path in out.rglob("*") if path.is_file())
    assert files == ["00000.parquet"] * 7 + ["run.json"]


def test_ctrl_c_leaves_the_finished_replications(clustersim, out, monkeypatch):
    def interrupted(scenario, replication, seed):
        if replication == 2:
            raise KeyboardInterrupt
        return simulate(scenario, replication, seed)

    monkeypatch.setattr(replicate_module, "simulate", interrupted)
    code, printed, err = clustersim(*arguments(out, replications=20))
    assert code == 1
    assert err == "stopped by Ctrl-C with 2 of 20 replications done; they are kept\n"
    assert numbers(out, "damage") == numbers(out, "summary") == [0, 1]
    assert json.loads((out / "run.json").read_text()) == json.loads(printed)
    assert json.loads(printed)["replications"] == 2
