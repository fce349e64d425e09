"""`clustersim capacity`: nodes, spares and repair slots against a finish date, over the same failures."""

from __future__ import annotations

import math
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
from clustersim.cli.output import emit_json, emit_page, table
from clustersim.cli.picture import drawable, write_picture
from clustersim.cli.usage import whole_number
from clustersim.cli.words import count, duration, plural, share

if TYPE_CHECKING:
    from rich.console import RenderableType

    from clustersim.study.capacity import Capacity

PLAN = {"nodes": ("nodes", "node"), "spares": ("spares", "spare"), "repair_slots": ("slots", "repair slot")}
"""What a plan sets: column of the table, its head on the page, and how a sentence names one of it."""


def capacity(
    scenario: ScenarioArgument,
    by: Annotated[str, typer.Option(metavar="TIME", help='The finish date as a time since the start, as in "60 d".')],
    spares: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Numbers of spares to try, as in 0,8,16.  [default: around those in repair]"),
    ] = None,
    repair_slots: Annotated[str | None, typer.Option(metavar="A,B", help="Numbers of repair slots to try.")] = None,
    nodes: Annotated[str | None, typer.Option(metavar="A,B", help="Numbers of nodes of the job to try.")] = None,
    confidence: Annotated[str, typer.Option(metavar="P", help="The probability to finish by then to ask for.")] = "0.9",
    replications: Annotated[
        int, typer.Option(parser=whole_number(2), metavar="N", help="How many runs of each plan.")
    ] = 50,
    out: OutOption = None,
    resume: ResumeOption = False,
    engine: EngineOption = "local",
    workers: WorkersOption = None,
    scheduler: SchedulerOption = None,
    overrides: SetOption = None,
    seed: SeedOption = None,
    json: JsonOption = False,
) -> None:
    """Compare plans of nodes, spares and repair slots by their finish date and cost."""
    from clustersim.study.capacity import around
    from clustersim.study.capacity import capacity as compare

    loaded = load(scenario, overrides)
    tried = {
        "nodes": _numbers(nodes, "--nodes", 1),
        "spares": _numbers(spares, "--spares", 0),
        "repair_slots": _numbers(repair_slots, "--repair-slots", 1),
    }
    if not any(tried.values()):
        tried |= around(loaded)
    plans = math.prod(len(numbers) for numbers in tried.values() if numbers)
    with under_way(plans * replications, out) as tell:
        found = compare(
            loaded,
            by,
            **tried,
            confidence=_probability(confidence),
            replications=replications,
            seed=seed,
            engine=engine,
            workers=workers,
            scheduler=scheduler,
            out=out,
            resume=resume,
            progress=tell,
        )
    if out is not None and drawable():
        from analysis.capacity import PICTURE, figure

        write_picture(figure(found.table, found.by_h, found.confidence, loaded.name), out / PICTURE)
    if json:
        emit_json(_as_json(found, loaded.name))
    else:
        emit_page(*_page(found, loaded.name, by, loaded.sizes.limit_ns / 1e9))


def _numbers(text: str | None, option: str, least: int) -> list[int]:
    if text is None:
        return []
    read = whole_number(least)
    try:
        return list(dict.fromkeys(read(part.strip()) for part in text.split(",")))
    except typer.BadParameter as error:
        raise typer.BadParameter(error.message, param_hint=option) from None


def _probability(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        expected = f'expected a number between 0 and 1, found "{text}"'
        raise typer.BadParameter(expected, param_hint="--confidence") from None


def _page(found: Capacity, name: str, by: str, horizon_s: float) -> list[RenderableType]:
    rows, seed = found.table.to_dict("records"), found.study.manifest["seed"]
    names = [column for column in PLAN if column in found.table]
    money = "cost" if found.priced else "GPU hours paid"
    heads = [f"by {by}", "(95 %)", "half by", "95 % by", "short", "closed form", "GPU hours", money, ""]
    shown = table(*(PLAN[column][0] for column in names), *heads, left=0)
    shown.columns[-1].justify = "left"
    for row in rows:
        half = (row["cost_ci95_high"] - row["cost_ci95_low"]) / 2
        closed = row["short_closed_form"]
        shown.add_row(
            *(count(row[column]) for column in names),
            share(row["on_time"]),
            f"{share(row['on_time_ci95_low'])} to {share(row['on_time_ci95_high'])}",
            *(duration(3600 * row[column]) if row[column] < math.inf else "later" for column in ("p50_h", "p95_h")),
            share(row["waiting_share"]),
            "" if math.isnan(closed) else share(closed),
            count(row["gpu_hours"]),
            f"{count(row['cost'])} ± {count(half)}",
            "recommended" if row["recommended"] else "",
        )
    replications = plural(rows[0]["replications"], "replication")
    head = f"{name} (seed {seed}, {plural(len(rows), 'plan')}, {replications} each)"
    notes = [
        f"Every plan met the same failures. Later: than {duration(horizon_s)}, when a run is given up. Short of nodes:",
        "share of the time in which the job waited. Closed form: more nodes down than spares, in the long run.",
        "Cost: mean ± half of its 95 % interval, "
        + ("in the currency of the prices." if found.priced else "hours of all GPUs, as the scenario has no [cost]."),
    ]
    return [head, "", answer(found, by), "", shown, "", *notes]


def answer(found: Capacity, by: str) -> str:
    """The recommended plan in a sentence, or how near the nearest one comes."""
    if not found.table["on_time"].any():
        return f"No run of any plan finished by {by}."
    asked, chosen = share(found.confidence), found.recommended
    sure = chosen is not None
    if chosen is None:
        chosen = found.table.sort_values(["on_time", "cost"], ascending=[False, True], kind="stable").iloc[0]
    plan = ", ".join(plural(chosen[name], word) for name, (_, word) in PLAN.items() if name in found.table)
    low = share(chosen["on_time_ci95_low"])
    runs = f"{share(chosen['on_time'])} of its runs did, and at least {low} would by the 95 % interval"
    if sure:
        return f"Cheapest plan that finishes by {by} with {asked} confidence: {plan} ({runs})."
    hint = "; more replications would narrow that" if chosen["on_time"] >= found.confidence else ""
    return f"No plan is sure to finish by {by} with {asked} confidence; nearest: {plan} ({runs}{hint})."


def _as_json(found: Capacity, name: str) -> dict[str, Any]:
    """The plans in JSON values: null for a date beyond what was simulated, and where there is no closed form."""
    rows = [
        {
            str(key): None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in row.items()
        }
        for row in found.table.to_dict("records")
    ]
    return {
        "scenario": name,
        "by_h": found.by_h,
        "confidence": found.confidence,
        "priced": found.priced,
        "recommended": next((row for row in rows if row["recommended"]), None),
        "plans": rows,
        "provenance": dict(found.study.manifest),
    }
