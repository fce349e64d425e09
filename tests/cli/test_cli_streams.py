"""Answers that cannot be written, and who is told: one line on stderr, exit 1, never a traceback."""

import os
import pty
import re
import subprocess
import sys
from importlib.metadata import version

import pytest

import clustersim.forecast as forecast_module
import clustersim.simulation as simulation_module

COMMAND = f"{sys.executable} -m clustersim"


def shell(line, cwd=None, **environment):
    command = ["bash", "-c", line]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, env={**os.environ, **environment}, check=False
    )
    return done.returncode, done.stdout, done.stderr


def on_a_terminal(arguments, columns):
    """What a command prints on a terminal of so many columns, without its colours."""
    controller, terminal = pty.openpty()
    child = subprocess.Popen(
        [*COMMAND.split(), *arguments.split()],
        stdout=terminal,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": str(columns), "TERM": "xterm"},
    )
    os.close(terminal)
    read = bytearray()
    try:
        while piece := os.read(controller, 65536):
            read += piece
    except OSError:  # how Linux says that the terminal is gone
        pass
    os.close(controller)
    assert child.wait() == 0
    return re.sub(r"\x1b\[[0-9;]*m", "", read.decode())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize(
    "arguments", ["run small", "run small --json", "check small", "sample small 4", "schema", "--help", "--version"]
)
def test_a_full_disk_behind_stdout(arguments):
    assert shell(f"{COMMAND} {arguments} > /dev/full") == (1, "", "could not write: No space left on device\n")


@pytest.mark.parametrize("arguments", ["run small", "run small --json", "--help"])
def test_stdout_is_closed(arguments):
    assert shell(f"{COMMAND} {arguments} >&-") == (1, "", "could not write: stdout is closed\n")


@pytest.mark.parametrize("stderr", ["2>&-", "2>/dev/full"])
def test_what_stderr_cannot_take_does_not_go_to_stdout(stderr):
    assert shell(f"{COMMAND} run nosuch {stderr}") == (2, "", "")


def test_replications_run_without_stderr():
    code, out, _ = shell(f"{COMMAND} run small --replications 2 --json 2>&-")
    assert (code, out[:1]) == (0, "{")


def test_what_the_encoding_lacks_is_escaped():
    code, out, err = shell(f"{COMMAND} run small --set name='é💥'", PYTHONIOENCODING="ascii")
    assert (code, err) == (0, "")
    assert out.startswith(r"\xe9\U0001f4a5 (seed 0, 1 replication)")


def test_a_picture_in_a_directory_that_is_gone(tmp_path):
    code, out, err = shell(f'rmdir "{tmp_path}" && {COMMAND} workshop', cwd=tmp_path)
    assert (code, err) == (1, "could not write: No such file or directory (workshop.png)\n")
    assert out


@pytest.mark.parametrize(
    ("module", "name", "arguments"),
    [(simulation_module, "simulate", ("sample", "small", 1)), (forecast_module, "forecast", ("check", "small"))],
)
def test_ctrl_c_in_any_command(module, name, arguments, clustersim, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, name, interrupted)
    assert clustersim(*arguments) == (1, "", "stopped by Ctrl-C\n")


def test_the_version_is_told(clustersim):
    assert clustersim("--version") == (0, f"clustersim {version('clustersim')}\n", "")


@pytest.mark.parametrize("arguments", ["workshop --out {0}.png", "run small --replications 2", "check small"])
def test_a_narrow_terminal_loses_nothing(arguments, tmp_path):
    arguments = arguments.format(tmp_path / "picture")
    narrow, wide = (on_a_terminal(arguments, columns) for columns in (40, 200))
    assert narrow.split() == wide.split()
