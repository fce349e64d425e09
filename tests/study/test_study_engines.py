"""Engines: the same tables wherever they are computed, also where workers die."""

import contextlib
import multiprocessing
import signal
import socket
import subprocess
import sys

import pandas as pd
import pytest

from clustersim import load_scenario, sweep
from clustersim.study.engines import EngineError, Processes

VARY = {"checkpoint.every": ["5 min", "10 min"], "loader.preset": ["epoch", "reshuffle"]}


@pytest.fixture(scope="module")
def alone():
    return sweep("small", VARY, 30, workers=1)


def same(first, second):
    for name in ("table", "ledger", "points"):
        pd.testing.assert_frame_equal(getattr(first, name), getattr(second, name), check_exact=True)


@pytest.mark.parametrize("engine", ["local", "dask"])
def test_two_workers_make_the_same_tables(alone, engine):
    if engine == "dask":
        pytest.importorskip("distributed")
    same(alone, sweep("small", VARY, 30, engine=engine, workers=2))


@pytest.mark.parametrize("engine", ["local", "dask"])
def test_a_point_that_stops_early_stops_at_the_same_replication(engine):
    if engine == "dask":
        pytest.importorskip("distributed")
    until = {"figure": "rolled_back_steps", "relative": 0.1, "max": 200}
    one = sweep("small", VARY, until=until, workers=1)
    assert set(one.points["converged"]) == {True}
    same(one, sweep("small", VARY, until=until, engine=engine, workers=2))


class KillOnce:
    """Kills a worker as soon as there are results."""

    def __init__(self):
        self.killed = 0

    def __call__(self, done):
        if done > 0 and not self.killed:
            multiprocessing.active_children()[0].kill()
            self.killed += 1


@pytest.mark.parametrize("engine", ["local", pytest.param("dask", marks=pytest.mark.slow)])
def test_a_killed_worker_changes_nothing(engine):
    if engine == "dask":
        pytest.importorskip("distributed")
    scenario = load_scenario("llama3-405b", {"loader.preset": "epoch"})
    kill = KillOnce()
    study = sweep(scenario, {"checkpoint.every": ["5 min", "10 min"]}, 60, engine=engine, workers=2, progress=kill)
    assert kill.killed
    same(study, sweep(scenario, {"checkpoint.every": ["5 min", "10 min"]}, 60, workers=1))


def test_workers_that_always_die_are_given_up(tmp_path):
    # A script without a guard is run again by each process that it spawns, which Python refuses.
    script = tmp_path / "script.py"
    script.write_text("import clustersim as cs\ncs.sweep('small', {}, 4, workers=2)\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 1
    # Python's own process that tracks resources may have a last word after ours.
    told = [line for line in done.stderr.splitlines() if line.startswith("clustersim.study.engines.EngineError: ")]
    assert len(told) == 1
    assert 'a script sweeps under `if __name__ == "__main__":`' in told[0]


def test_workers_leave_ctrl_c_to_their_parent_from_their_first_instant():
    pool = Processes(2)
    blocked = pool.executor.submit(signal.pthread_sigmask, signal.SIG_BLOCK, ()).result()
    pool.stop()
    assert signal.SIGINT in blocked
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


HALF_A_RESULT = """
import gc, sys, time
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from clustersim.study.engines import Processes

begun = Path(sys.argv[1])

def begin_a_result():
    (results,) = [each for each in gc.get_objects() if isinstance(each, SimpleQueue)]
    results._writer._send((1000).to_bytes(4, "big"))
    begun.touch()
    time.sleep(60)

if __name__ == "__main__":
    pool = Processes(1)
    pool.executor.submit(begin_a_result)
    while not begun.exists():
        time.sleep(0.01)
    pool.stop()
"""


def test_a_worker_that_is_stopped_in_the_midst_of_a_result_is_not_waited_for(tmp_path):
    (tmp_path / "script.py").write_text(HALF_A_RESULT)
    subprocess.run([sys.executable, tmp_path / "script.py", tmp_path / "begun"], check=True, timeout=120)


KILLED_IN_A_RESULT = """
import gc, os, signal
from concurrent.futures import BrokenExecutor
from multiprocessing.queues import SimpleQueue
from clustersim.study.engines import Processes

def die_in_a_result():
    (results,) = [each for each in gc.get_objects() if isinstance(each, SimpleQueue)]
    results._wlock.acquire()
    results._writer._send((1_000_000).to_bytes(4, "big"))
    results._writer._send(bytes(1000))
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    pool = Processes(2)
    given = [pool.executor.submit(die_in_a_result), *(pool.executor.submit(bytes, 500_000) for _ in range(9))]
    assert isinstance(given[0].exception(), BrokenExecutor)
    assert {type(future.exception()) for future in given[1:]} <= {type(None), type(given[0].exception())}
    pool.replace()
    assert pool.executor.submit(abs, -7).result() == 7
    pool.stop()
"""


def test_a_worker_that_is_killed_in_the_midst_of_a_result_holds_nobody_up(tmp_path):
    (tmp_path / "script.py").write_text(KILLED_IN_A_RESULT)
    subprocess.run([sys.executable, tmp_path / "script.py"], check=True, timeout=120)


def test_a_cluster_of_our_own_needs_no_port_that_another_has():
    pytest.importorskip("distributed")
    with socket.socket() as other:
        with contextlib.suppress(OSError):  # where Dask's own port is taken already, that will do
            other.bind(("", 8787))
            other.listen()
        study = sweep(load_scenario("small"), {}, 2, engine="dask", workers=1)
    same(study, sweep(load_scenario("small"), {}, 2, workers=1))


def test_a_scheduler_that_does_not_answer_is_one_line(monkeypatch):
    pytest.importorskip("distributed")
    from clustersim.study import dask_engine

    monkeypatch.setattr(dask_engine, "_ANSWER_S", 1)
    with pytest.raises(EngineError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"):
        sweep("small", VARY, 1, engine="dask", scheduler="tcp://127.0.0.1:9")


@pytest.mark.slow
def test_a_lost_scheduler_ends_the_sweep_in_one_line(tmp_path):
    pytest.importorskip("distributed")
    where = tmp_path / "scheduler.json"
    commands = [["scheduler", "--port", "0", "--no-dashboard"], ["worker", "--nworkers", "1", "--no-dashboard"]]
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "dask", *command, "--scheduler-file", where],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for command in commands
    ]
    try:
        while not where.exists():
            assert all(process.poll() is None for process in running)

        def lose(done):
            if done > 0:
                running[0].kill()

        with pytest.raises(EngineError, match="the scheduler is lost"):
            sweep("llama3-405b", VARY, 400, engine="dask", scheduler=str(where), progress=lose)
    finally:
        for process in running:
            process.kill()
            process.wait()
