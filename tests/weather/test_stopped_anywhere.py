"""Commands that are stopped at any instant: one line, the exit code of what stopped them, and nothing half written."""

import json
import shutil
import signal
import time
from pathlib import Path

import pandas as pd
import pytest

from clustersim.cli.main import main

pytestmark = pytest.mark.skipif(not hasattr(signal, "ITIMER_PROF"), reason="needs a timer of computing time")

RESTARTS = "step_reached,step_restarted_from\n100,90\n500,400\n900,\n"
STUDY = ["--replications", "3", "--workers", "1", "--out", "out"]
BY_STEPS = ["--set", "run.wall_time=", "--set", "run.steps=40000"]
RESUMED = {
    "sweep": ["sweep", "small", "--vary", "loader.preset=restore,epoch", *STUDY],
    "intervals": ["intervals", "small", *STUDY],
    "capacity": ["capacity", "small", "--by", "16 d", "--spares", "1,2", *BY_STEPS, *STUDY],
    "loaders": ["loaders", "small", "--presets", "restore,epoch", *STUDY],
}
COMMANDS = RESUMED | {
    "run": ["run", "small", "--replications", "3", "--out", "out"],
    "replay": ["replay", "restarts.csv", "small", "--loader", "restore,epoch", "--out", "out"],
    "report": ["report", "stored", "--out", "page.html"],
    "workshop": ["workshop", "--out", "picture.png"],
    "poison": ["poison", "small", "--replications", "2"],
}
CODES = {signal.SIGINT: 1, signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    """A directory to run in, with a stored run to report and restarts to replay."""
    monkeypatch.chdir(tmp_path)
    Path("restarts.csv").write_text(RESTARTS)
    assert main(["run", "small", "--out", "stored"]) == 0
    capsys.readouterr()
    return tmp_path


def stopped(arguments, after_s, by):
    """The exit code of a command to which a signal comes after so much computing."""
    before = signal.signal(signal.SIGPROF, lambda *_: signal.raise_signal(by))
    signal.setitimer(signal.ITIMER_PROF, after_s)
    try:
        return main(arguments)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def check_files(folder):
    """What is left under a name that is read is whole."""
    for path in folder.rglob("*"):
        if path.name.startswith(".") or path.is_dir():
            continue
        if path.suffix == ".parquet":
            pd.read_parquet(path)
        elif path.suffix == ".json":
            json.loads(path.read_text())
        elif path.suffix == ".html":
            assert path.read_text().rstrip().endswith("</html>")


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("instants", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_stopped_anywhere(name, instants, folder, capsys):
    begun = time.process_time()
    assert main(COMMANDS[name]) == 0
    took_s, whole = time.process_time() - begun, capsys.readouterr().out
    for instant in range(instants):
        by = list(CODES)[(instant + list(COMMANDS).index(name)) % len(CODES)]
        shutil.rmtree("out", ignore_errors=True)
        code = stopped(COMMANDS[name], took_s * (instant + 0.5) / instants, by)
        told = capsys.readouterr()
        assert code in (0, CODES[by])  # it may have come to its end by then
        assert "Traceback" not in told.err
        if code:
            word = "Ctrl-C" if by is signal.SIGINT else by.name
            assert f"stopped by {word}" in told.err
        check_files(folder)
        if Path("out").exists():
            assert main(["report", "out", "--out", "of-out.html"]) in (0, 2)
            capsys.readouterr()
        if name in RESUMED and Path("out").exists():
            assert main([*COMMANDS[name], "--resume"]) == 0
            assert capsys.readouterr().out == whole
