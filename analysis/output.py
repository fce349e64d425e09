"""What an analysis leaves: its answer on stdout, a picture in a file, and one line on stderr where either fails."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.stored import found

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def say(*parts: str) -> int:
    """Print parts with an empty line between them; the exit code.

    A reader that has seen enough is no error: 0. Another stdout that cannot take them is told in a line: 1.
    """
    try:
        print(*parts, sep="\n\n", flush=True)
    except OSError as error:
        # Python flushes stdout once more when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"the tables could not be printed ({error.strerror})", file=sys.stderr)
            return 1
    return 0


def as_text(table: pd.DataFrame) -> str:
    """A table as text: four digits of a small figure, a large one whole."""
    return table.to_string(index=False, float_format=lambda value: f"{value:,.{'0f' if abs(value) >= 1000 else '4g'}}")


def refuse(directory: Path, command: str, error: Exception) -> int:
    """Say in a line why a directory cannot be read, and what was expected there; the exit code, 2.

    Args:
        directory: that was read.
        command: that should have left it, as in "clustersim run --out".
        error: what reading it raised; a ValueError says itself what was expected of the tables.
    """
    told = found(directory, error)
    if isinstance(error, OSError) or told != str(error):
        told = f"expected what `{command}` left, found {told}"
    print(f"{directory}: {told}", file=sys.stderr)
    return 2


def draw(figure: Callable[[], Figure], picture: Path) -> int:
    """Draw a figure into a file and say so on stderr; the exit code.

    Without matplotlib there is no picture, which is told, and no error: 0. A file that cannot be written, or a format
    that is not known, is told in a line: 2.
    """
    try:
        drawn = figure()
    except ImportError:
        print("no picture: it takes matplotlib (pip install 'clustersim[figures]')", file=sys.stderr)
        return 0
    try:
        drawn.savefig(picture)
    except (OSError, ValueError) as error:
        print(f"{picture}: could not be written ({error})", file=sys.stderr)
        return 2
    print(f"wrote {picture}", file=sys.stderr)
    return 0
