"""`clustersim loaders`: every loader preset over the same failures, one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from clustersim.cli.comparison import (
    EngineOption,
    OutOption,
    ResumeOption,
    SchedulerOption,
    WorkersOption,
    under_way,
)
from clustersim.cli.options import JsonOption, ScenarioArgument, SeedOption, SetOption, load
from clustersim.cli.outcome import UNFINISHED
from clustersim.cli.output import complain, emit_json, emit_page, table
from clustersim.cli.picture import drawable, write_picture
from clustersim.cli.usage import whole_number
from clustersim.cli.words import count, duration, plural, share

if TYPE_CHECKING:
    from rich.console import RenderableType

    from clustersim.study.league import League

CHANGES = {"degree_4_to_3": "4 to 3 ranks", "degree_2_to_4": "2 to 4 ranks"}
"""What a loader does on other ranks: column of the table, its head on the page."""

RANKS = "Other ranks: tried on 960 samples, against whole epochs."
RESUME = "Resume: how long the loader takes to come back, mean of a restart."
"""What is said below the table."""

SHOWN = {
    "extra_views": ("extra", count),
    "missing_views": ("missing", count),
    "never_seen_samples": ("never seen", count),
    "identical_steps_share": ("same steps", share),
}
"""The figures of the league's table that are shown, and how."""

RATES = {"extra_views_per_failure": "extra a failure", "missing_views_per_failure": "missing a failure"}
"""And what a failure costs."""


def loaders(
    scenario: ScenarioArgument,
    presets: Annotated[
        str | None, typer.Option(metavar="A,B", help="Only these; `clustersim presets` lists them.  [default: all]")
    ] = None,
    replications: Annotated[
        int, typer.Option(parser=whole_number(1), metavar="N", help="How many runs of each preset.")
    ] = 20,
    out: OutOption = None,
    resume: ResumeOption = False,
    engine: EngineOption = "local",
    workers: WorkersOption = None,
    scheduler: SchedulerOption = None,
    overrides: SetOption = None,
    seed: SeedOption = None,
    json: JsonOption = False,
) -> None:
    """Compare the loader presets over the same failures."""
    from clustersim.scenario import presets as shipped
    from clustersim.study.league import league

    loaded = load(scenario, overrides)
    names = None if presets is None else list(dict.fromkeys(name.strip() for name in presets.split(",")))
    with under_way(len(shipped() if names is None else names) * replications, out) as tell:
        found = league(
            loaded,
            names,
            replications,
            seed=seed,
            engine=engine,
            workers=workers,
            scheduler=scheduler,
            out=out,
            resume=resume,
            progress=tell,
        )
    if out is not None and drawable():
        from analysis.loaders import PICTURE, figure

        write_picture(figure(found.table, loaded.name), out / PICTURE)
    if json:
        emit_json(_as_json(found, loaded.name))
    else:
        emit_page(*_page(found, loaded.name, replications))
    unfinished = found.table[found.table["unfinished"] > 0]
    if len(unfinished):
        first = unfinished.iloc[0]
        runs = f"{first['unfinished']} of {plural(replications, 'run')}"
        complain(f"{plural(len(unfinished), 'preset')} did not always finish; the first, {first['preset']}: {runs}")
        raise typer.Exit(UNFINISHED)


def _page(found: League, name: str, replications: int) -> list[RenderableType]:
    seed, rows = found.study.manifest["seed"], found.table.to_dict("records")
    ran, refused = ([row for row in rows if bool(row["refused"]) is kind] for kind in (False, True))
    heads = [head for head, _ in SHOWN.values()]
    resume = ["resume"] if knows_resume(found) else []
    shown = table("preset", "order", *heads, *RATES.values(), *resume, *CHANGES.values(), left=2)
    for column in shown.columns[-len(CHANGES) :]:
        column.justify = "left"
    for row in ran:
        figures = [figure_in_words(row, figure, words) for figure, (_, words) in SHOWN.items()]
        times = [duration(row["resume_s"])] if resume else []
        shown.add_row(
            row["preset"], order_in_words(row), *figures, *rates(row), *times, *(row[change] for change in CHANGES)
        )
    head = f"{name} (seed {seed}, {plural(len(ran), 'preset')}, {plural(replications, 'replication')} each)"
    parts: list[RenderableType] = [head, "", answer(found), "", shown, ""]
    if replications > 1:
        parts.append("Means ± half of their 95 % intervals; every preset, as it ships, met the same failures.")
    parts.append(f"Views against the plan of the same loader. {RANKS}")
    if resume:
        parts.append(RESUME)
    if refused:
        parts += ["", f"{plural(len(refused), 'preset')} not run:"]
        parts += [f"{row['preset']}: {row['refused']}" for row in refused]
    return parts


def answer(found: League) -> str:
    """How many presets do no damage, and which does the most."""
    ran = found.table[found.table["refused"] == ""]
    damage = ran["extra_views"] + ran["missing_views"]
    sound = f"{int((damage == 0).sum())} of {plural(len(ran), 'preset')} did no damage"
    if not damage.any():
        return f"{sound}."
    worst = ran.to_dict("records")[damage.argmax()]
    return f"{sound}; the most by {worst['preset']}: {views(worst)}."


def views(row: dict[Any, Any]) -> str:
    """The extra and the missing views of a row of the table, each with half of its 95 % interval where it varies."""
    extra, missing = (figure_in_words(row, f"{kind}_views", count) for kind in ("extra", "missing"))
    return f"{extra} extra and {missing} missing views"


def knows_resume(found: League) -> bool:
    """Whether the scenario says what it is read from, so that coming back takes a known time."""
    return "resume_s" in found.table and bool(found.table["resume_s"].notna().any())


def rates(row: dict[Any, Any]) -> list[str]:
    """What a failure costs, as text; empty without failures."""
    return ["" if row[name] != row[name] else count(row[name]) for name in RATES]


def order_in_words(row: dict[Any, Any]) -> str:
    """The order that a preset was run in, and the shards that it was given for it."""
    given = int(row.get("shards_given", 0))  # studies of older versions gave none
    return f"{row['order']}, {given} shards" if given else str(row["order"])


def figure_in_words(row: dict[Any, Any], figure: str, words: Any) -> str:
    """A figure of a row of the table, with half of its 95 % interval where it varies."""
    half = (row[f"{figure}_ci95_high"] - row[f"{figure}_ci95_low"]) / 2
    return str(words(row[figure])) + (f" ± {words(half)}" if half > 0 else "")


def _as_json(found: League, name: str) -> dict[str, Any]:
    rows = [in_json(row) for row in found.table.to_dict("records")]
    return {"scenario": name, "presets": rows, "provenance": dict(found.study.manifest)}


def in_json(row: dict[Any, Any]) -> dict[str, Any]:
    """A row of the table in JSON values: null where a preset has no such figure."""
    return {str(key): None if value != value else value for key, value in row.items()}
