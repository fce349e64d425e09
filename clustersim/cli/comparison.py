"""What the commands share that compare over one study: where to store it, on how many processes, and how it fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from clustersim.cli.outcome import UNFINISHED
from clustersim.cli.output import complain, could_not_write
from clustersim.cli.usage import path_to, whole_number

OutOption = Annotated[
    Path | None,
    typer.Option(parser=path_to("a directory's name"), metavar="DIR", help="Store the study in a new directory."),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(parser=whole_number(1), metavar="N", help="Processes on this machine.  [default: all cores]"),
]


@contextmanager
def told_in_one_line() -> Iterator[None]:
    """A study that cannot be stored or finished is told in one line, with its exit code."""
    from clustersim.study.engines import EngineError
    from clustersim.study.store import DirectoryRefused

    try:
        yield
    except DirectoryRefused as error:
        raise typer.BadParameter(str(error), param_hint="--out") from None
    except EngineError as error:
        complain(str(error))
        raise typer.Exit(UNFINISHED) from None
    except OSError as error:
        complain(could_not_write(error))
        raise typer.Exit(UNFINISHED) from None
