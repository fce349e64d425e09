"""`clustersim validate`: the published figures, ours beside each."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clustersim.cli.comparison import OutOption, ResumeOption, WorkersOption, under_way
from clustersim.cli.options import JsonOption, SeedOption
from clustersim.cli.outcome import UNFINISHED
from clustersim.cli.output import complain, emit_json, emit_page, table
from clustersim.cli.usage import path_to
from clustersim.cli.words import plural

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

HEADS = ("row", "figure", "published", "expected", "ours", "decided by", "verdict")
"""The columns of the table, as people see it."""

NOTE = (
    "Ours: the mean ± its standard error, over replications. z: ours less what is expected, in standard errors of",
    "both. Expected: the closed form or the pooled mean behind what was printed.",
)
"""How to read the table."""

VERDICTS = ("pass", "fail", "not run")
"""What becomes of a figure."""


def validate(
    only: Annotated[
        str | None, typer.Option(metavar="A,B", help="Only these rows, as in V2,V5.  [default: all]")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="10 replications of each scenario instead of 30.")] = False,
    traces: Annotated[
        Path | None,
        typer.Option(parser=path_to("a directory's name"), metavar="DIR", help="Where the traces are, for V7."),
    ] = None,
    out: OutOption = None,
    resume: ResumeOption = False,
    workers: WorkersOption = None,
    seed: SeedOption = None,
    json: JsonOption = False,
) -> None:
    """Simulate published scenarios, and say whether ours agrees with what was published."""
    from clustersim.study.provenance import versions
    from clustersim.study.validate import runs_of
    from clustersim.study.validate import validate as hold_against

    names = None if only is None else [name.strip() for name in only.split(",")]
    try:
        runs = runs_of(names, quick)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--only") from None
    with under_way(runs, out) as tell:
        found = hold_against(
            names, quick=quick, seed=seed, workers=workers, traces=traces, out=out, resume=resume, progress=tell
        )
    if json:
        emit_json({"rows": _plain(found), "versions": versions()})
    else:
        emit_page(*_page(found))
    failed = found[found["verdict"] == "fail"]
    if len(failed):
        complain(f"{plural(len(failed), 'figure')} off: {', '.join(f'{r.row} {r.what}' for r in failed.itertuples())}")
        raise typer.Exit(UNFINISHED)


def _plain(found: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows in JSON values: null where nothing was run."""
    return [
        {str(key): None if value != value else value for key, value in row.items()} for row in found.to_dict("records")
    ]


def _page(found: pd.DataFrame) -> list[RenderableType]:
    shown = table(*HEADS, left=2)
    shown.columns[-1].justify = "left"
    for row in found.to_dict("records"):
        shown.add_row(*cells(row))
    return [answer(found), "", shown, "", *reasons(found), *NOTE]


def answer(found: pd.DataFrame) -> str:
    """How many figures agree."""
    counts = found["verdict"].value_counts()
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    return f"{plural(len(found), 'published figure')}: {told}"


def reasons(found: pd.DataFrame) -> list[str]:
    """Why figures were not run, or fail although none of them is off."""
    left_out = found.loc[found["reason"] != "", ["row", "reason", "verdict"]].drop_duplicates()
    return [f"{row.row}, {row.verdict}: {row.reason}" for row in left_out.itertuples()]


def cells(row: dict[Any, Any]) -> list[str]:
    """A row of the table of `clustersim.study.validate.validate` as text, a cell for each of `HEADS`."""
    numbers = ["", "", ""]
    if row["decides"]:
        digits = _digits(row)
        expected = _with_error(row["expected"], row["expected_error"], digits)
        numbers = [expected, _with_error(row["ours"], row["error"], digits), _decided_by(row)]
    return [row["row"], row["what"], row["published"], *numbers, row["verdict"]]


def _digits(row: dict[Any, Any]) -> int:
    """How many decimals: two digits of the smaller error, or as many as were printed."""
    errors = [error for error in (row["error"], row["expected_error"]) if error > 0]
    if not errors:
        return len(row["published"].partition(".")[2])
    return max(0, 1 - math.floor(math.log10(min(errors))))


def _with_error(value: float, error: float, digits: int) -> str:
    return f"{value:,.{digits}f}" + (f" ± {error:.{digits}f}" if error else "")


def _decided_by(row: dict[Any, Any]) -> str:
    if row["decides"] == "digits":
        return "every digit"
    sides = "≥ " if row["decides"] == "at least" else "within ±"
    return f"z {row['statistic']:.2f} {sides}{row['bound']:.3g}"
