"""Commands on a disk that is full: one line, exit code 1, nothing half written; `--resume` goes on once there is room.

A limit on the size of files stands for the disk: what exceeds it is refused by the kernel in the midst of a write.
"""

import errno
import os
import shutil
from pathlib import Path

import pytest
from weather.commands import COMMANDS, RESUMED, check_files, prepare

from clustersim.cli.main import main

resource = pytest.importorskip("resource")
TOO_LARGE = os.strerror(errno.EFBIG)


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    prepare()
    capsys.readouterr()
    return tmp_path


def within(limit, arguments):
    """The exit code of a command whose files may have so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        return main(arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("limits", [[700], pytest.param([0, 1, 5000, 10_000, 20_000], marks=pytest.mark.slow)])
def test_a_full_disk(name, limits, folder, capsys):
    for limit in limits:
        shutil.rmtree("out", ignore_errors=True)
        code = within(limit, COMMANDS[name])
        told = capsys.readouterr().err.splitlines()
        assert code in (0, 1, 2)
        if code:
            assert len(told) == 1
            assert TOO_LARGE in told[0]
        assert code or limit > 700  # no command writes so little
        check_files(folder)
        assert not list(folder.rglob("*.part"))
        if Path("out").exists():
            assert main(["report", "out", "--out", "of-out.html"]) in (0, 2)
        if name in RESUMED:
            assert main([*COMMANDS[name], "--resume"]) == 0
        capsys.readouterr()
