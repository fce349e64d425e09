"""The bar on stderr: for people who wait, and for nobody else."""

import io
import sys

import pytest

from clustersim.cli import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def terminal(monkeypatch):
    """Puts a terminal behind stderr; called within a test, as pytest takes stderr for itself before."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stderr", Terminal())
    return sys.stderr


@pytest.mark.parametrize(
    ("replications", "done", "words"), [(1, 0.5, ("simulated", "50%")), (20, 7.5, ("replications", "7/20"))]
)
def test_those_who_wait_see_how_far_it_is(monkeypatch, replications, done, words):
    monkeypatch.setattr(progress, "_PATIENCE_S", 0.0)
    stderr = terminal(monkeypatch)
    with progress.progress_bar(replications) as tell:
        tell(done)
    for word in words:
        assert word in stderr.getvalue()


def test_a_short_run_shows_none(monkeypatch):
    stderr = terminal(monkeypatch)
    with progress.progress_bar(1) as tell:
        tell(0.5)
    assert stderr.getvalue() == ""


@pytest.mark.parametrize("stderr", [None, io.StringIO()])
def test_without_a_terminal_there_is_none(monkeypatch, stderr):
    monkeypatch.setattr(sys, "stderr", stderr)
    with progress.progress_bar(1) as tell:
        assert tell is None
