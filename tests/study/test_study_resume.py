"""Stored studies: gone on with after any interruption, refused where they are another's."""

import json
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

import clustersim.study.work as work_module
from clustersim import load_scenario, load_study, simulate, sweep
from clustersim.study import study_store
from clustersim.study.store import DirectoryRefused
from clustersim.study.study_store import StudyStore

VARY = {"checkpoint.every": ["5 min", "10 min"], "loader.preset": ["restore", "epoch"]}
TABLES = ("table.parquet", "ledger.parquet", "points.parquet", "study.json")


def files(directory):
    return {name: (directory / name).read_bytes() for name in TABLES}


def stored(directory, replications=6, vary=VARY, scenario="small", **options):
    return sweep(scenario, vary, replications, workers=1, out=directory, **options)


def test_a_stored_study_reads_back_with_pandas_alone(tmp_path):
    study = stored(tmp_path / "study")
    assert sorted(os.listdir(tmp_path / "study")) == sorted([".lock", *TABLES])
    for name in ("table", "ledger", "points"):
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "study" / f"{name}.parquet"), getattr(study, name))
    pd.testing.assert_frame_equal(study.table, sweep("small", VARY, 6, workers=1).table)
    assert load_study(tmp_path / "study").compare(0, 2, "ettr").equals(study.compare(0, 2, "ettr"))


def test_a_ledger_is_read_when_it_is_asked_for(tmp_path):
    study = stored(tmp_path / "study")
    read = load_study(tmp_path / "study")
    first = read.ledger
    pd.testing.assert_frame_equal(first, study.ledger)
    (tmp_path / "study" / "ledger.parquet").unlink()
    assert read.ledger is first
    without = load_study(tmp_path / "study")
    pd.testing.assert_frame_equal(without.table, study.table)
    with pytest.raises(FileNotFoundError):
        _ = without.ledger


@pytest.mark.parametrize("engine", ["local", "dask"])
def test_the_files_are_the_same_bytes_from_every_engine(tmp_path, engine):
    if engine == "dask":
        pytest.importorskip("distributed")
    stored(tmp_path / "alone", 30)
    sweep("small", VARY, 30, engine=engine, workers=2, out=tmp_path / "engine")
    assert files(tmp_path / "alone") == files(tmp_path / "engine")


class Stops:
    """Raises an error at the n-th replication that is simulated, and counts them all."""

    def __init__(self, monkeypatch, at, error):
        self.simulated, self._at, self._error = [], at, error
        monkeypatch.setattr(work_module, "simulate", self)

    def __call__(self, scenario, replication, seed):
        if len(self.simulated) == self._at:
            self._at = None
            raise self._error
        self.simulated.append((scenario.digest, replication))
        return simulate(scenario, replication, seed)


@pytest.mark.parametrize("at", [0, 1, 5, 11])
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_what_is_finished_is_not_run_again(tmp_path, monkeypatch, at, error):
    stored(tmp_path / "whole")
    stops = Stops(monkeypatch, at, error)
    with pytest.raises(error):
        stored(tmp_path / "cut")
    if at:  # the loaders share their histories: two rows a run of the clock
        assert len(load_study(tmp_path / "cut").table) == 2 * at
    stored(tmp_path / "cut", resume=True)
    assert len(stops.simulated) == len(set(stops.simulated)) == 12
    assert files(tmp_path / "cut") == files(tmp_path / "whole")


def test_resuming_a_finished_study_runs_nothing(tmp_path, monkeypatch):
    stored(tmp_path)
    before = files(tmp_path)
    monkeypatch.setattr(work_module, "simulate", None)
    stored(tmp_path, resume=True)
    assert files(tmp_path) == before


def test_a_study_may_go_on_to_more_replications(tmp_path, monkeypatch):
    stored(tmp_path / "once", 9)
    stored(tmp_path / "twice", 4)
    stops = Stops(monkeypatch, None, None)
    stored(tmp_path / "twice", 9, resume=True)
    assert len(stops.simulated) == 2 * 5
    assert files(tmp_path / "once") == files(tmp_path / "twice")


@pytest.mark.parametrize("cut", ["in a line", "before the table", "before the rows go"])
def test_every_instant_of_writing_can_be_the_last(tmp_path, monkeypatch, cut):
    stored(tmp_path / "whole")
    if cut == "in a line":
        Stops(monkeypatch, 3, KeyboardInterrupt)
        monkeypatch.setattr(StudyStore, "finish", lambda store, study: None)
        with pytest.raises(KeyboardInterrupt):
            stored(tmp_path / "cut")
        rows = tmp_path / "cut" / "rows.jsonl"
        rows.write_bytes(rows.read_bytes()[:-100])
    elif cut == "before the table":
        stored(tmp_path / "cut", 2)
        real = study_store.write_whole

        def write(path, how):
            if path.name == "table.parquet":
                raise RuntimeError
            real(path, how)

        monkeypatch.setattr(study_store, "write_whole", write)
        with pytest.raises(RuntimeError):
            stored(tmp_path / "cut", resume=True)
    else:
        with monkeypatch.context() as patched:
            patched.setattr(study_store.os, "unlink", lambda path: None)
            stored(tmp_path / "cut", 3)
    monkeypatch.undo()
    stored(tmp_path / "cut", resume=True)
    assert files(tmp_path / "cut") == files(tmp_path / "whole")


def test_a_full_disk_loses_no_finished_replication(tmp_path):
    stored(tmp_path / "whole", 40)

    def fill():
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        with pytest.raises(OSError, match="too large") as told:
            stored(tmp_path / "full", 40)
        assert told.value.filename.endswith("rows.jsonl")

    child = multiprocessing.get_context("fork").Process(target=fill)
    child.start()
    child.join()
    assert child.exitcode == 0
    assert 10 < len(finished(tmp_path / "full")) < 160
    stored(tmp_path / "full", 40, resume=True)
    assert files(tmp_path / "full") == files(tmp_path / "whole")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"scenario": load_scenario("small", {"cluster.spares": 5})}, "with scenario.cluster.spares = 2, found 5"),
        ({"vary": {**VARY, "loader.preset": ["restore", "reshuffle"]}}, 'preset = "epoch", found "reshuffle"'),
        ({"vary": {"checkpoint.every": ["5 min"]}}, "with 4 entries in design.points, found 1"),
        ({"seed": 4}, "with seed = 0, found 4"),
    ],
)
def test_another_study_is_refused_and_what_differs_is_said(tmp_path, changes, line):
    stored(tmp_path)
    before = files(tmp_path)
    with pytest.raises(DirectoryRefused, match=line):
        stored(tmp_path, resume=True, **changes)
    assert files(tmp_path) == before


def test_another_version_is_refused(tmp_path):
    stored(tmp_path)
    manifest = json.loads((tmp_path / "study.json").read_text())
    manifest["versions"]["numpy"] = "1.0"
    (tmp_path / "study.json").write_text(json.dumps(manifest))
    with pytest.raises(DirectoryRefused, match=r'with versions\.numpy = "1\.0", found'):
        stored(tmp_path, resume=True)


def test_a_directory_of_something_else_is_refused_and_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    for resume in (False, True):
        with pytest.raises(DirectoryRefused, match="expected a new or an empty directory, or a study"):
            stored(tmp_path, resume=resume)
    assert os.listdir(tmp_path) == ["notes.txt"]


def test_a_study_is_not_overwritten(tmp_path):
    stored(tmp_path)
    with pytest.raises(DirectoryRefused, match="found a study in"):
        stored(tmp_path)


def test_two_processes_in_one_study_are_refused_and_a_dead_one_is_not_waited_for(tmp_path):
    stored(tmp_path)
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom clustersim.study.study_store import _locked\n"
        f"lock = _locked(Path({str(tmp_path)!r}))\nprint('held', flush=True)\ntime.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(DirectoryRefused, match=f"in use by process {holder.pid}"):
            stored(tmp_path, resume=True)
        holder.kill()
        holder.wait()
        stored(tmp_path, resume=True)


def finished(directory):
    """The replications that a directory holds: read without the store, as it lies there."""
    found = set()
    if (directory / "table.parquet").exists():
        table = pd.read_parquet(directory / "table.parquet", columns=["point", "replication"])
        found |= set(zip(table["point"].tolist(), table["replication"].tolist(), strict=True))
    if (directory / "rows.jsonl").exists():
        lines = (directory / "rows.jsonl").read_bytes().splitlines(keepends=True)
        rows = [json.loads(line) for line in lines if line.endswith(b"\n")]
        found |= {(row["point"], row["replication"]) for row in rows}
    return found


COUNTING = """
import os, sys, time
import clustersim.study.work as work
from clustersim import simulate, sweep

log = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
points = ["5 min", "10 min"]

def counted(scenario, replication, seed):
    point = points.index(str(scenario.checkpoint.every))
    os.write(log, f"{point} {replication}\\n".encode())
    time.sleep(0.02)
    return simulate(scenario, replication, seed)

work.simulate = counted
sweep("small", {"checkpoint.every": points}, 200, workers=1, out=sys.argv[1], resume=True)
"""


@pytest.mark.slow
def test_fifty_kills_lose_nothing_and_repeat_nothing(tmp_path):
    whole, cut, log, script = (tmp_path / name for name in ("whole", "cut", "log", "script.py"))
    vary = {"checkpoint.every": ["5 min", "10 min"]}
    stored(whole, 200, vary)
    script.write_text(COUNTING)
    log.touch()
    draw, kills, done = random.Random(8), 0, set()

    def begun():
        return [tuple(map(int, line.split())) for line in log.read_text().splitlines()]

    while kills < 50:
        before = len(begun())
        child = subprocess.Popen([sys.executable, script, cut, log])
        # At a random instant of its work: some while after it has come that far, or else while it starts.
        deadline = time.monotonic() + draw.uniform(0.2, 30)
        while len(begun()) == before and time.monotonic() < deadline and child.poll() is None:
            time.sleep(0.002)
        time.sleep(draw.uniform(0, 0.25))
        child.send_signal(signal.SIGKILL)
        child.wait()
        kills += 1
        assert not done.intersection(begun()[before:])
        assert done <= finished(cut)
        done = finished(cut)
    assert 0 < len(done) < 400, "the kills came while there was work to do"
    before = len(begun())
    subprocess.run([sys.executable, script, cut, log], check=True)
    assert not done.intersection(begun()[before:])
    assert len(begun()) <= 400 + kills
    assert files(cut) == files(whole)
