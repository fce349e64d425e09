"""Ctrl-C from a terminal, which every process of the sweep gets, while several compute."""

import os
import signal
import subprocess
import sys
import time

import pytest

from clustersim import load_study


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "dask"])
def test_ctrl_c_is_one_line_and_leaves_what_is_finished(tmp_path, engine):
    if engine == "dask":
        pytest.importorskip("distributed")
    out = tmp_path / "study"
    command = [sys.executable, "-m", "clustersim", "sweep", "llama3-405b", "--replications", "100000"]
    options = ["--engine", engine, "--workers", "2", "--out", str(out)]
    process = subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True, start_new_session=True)
    rows = out / "rows.jsonl"
    while not (rows.exists() and rows.stat().st_size):
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    done = len(load_study(out).table)
    assert (process.returncode, told) == (
        1,
        f"stopped by Ctrl-C; {done} of 100000 runs are kept, --resume goes on with them\n",
    )
