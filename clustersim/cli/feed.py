"""`clustersim feed`: whether a store feeds the job, by access pattern, and what each pattern costs."""

from __future__ import annotations

from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clustersim.cli.options import JsonOption, ScenarioArgument, SetOption, load
from clustersim.cli.output import emit_json, emit_page, table
from clustersim.cli.picture import check_picture, write_picture
from clustersim.cli.progress import progress_bar
from clustersim.cli.usage import path_to, whole_number
from clustersim.cli.words import count, duration, plural, share, size

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

    from clustersim.scenario import Scenario

Row = dict[Any, Any]

_AGES_S = 100 * 365 * 86_400


def feed(
    scenario: ScenarioArgument,
    stores: Annotated[
        str | None,
        typer.Option(
            metavar="A,B", help="Presets of storage, or all.  [default: the scenario's; all if it names none]"
        ),
    ] = None,
    loaders: Annotated[
        str | None, typer.Option(metavar="A,B", help="Loader presets, in rows of their own.  [default: none]")
    ] = None,
    steps: Annotated[
        int, typer.Option(parser=whole_number(1), metavar="N", help="How many steps are simulated for the wait.")
    ] = 100,
    resume_at: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(0), metavar="STEP", help="The step of an epoch to come back to.  [default: its middle]"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(parser=path_to("a picture's name"), metavar="FILE", help="Draw a picture, a PNG, SVG or PDF."),
    ] = None,
    overrides: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Say whether the store feeds the job, for each access pattern."""
    if out is not None:
        check_picture(out)
    from clustersim.scenario import presets
    from clustersim.study.feed import feed as compare
    from clustersim.study.feed import step_of_epoch

    loaded = load(scenario, overrides)
    named = list(presets("storage")) if stores == "all" else _listed(stores)
    try:
        step_of_epoch(loaded, resume_at)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--resume-at") from None
    with progress_bar(1) as tell:
        found = compare(loaded, named or None, _listed(loaders), steps, resume_at, tell)
    if json:
        emit_json({"scenario": loaded.name, "rows": [_as_json(row) for row in found.to_dict("records")]})
    else:
        emit_page(*_page(found, loaded))
    if out is not None:
        from analysis.feed import figure

        write_picture(figure(found, loaded.name), out)


def _listed(text: str | None) -> list[str]:
    return [] if text is None else [part.strip() for part in text.split(",")]


def _as_json(row: Row) -> Row:
    """A row in JSON values: null where nothing sets a limit, where a time is for ever, and where there is no figure."""
    return {key: None if isinstance(value, float) and not isfinite(value) else value for key, value in row.items()}


def _page(found: pd.DataFrame, scenario: Scenario) -> list[RenderableType]:
    sizes, rows = scenario.sizes, found.to_dict("records")
    assert sizes.bytes_per_sample is not None
    demand = sizes.batch / (sizes.full_step_ns / 1e9)
    head = f"{scenario.name}: {plural(demand, 'sample')} of {size(sizes.bytes_per_sample)} a second, "
    parts: list[RenderableType] = [head + f"{size(demand * sizes.bytes_per_sample)}/s", "", *_answer(rows), ""]
    for store in dict.fromkeys(found["store"]):
        own = [row for row in rows if row["store"] == store]
        heading = "The scenario's own store" if store == "scenario" else store
        parts += [heading, _table(own), ""]
    parts.append("keeps up: what comes at most, over what is asked for, and what limits it (workers: their latency and")
    parts.append("their own work). waits: of simulated steps, by which a step is longer. one shard: P(two samples of a")
    parts.append("batch are of one shard) over that of a uniform shuffle. extra, missing: views, of one restart in the")
    parts.append("middle of an epoch, halfway between two checkpoints; as planned: all steps after it are.")
    parts += _held(rows)
    refused = {row["refused"]: row for row in rows if row["refused"]}
    parts += [f"{row['pattern']} with {row['loader']} not run: {why}" for why, row in refused.items()]
    return parts


def _answer(rows: list[Row]) -> list[str]:
    """Who does not keep up, and by what; a line for each store."""
    lines = []
    if all(row["keeps_up_bandwidth"] >= 1 for row in rows):
        stores = len({row["store"] for row in rows})
        everywhere = "" if stores == 1 else f" on each of {stores} stores"
        lines.append(f"In bandwidth every pattern keeps up{everywhere}.")
    for store in dict.fromkeys(row["store"] for row in rows):
        slow = {row["pattern"]: row for row in rows if row["store"] == store and row["keeps_up"] < 1}
        where = "its own store" if store == "scenario" else store
        if slow:
            told = ", ".join(
                f"{pattern} ({row['keeps_up']:.3g} by {row['bottleneck']})" for pattern, row in slow.items()
            )
            asked = max(row["reads_per_s"] for row in slow.values())
            lines.append(f"Not fast enough on {where}: {told}; up to {count(asked)} requests a second are asked for.")
        else:
            least = min(row["keeps_up"] for row in rows if row["store"] == store)
            lines.append(f"Fast enough on {where}: every pattern, {_up(least)} times at least.")
    return lines


def _held(rows: list[Row]) -> list[str]:
    """What buffers hold beside the published marks, and what a crash costs while a copy is made: a line each."""
    buffers = {row["loader"]: row for row in rows if row["buffer_share"]}
    lines = [
        f"The buffers of {loader} hold {share(row['buffer_share'])} of the data together, {size(row['memory_bytes'])} "
        "of memory; by published marks 2 % trains as well as a full shuffle, and 0.25 % is of use at hundreds of TB."
        for loader, row in buffers.items()
    ]
    copies = [row for row in rows if row["copy_factor"] and row["loader"] == "scenario"]
    if copies:
        lines.append("A crash while a copy is made ahead of the run costs half of the making on average.")
    ahead, behind = ([row for row in copies if row["pattern"] == pattern] for pattern in ("copy", "copy-behind"))
    return lines + [_made(each, late["lost_preparation_s"]) for each, late in zip(ahead, behind, strict=True)]


def _made(copy: Row, late_s: float) -> str:
    """How long a store takes to make a copy, and what crashes do to it; one behind an epoch makes the next one late."""
    where = "its own store" if copy["store"] == "scenario" else copy["store"]
    making_s, met_s = copy["preparation_s"], copy["preparation_with_crashes_s"]
    line = f"A shuffled copy takes {duration(making_s)} to make on {where}"
    if met_s > making_s:
        met = duration(met_s) if met_s < _AGES_S else "more than a hundred years"
        line += f", {met} where each crash of the job begins it anew"
    if late_s:
        line += f"; behind an epoch such a crash makes the next one {duration(late_s)} late on average"
    return f"{line}."


def _table(rows: list[Row]) -> RenderableType:
    shown = table(
        "pattern", "loader", "keeps up", "by", "requests/s", "bytes/s", "space", "first batch", "resume", "waits",
        "one shard", "extra", "missing", "as planned", left=2,
    )  # fmt: skip
    shown.columns[3].justify = "left"
    for row in rows:
        known = not row["refused"]
        shown.add_row(
            row["pattern"],
            row["loader"],
            _up(row["keeps_up"]),
            row["bottleneck"],
            count(row["reads_per_s"]),
            size(row["bytes_per_s"]),
            size(row["space_bytes"]),
            _time(row["first_batch_s"]),
            _time(row["resume_s"]),
            share(row["wait_share"]),
            _times(row["same_shard"], row["same_shard_uniform"]),
            count(row["extra_views"]) if known else "",
            count(row["missing_views"]) if known else "",
            ("yes" if row["reproducible"] else "no") if known else "",
        )
    return shown


def _up(times: float) -> str:
    return f"{times:.3g}" if times < 1000 else count(times)


def _time(seconds: float) -> str:
    return "never" if seconds == inf else duration(seconds)


def _times(value: float, uniform: float) -> str:
    return _up(value / uniform) if uniform else ""
