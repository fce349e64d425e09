"""What goes out: answers to stdout, one line for whatever went wrong to stderr."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_PLAIN_WIDTH = 120
# Sentences fold at the edge of a terminal, down to this.
_LEAST_WIDTH = 80
_ANY_WIDTH = 10_000


def emit(text: str) -> None:
    """Print an answer; a character that stdout's encoding lacks is written as an escape.

    A reader that has gone away is no error: what is left has nobody to read it.

    Raises:
        OSError: stdout cannot take it.
    """
    encoding = sys.stdout.encoding or "utf-8"
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)
    except BrokenPipeError:
        drop_unwritten(sys.stdout)


def emit_json(value: object) -> None:
    """Print one JSON object. Raises ValueError for NaN, which JSON does not know, and what `emit` raises."""
    emit(json.dumps(value, indent=2, allow_nan=False))


def emit_page(*parts: RenderableType) -> None:
    """Print text and tables for people: as wide as the terminal, or in plain text where there is none.

    Raises:
        OSError: stdout cannot take it.
    """
    from rich.console import Console
    from rich.table import Table

    # What a scenario says is shown as it is: no markup, no emoji, no colours guessed from it.
    terminal = sys.stdout.isatty()
    console = Console(markup=False, emoji=False, highlight=False)
    width = max(_LEAST_WIDTH, console.width) if terminal else _PLAIN_WIDTH
    with console.capture() as page:
        for part in parts:
            # A table of figures takes the width that it needs: a line that is too long loses nothing.
            figures = isinstance(part, Table) and all(column.no_wrap for column in part.columns)
            console.width = _ANY_WIDTH if figures else width
            # A sentence stays on its line where the next reader may be grep.
            console.print(part, soft_wrap=isinstance(part, str) and not terminal)
    emit("\n".join(line.rstrip() for line in page.get().splitlines()))


def table(*columns: str, left: int = 1) -> Table:
    """An empty table with bold heads, never folded; the first `left` columns hold text, the others numbers."""
    from rich.table import Table

    made = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False, show_header=any(columns))
    for index, column in enumerate(columns):
        made.add_column(column, justify="left" if index < left else "right", no_wrap=True)
    return made


def complain(line: str) -> None:
    """Say on stderr, in one line, what went wrong; where stderr is closed or full, nobody is told."""
    if sys.stderr is None:  # `print` would take stdout instead
        return
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        drop_unwritten(sys.stderr)


def could_not_write(error: OSError) -> str:
    """What went wrong, and where."""
    where = f" ({error.filename})" if error.filename else ""
    # In the system's words: writers of Parquet put their own around them.
    return f"could not write: {os.strerror(error.errno) if error.errno else error}{where}"


def drop_unwritten(stream: TextIO) -> None:
    """Forget what a stream holds and cannot write. Python flushes it once more when it exits, and would fail again."""
    try:
        stream.flush()
    except OSError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
