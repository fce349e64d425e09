"""Signals that come where Python cannot raise anything, and those that come when a command has ended."""

import os
import signal
import subprocess
import sys
import time
import weakref

import pytest

import clustersim.study.work as work_module
from clustersim import simulate

MODULE = [sys.executable, "-m", "clustersim"]


class Watched:
    pass


@pytest.mark.parametrize(("by", "code", "word"), [(signal.SIGINT, 1, "Ctrl-C"), (signal.SIGTERM, 143, "SIGTERM")])
def test_a_signal_that_python_swallows_comes_again(by, code, word, tmp_path, monkeypatch, clustersim):
    begun = []

    def swallowing(scenario, replication, seed):
        begun.append(replication)
        if replication == 1:
            watched = Watched()
            _ = weakref.ref(watched, lambda _: signal.raise_signal(by))
            del watched
            time.sleep(5)
        return simulate(scenario, replication, seed)

    monkeypatch.setattr(work_module, "simulate", swallowing)
    study = ["sweep", "small", "--replications", "3", "--workers", "1", "--out", tmp_path / "study"]
    told = f"stopped by {word}; 1 of 3 runs are kept, --resume goes on with them\n"
    assert clustersim(*study) == (code, "", told)
    assert begun == [0, 1]


STOPPED_TWICE = """
import signal, sys
import clustersim.cli.check as check
import clustersim.cli.main as entry

say = entry.complain

def stopped_again(line):
    signal.raise_signal(signal.SIGINT)
    say(line)

check.load = lambda *_: signal.raise_signal(signal.SIGINT)
entry.complain = stopped_again
sys.argv[1:] = ["check", "small"]
sys.exit(entry.main())
"""


def test_a_process_that_is_stopped_ends_in_peace():
    ended = subprocess.run([sys.executable, "-c", STOPPED_TWICE], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", "stopped by Ctrl-C\n")


@pytest.mark.parametrize(
    ("module", "by", "code", "word"),
    [
        ("json", signal.SIGINT, 1, "Ctrl-C"),  # which the command line's entry imports
        ("typer", signal.SIGINT, 1, "Ctrl-C"),
        ("typer", signal.SIGTERM, 143, "SIGTERM"),
    ],
)
def test_a_signal_comes_while_libraries_are_still_imported(module, by, code, word, tmp_path):
    (tmp_path / f"{module}.py").write_text(f"import signal, time; signal.raise_signal({int(by)}); time.sleep(5)")
    path = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ended = subprocess.run([*MODULE, "--help"], capture_output=True, text=True, env=path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, "", f"stopped by {word}\n")
