"""`clustersim report`: one HTML page of what a run or a study left in a directory."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clustersim.cli.options import JsonOption
from clustersim.cli.outcome import UNFINISHED
from clustersim.cli.output import complain, could_not_write, emit, emit_json
from clustersim.cli.usage import path_to

if TYPE_CHECKING:
    from analysis.report import Report

_PAGE = "report.html"
_NEEDS = ("jinja2", "plotly")


def report(
    directory: Annotated[
        Path,
        typer.Argument(
            parser=path_to("a directory's name"), metavar="DIR", help="What --out of run, sweep and others left."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(parser=path_to("a file's name"), metavar="FILE", help=f"The page. [default: DIR/{_PAGE}]"),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Make one HTML page of a stored result, which opens offline."""
    if not all(map(find_spec, _NEEDS)):
        raise typer.BadParameter(
            "a report takes jinja2 and plotly (pip install 'clustersim[report]')", param_hint="DIR"
        )
    from analysis.report import page
    from clustersim.study.store import write_whole

    told = _read(directory)
    target = out or directory / _PAGE
    text = page(told)
    try:
        write_whole(target, lambda temporary: temporary.write_text(text, "utf-8"))
    except OSError as error:
        complain(could_not_write(error))
        raise typer.Exit(UNFINISHED) from None
    if json:
        emit_json({"report": str(target), "title": told.title, "answer": list(told.answer)})
    else:
        emit("\n".join([*told.answer, "", f"wrote {target}"]))


def _read(directory: Path) -> Report:
    """What the report of a directory says, whichever command left it."""
    from analysis.stored import found
    from clustersim.cli.report_replay import report_of_replay
    from clustersim.cli.report_run import report_of_run
    from clustersim.cli.report_study import report_of_study
    from clustersim.cli.report_validation import report_of_validation
    from clustersim.study.replay import TOLD
    from clustersim.study.validate import TABLE

    readers = {
        "run.json": report_of_run,
        "study.json": report_of_study,
        TOLD: report_of_replay,
        TABLE: report_of_validation,
    }
    for name, read in readers.items():
        if (directory / name).exists():
            try:
                return read(directory)
            except (OSError, KeyError, ValueError) as error:
                told = f"expected tables that this version reads, found {found(directory, error)}"
                raise typer.BadParameter(told, param_hint="DIR") from None
    expected = "expected a directory that --out of run, sweep or another command left"
    raise typer.BadParameter(f'{expected}, found "{directory}"', param_hint="DIR")
