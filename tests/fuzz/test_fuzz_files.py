"""Whatever a scenario file holds: it runs, or one line says what is wrong with it; no traceback, no endless run."""

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest
from fuzz.files import fuzzed
from fuzz.writes import writes

from clustersim.cli.main import main

pytestmark = pytest.mark.skipif(not hasattr(signal, "ITIMER_PROF"), reason="needs a timer to notice what never ends")

HERE = Path(__file__).parent
# Of computing: a machine that has much else to do is no fault of a file. Years of failures every few minutes take
# minutes, and end.
_PATIENCE_S = 1200


class _OutOfPatienceError(Exception):
    pass


def _out_of_patience(number, frame):
    raise _OutOfPatienceError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A directory to run in, with the valid files, and what may be in it afterwards."""
    shutil.copytree(HERE / "valid", tmp_path / "valid")
    for case in sorted((HERE.parents[1] / "scenarios" / "cases").glob("*.toml")):
        shutil.copy(case, tmp_path / "valid")
    # What compiled libraries write is not heard: they find these directories empty, and are to leave them so.
    for place, variable in (("run", None), ("home", "HOME"), ("tmp", "TMPDIR")):
        (tmp_path / place).mkdir()
        if variable is not None:
            monkeypatch.setenv(variable, str(tmp_path / place))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.chdir(tmp_path / "run")
    return tmp_path


def _tree(folder):
    """Every path below a folder, with what is in the files."""
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def _try(arguments, capsys):
    """The exit code, stdout and stderr of a command, or the number 3 if it ran out of patience."""
    signal.signal(signal.SIGPROF, _out_of_patience)
    signal.setitimer(signal.ITIMER_PROF, _PATIENCE_S)
    try:
        code = main(arguments)
    except _OutOfPatienceError:
        code = 3
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return code, *capsys.readouterr()


def _play(folder, seed, count, capsys):
    """Run so many files; how many ended how."""
    ends = {0: 0, 1: 0, 2: 0, 3: 0}
    before, out_directory = _tree(folder), Path("out").resolve()
    for number, text in enumerate(fuzzed(seed, count, folder / "valid")):
        Path("scenario.toml").write_bytes(text)
        with writes() as written:
            code, out, err = _try(["run", "scenario.toml", "--out", "out"], capsys)
        told = f"file {number} of seed {seed}: exit {code}\n{err}\n{text.decode(errors='replace')[:3000]}"
        ends[code] += 1
        assert "Traceback" not in err, told
        elsewhere = [path for path in written if not Path(path).is_relative_to(out_directory)]
        assert not elsewhere, f"{elsewhere}\n{told}"
        if code == 2:
            assert out == "", told
            assert len(err.splitlines()) == 1, told
            assert not os.path.exists("out"), told
        else:
            assert code in (0, 1), told
        shutil.rmtree("out", ignore_errors=True)
        assert os.listdir(".") == ["scenario.toml"], told
    Path("scenario.toml").unlink()
    assert _tree(folder) == before
    return ends


def test_what_is_written_is_heard(tmp_path):
    with writes() as written:
        (tmp_path / "made").mkdir()
        (tmp_path / "made" / "file").write_text("")
        (tmp_path / "made" / "file").rename(tmp_path / "moved")
        (tmp_path / "moved").read_text()
    file = str(tmp_path / "made" / "file")
    assert written == [str(tmp_path / "made"), file, file, str(tmp_path / "moved")]


@pytest.mark.parametrize("found", sorted((HERE / "found").glob("*.toml")), ids=lambda path: path.stem)
def test_what_once_broke_something(found, folder, capsys):
    code, _, err = _try(["run", str(found), "--out", "out"], capsys)
    assert (code, len(err.splitlines())) in ((0, 0), (1, 1), (2, 1)), err


def test_fuzzed_files(folder, capsys):
    ends = _play(folder, 1, 120, capsys)
    assert min(ends[0], ends[2]) > 10, ends


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 42))
def test_twenty_thousand_fuzzed_files(folder, capsys, seed):
    print("files by exit code:", _play(folder, seed, 500, capsys))  # which `pytest -rP` shows
