"""What goes out: answers to stdout, one line for whatever went wrong to stderr."""

import json
import os
import sys

from rich.console import Console, RenderableType
from rich.table import Table

_PLAIN_WIDTH = 120


def emit(text: str) -> None:
    """Print an answer. A reader that has gone away is no error: what is left has nobody to read it."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # Python flushes stdout once more when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def emit_json(value: object) -> None:
    """Print one JSON object. Raises ValueError for NaN, which JSON does not know."""
    emit(json.dumps(value, indent=2, allow_nan=False))


def emit_page(*parts: RenderableType) -> None:
    """Print text and tables for people: as wide as the terminal, or in plain text where there is none."""
    # What a scenario says is shown as it is: no markup, no emoji, no colours guessed from it.
    terminal = sys.stdout.isatty()
    console = Console(markup=False, emoji=False, highlight=False, width=None if terminal else _PLAIN_WIDTH)
    with console.capture() as page:
        for part in parts:
            # A sentence stays on its line where the next reader may be grep.
            console.print(part, soft_wrap=isinstance(part, str) and not terminal)
    emit("\n".join(line.rstrip() for line in page.get().splitlines()))


def table(*columns: str, left: int = 1) -> Table:
    """An empty table with bold heads; the first `left` columns hold text, the others numbers."""
    made = Table(box=None, padding=(0, 2, 0, 2), header_style="bold", pad_edge=False, show_header=any(columns))
    for index, column in enumerate(columns):
        made.add_column(column, justify="left" if index < left else "right", no_wrap=index < left)
    return made


def complain(line: str) -> None:
    """Say on stderr, in one line, what went wrong."""
    print(line, file=sys.stderr, flush=True)
