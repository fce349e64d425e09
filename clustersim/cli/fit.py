"""`clustersim fit`: laws fitted to a trace of faults, and the scenario's part that says them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clustersim.cli.options import JsonOption
from clustersim.cli.output import emit_json, emit_page, table
from clustersim.cli.picture import check_picture, write_picture
from clustersim.cli.usage import path_to, whole_number
from clustersim.cli.words import duration

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

    from analysis.fit import Estimate, Fit
    from clustersim.study.fit import Fitted


def fit(
    trace: Annotated[
        Path, typer.Argument(parser=path_to("a file of faults"), metavar="TRACE", help="A CSV, JSON or Parquet file.")
    ],
    time: Annotated[str, typer.Option(metavar="COLUMN", help="When a fault starts, or when an event is.")],
    node: Annotated[str, typer.Option(metavar="COLUMN", help="The node, by whatever name.")],
    unit: Annotated[str, typer.Option(metavar="UNIT", help="Of the times in the file: s, min, h, d and so on.")],
    nodes: Annotated[
        int, typer.Option(parser=whole_number(1), metavar="N", help="How many were watched, those without a fault too.")
    ],
    length: Annotated[str, typer.Option(metavar="DURATION", help='For how long, as in "348 d".')],
    end: Annotated[str | None, typer.Option(metavar="COLUMN", help="When it ends, with one row a fault.")] = None,
    event: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Whether it starts or ends, with one row an event.")
    ] = None,
    starts: Annotated[str | None, typer.Option(metavar="WORD", help="The word there for a start.")] = None,
    ends: Annotated[str | None, typer.Option(metavar="WORD", help="The word for an end.")] = None,
    cause: Annotated[str | None, typer.Option(metavar="COLUMN", help="Its cause: fit each by itself.")] = None,
    offset: Annotated[str | None, typer.Option(metavar="DURATION", help="The time in the file to begin at.")] = None,
    overlaps: Annotated[
        str, typer.Option(metavar="refuse|merge", help="What to do with faults of one node that overlap.")
    ] = "refuse",
    zero_length: Annotated[
        str, typer.Option(metavar="keep|drop", help="What to do with faults that end as they start.")
    ] = "keep",
    new: Annotated[
        bool,
        typer.Option("--new", help="Nodes are new when the trace begins, not running for an unknown time already."),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(parser=path_to("a picture's name"), metavar="FILE", help="Draw the laws beside what was seen."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Fit laws to the times between failures and the repair times of a trace, as part of a scenario."""
    from clustersim.scenario import ScenarioError
    from clustersim.study.fit import fit_trace, fragment

    if plot is not None:
        check_picture(plot, "--plot")
    columns = {"time": time, "node": node, "end": end, "event": event, "cause": cause}
    mapping = {
        "columns": {key: column for key, column in columns.items() if column is not None},
        "unit": unit,
        "nodes": nodes,
        "length": length,
        "overlaps": overlaps,
        "zero_length": zero_length,
        **{key: word for key, word in (("starts", starts), ("ends", ends), ("offset", offset)) if word is not None},
    }
    try:
        fitted = fit_trace(trace, mapping, new_at_start=new)
    except ScenarioError:
        raise
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="TRACE") from None
    if plot is not None:
        _draw(fitted, trace, plot)
    part = fragment(fitted)
    if json:
        emit_json({"trace": trace.name, "causes": [_as_json(each) for each in fitted], "scenario": part})
    else:
        emit_page(*(line for each in fitted for line in _page(each)), part.rstrip())


def _draw(fitted: list[Fitted], trace: Path, picture: Path) -> None:
    from analysis.fit_plot import figure

    panels = [(name, durations, fits) for each in fitted for name, durations, fits in _halves(each) if fits]
    write_picture(figure(trace.name, panels), picture)


def _halves(fitted: Fitted) -> list[tuple[str, pd.DataFrame, list[Fit]]]:
    """The lives and the repairs of a cause: title, durations, laws."""
    return [
        (f"{fitted.cause}: time to failure of a node", fitted.durations.lives, fitted.lives),
        (f"{fitted.cause}: repair time", fitted.durations.repairs, fitted.repairs),
    ]


def _page(fitted: Fitted) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for title, durations, fits in _halves(fitted):
        ended, unknown = int(durations["ended"].sum()), int((~durations["begun"]).sum())
        told = f"{title} ({ended} seen to the end, {len(durations) - ended} cut off"
        parts.append(f"{told}, {unknown} of unknown age at first)" if unknown else f"{told})")
        if fits:
            shown = table("law", "mean", "95 %", "shape", "95 %", "AIC", "exponential?")
            for law in fits:
                p = law.p_exponential
                above = law.aic - fits[0].aic
                shown.add_row(
                    law.law.name,
                    *_words(law.mean_h),
                    *(("", "") if law.shape is None else _numbers(law.shape)),
                    f"+{above:,.1f}" if above else f"{law.aic:,.1f}",
                    "" if p is None else "p < 0.0001" if p < 1e-4 else f"p {p:.4f}",
                )
            parts += ["", shown]
        parts.append("")
    return parts


def _words(hours: Estimate) -> tuple[str, str]:
    mean, low, high = (duration(3600 * value) if math.isfinite(value) else "any" for value in hours)
    return mean, f"{low} to {high}"


def _numbers(shape: Estimate) -> tuple[str, str]:
    return f"{shape.value:.3g}", f"{shape.ci95_low:.3g} to {shape.ci95_high:.3g}"


def _as_json(fitted: Fitted) -> dict[str, Any]:
    """A cause in JSON values; null for what is not bounded or does not apply."""
    told: dict[str, Any] = {"cause": fitted.cause, "faults": fitted.faults}
    for name, (_, durations, fits) in zip(("lives", "repairs"), _halves(fitted), strict=True):
        told[name] = {
            "ended": int(durations["ended"].sum()),
            "cut_off": int((~durations["ended"]).sum()),
            "unknown_age": int((~durations["begun"]).sum()),
            "laws": [
                {
                    "law": law.law.name,
                    "mean_h": _bounded(law.mean_h),
                    "shape": None if law.shape is None else _bounded(law.shape),
                    "log_likelihood": law.log_likelihood,
                    "aic": law.aic,
                    "p_exponential": law.p_exponential,
                }
                for law in fits
            ],
        }
    return told


def _bounded(estimate: Estimate) -> dict[str, float | None]:
    return {key: value if math.isfinite(value) else None for key, value in estimate._asdict().items()}
