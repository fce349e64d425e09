"""`clustersim sweep`: one scenario at many points, each over the same failures, stored as it goes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clustersim.cli.comparison import EngineOption, ResumeOption, SchedulerOption, WorkersOption, under_way
from clustersim.cli.options import JsonOption, ScenarioArgument, SeedOption, SetOption, load
from clustersim.cli.outcome import UNFINISHED
from clustersim.cli.output import complain, emit_json, emit_page
from clustersim.cli.usage import path_to, whole_number
from clustersim.cli.vary import DESIGNS, design

if TYPE_CHECKING:
    from clustersim.study.study import Study

_REPLICATIONS = 20
_UNTIL = re.compile(r"\s*([A-Za-z0-9_]+)\s*=\s*([0-9.eE+-]+)\s*(%|absolute)?\s*")


def sweep(
    scenario: ScenarioArgument,
    out: Annotated[
        Path,
        typer.Option(parser=path_to("a directory's name"), metavar="DIR", help="Store the study in a new directory."),
    ],
    vary: Annotated[
        list[str] | None,
        typer.Option("--vary", metavar="KEY=V1,V2", help="Values of a key; several keys are crossed; may be repeated."),
    ] = None,
    together: Annotated[bool, typer.Option("--zip", help="The lists of --vary go together, value by value.")] = False,
    kind: Annotated[
        str | None,
        typer.Option(
            "--design",
            metavar="NAME",
            help=f"Draw points from the ranges of --range: {', '.join(DESIGNS)} (for sensitivity indices).",
        ),
    ] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option("--range", metavar="KEY=A..B", help='As in "checkpoint.every=2 min..1 h"; may be repeated.'),
    ] = None,
    points: Annotated[
        int | None, typer.Option(parser=whole_number(1), metavar="N", help="How many points a design draws.")
    ] = None,
    replications: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(1),
            metavar="N",
            help=f"How many runs of each point; with --until, at most.  [default: {_REPLICATIONS}; 500]",
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="FIGURE=WIDTH",
            help='Until half of the 95 % interval of a figure is so narrow: "ettr=1%", or "wall_h=2 absolute".',
        ),
    ] = None,
    engine: EngineOption = "local",
    workers: WorkersOption = None,
    scheduler: SchedulerOption = None,
    resume: ResumeOption = False,
    overrides: SetOption = None,
    seed: SeedOption = None,
    json: JsonOption = False,
) -> None:
    """Simulate a scenario at many points over the same failures."""
    from clustersim.study.sweep import sweep as simulate_points

    loaded = load(scenario, overrides)
    drawn = design(vary or [], together, kind, ranges or [], points, loaded.run.seed if seed is None else seed)
    width = None if until is None else _until(until, replications)
    number = (replications or _REPLICATIONS) if width is None else None
    asked = len(drawn.points) * (number or replications or 500)
    with under_way(asked, out) as tell:
        study = simulate_points(
            loaded,
            drawn,
            number,
            until=width,
            seed=seed,
            engine=engine,
            workers=workers,
            scheduler=scheduler,
            out=out,
            resume=resume,
            progress=tell,
        )
    _answer(study, loaded.name, json)


def _until(text: str, most: int | None) -> dict[str, object]:
    match = _UNTIL.fullmatch(text)
    try:
        number = float(match[2]) if match else None
    except ValueError:
        number = None
    if match is None or number is None:
        expected = 'FIGURE=WIDTH such as "ettr=1%", "ettr=0.01" or "wall_h=2 absolute"'
        raise typer.BadParameter(f'expected {expected}, found "{text}"', param_hint="--until")
    kind = "absolute" if match[3] == "absolute" else "relative"
    width = number / 100 if match[3] == "%" else number
    return {"figure": match[1], kind: width, **({} if most is None else {"max": most})}


def _answer(study: Study, name: str, json: bool) -> None:
    from clustersim.cli.sweep_page import as_json, sweep_page

    if json:
        emit_json(as_json(study, name))
    else:
        emit_page(*sweep_page(study, name))
    unfinished = study.table[study.table["outcome"] != "done"]
    if len(unfinished):
        first = unfinished.iloc[0]
        complain(
            f"{len(unfinished)} of {len(study.table)} runs did not finish; the first, point {first['point']}, "
            f"replication {first['replication']}: {first['outcome']} ({first['reason']})"
        )
        raise typer.Exit(UNFINISHED)
