"""`clustersim run --out`: finished replications stay, whatever happens to the others."""

import json

import pandas as pd
import pytest

import clustersim.study.runs as runs_module
from clustersim import simulate
from clustersim.cli.output import could_not_write
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
    assert err == f"clustersim: --out: {expected}\n"
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
    assert err.endswith("; 1 of 3 replications is kept\n")
    assert json.loads(printed)["replications"] == 1
    files = sorted(path.name for path in out.rglob("*") if path.is_file())
    assert files == ["00000.parquet"] * (len(store_module.TABLES) + 1) + ["run.json", "trace.json"]


def test_a_full_disk_is_told_in_the_systems_words():
    """pyarrow puts its own around them."""
    error = OSError(28, "Error writing bytes to file. Detail: [errno 28] No space left on device", "out/legs.parquet")
    assert could_not_write(error) == "could not write: No space left on device (out/legs.parquet)"
    assert could_not_write(OSError("of no number")) == "could not write: of no number"


def test_what_a_full_disk_left_empty_is_taken_again(clustersim, out, monkeypatch):
    def write(table, path, **options):
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as full:
        full.setattr(store_module.pq, "write_table", write)
        code, printed, err = clustersim(*arguments(out))
    assert (code, printed) == (1, "")
    where = out / "ledger" / "00000.parquet"  # the name it would have had, not the one it was written under
    assert err == f"could not write: No space left on device ({where}); nothing is kept\n"
    assert list(out.iterdir()) == []
    assert clustersim(*arguments(out))[0] == 0


def interrupted_in(last):
    def interrupted(scenario, replication, *others):
        if replication == last:
            raise KeyboardInterrupt
        return simulate(scenario, replication, *others)

    return interrupted


@pytest.mark.parametrize(("replications", "what"), [(1, "the run"), (20, "a replication")])
def test_ctrl_c_before_anything_is_done(clustersim, monkeypatch, replications, what):
    monkeypatch.setattr(runs_module, "simulate", interrupted_in(0))
    expected = (1, "", f"stopped by Ctrl-C before {what} was done\n")
    assert clustersim("run", "small", "--replications", replications) == expected


def test_ctrl_c_leaves_the_finished_replications(clustersim, out, monkeypatch):
    monkeypatch.setattr(runs_module, "simulate", interrupted_in(2))
    code, printed, err = clustersim(*arguments(out, replications=20))
    assert code == 1
    assert err == "stopped by Ctrl-C; 2 of 20 replications are done and kept\n"
    assert numbers(out, "damage") == numbers(out, "summary") == [0, 1]
    assert json.loads((out / "run.json").read_text()) == json.loads(printed)
    assert json.loads(printed)["replications"] == 2


@pytest.mark.parametrize(
    ("end", "found"), [(("run.wall_time=4 y",), "1.26e+08"), (("run.wall_time=", "run.steps=100_000_000"), "1e+08")]
)
def test_more_checkpoints_than_a_table_holds_are_refused_before_they_are_simulated(clustersim, out, end, found):
    said = [*end, "model.step_time=1 s", "checkpoint.every=1 steps", "checkpoint.stall=0 s", "checkpoint.write=0 s"]
    code, printed, err = clustersim("run", "small", *[word for each in said for word in ("--set", each)], "--out", out)
    expected = "expected at most 5e+06 saves in a run whose tables are stored"
    assert (code, printed) == (2, "")
    assert err.endswith(f"small.toml: checkpoint.every: {expected}, found {found}\n")
    assert not out.exists()
