"""A picture beside an answer: what may be asked for, what it takes to draw it, and how it is written."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from clustersim.cli.output import complain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NO_PICTURE = "no picture: it takes matplotlib (pip install 'clustersim[figures]')"
"""What is said where it cannot be drawn."""

_FORMATS = (".png", ".svg", ".pdf")


def drawable() -> bool:
    """Whether pictures can be drawn."""
    return find_spec("matplotlib") is not None


def check_picture(out: Path, option: str = "--out") -> None:
    """Refuse what the option cannot be, before anything is computed. Raises typer.BadParameter."""
    expected = None
    if out.suffix not in _FORMATS:
        expected = f"a name that ends in {', '.join(_FORMATS)}"
    elif not out.absolute().parent.is_dir():
        expected = "a file in a directory that exists"
    elif not drawable():
        raise typer.BadParameter(NO_PICTURE, param_hint=option)
    if expected is not None:
        raise typer.BadParameter(f'expected {expected}, found "{out}"', param_hint=option)


def write_picture(drawn: Figure, picture: Path) -> None:
    """Write it whole or not at all, and say so. Raises OSError."""
    from clustersim.study.store import write_whole

    write_whole(picture, lambda temporary: drawn.savefig(temporary, format=picture.suffix[1:]))
    complain(f"wrote {picture}")
