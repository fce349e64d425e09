"""Commands that are stopped at any instant: one line, the exit code of what stopped them, and nothing half written."""

import shutil
import signal
import time
from pathlib import Path

import pytest
from weather.commands import COMMANDS, RESUMED, check_files, prepare

from clustersim.cli.main import main

pytestmark = pytest.mark.skipif(not hasattr(signal, "ITIMER_PROF"), reason="needs a timer of computing time")

CODES = {signal.SIGINT: 1, signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    prepare()
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


# A file that a library had just opened is closed when it is collected.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
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
