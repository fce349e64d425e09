"""What code does to files, wherever they are: every path that it opens to write, makes, renames or removes."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_TO_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# How many of the arguments of an event are paths that it changes.
_PATHS = {
    **dict.fromkeys(("os.mkdir", "os.rmdir", "os.remove", "os.truncate", "os.chmod", "os.chown", "os.utime"), 1),
    **dict.fromkeys(("os.rename", "os.link", "os.symlink"), 2),
}
_told: list[list[str]] = []


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if not _told:
        return
    paths: tuple[object, ...] = ()
    if event == "open":
        path, _, flags = arguments
        paths = (path,) if isinstance(flags, int) and flags & _TO_WRITE and path != os.devnull else ()
    elif event in _PATHS:
        paths = arguments[: _PATHS[event]]
    _told[-1] += [os.path.realpath(path) for path in paths if isinstance(path, (str, bytes, os.PathLike))]


sys.addaudithook(_hear)  # for good: Python takes none back, so it hears nothing while nobody asks


@contextmanager
def writes() -> Iterator[list[str]]:
    """Yields what is filled with the real paths that Python code changes meanwhile.

    Compiled libraries that open files by themselves are not heard.
    """
    _told.append([])
    try:
        yield _told[-1]
    finally:
        _told.pop()
