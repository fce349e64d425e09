"""`clustersim replay`: a real run's restarts counted under any loader."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clustersim.cli.comparison import under_way
from clustersim.cli.loaders import RATES, SHOWN, figure_in_words, in_json, order_in_words, rates, views
from clustersim.cli.options import JsonOption, ScenarioArgument, SeedOption, SetOption, load
from clustersim.cli.outcome import UNFINISHED
from clustersim.cli.output import complain, emit_json, emit_page, table
from clustersim.cli.usage import path_to, whole_number
from clustersim.cli.words import plural

if TYPE_CHECKING:
    from rich.console import RenderableType

    from clustersim.study.replay import Replay


HEADS = ("loader", "order", *(head for head, _ in SHOWN.values()), *RATES.values())
"""The columns of the table, as people see it."""


def replay(
    history: Annotated[
        Path,
        typer.Argument(
            parser=path_to("a file's name"),
            metavar="HISTORY",
            help="A CSV file with a row for each restart: step_reached, step_restarted_from, data (the replicas from "
            "there on; may be left out), interrupted_h, restarted_h (may be left out).",
        ),
    ],
    scenario: ScenarioArgument,
    loader: Annotated[
        str | None, typer.Option(metavar="A,B", help="Presets to count under, or all.  [default: the scenario's own]")
    ] = None,
    replications: Annotated[
        int, typer.Option(parser=whole_number(1), metavar="N", help="How often each is counted, with other orders.")
    ] = 20,
    out: Annotated[
        Path | None,
        typer.Option(parser=path_to("a directory's name"), metavar="DIR", help="Store the tables in a new directory."),
    ] = None,
    overrides: SetOption = None,
    seed: SeedOption = None,
    json: JsonOption = False,
) -> None:
    """Count which data a real run's restarts repeated or lost, under any loader."""
    from clustersim.scenario import presets as shipped
    from clustersim.study.replay import replay as recount

    loaded = load(scenario, overrides)
    names = _names(loader)
    counted = len(shipped()) if names is None else max(1, len(names))
    with under_way(counted * replications) as tell:
        found = recount(history, loaded, names, replications, seed=seed, out=out, progress=tell)
    if json:
        emit_json(_as_json(found, loaded.name))
    else:
        emit_page(*_page(found, loaded.name, loaded.loader.preset or "its own loader", replications))
    stopped = found.table[found.table["unfinished"] > 0]
    if len(stopped):
        first = stopped.iloc[0]
        loaders = f"{plural(len(stopped), 'loader')} did not come back"
        complain(f"{loaders}; the first{_named(first['preset'])}: {first['stopped']}")
        raise typer.Exit(UNFINISHED)


def _names(loader: str | None) -> list[str] | None:
    """The presets that --loader names: none for the scenario's own loader, None for all."""
    if loader is None:
        return []
    return None if loader.strip() == "all" else list(dict.fromkeys(name.strip() for name in loader.split(",")))


def _named(preset: str) -> str:
    return f", {preset}" if preset else ""


def _page(found: Replay, name: str, own: str, replications: int) -> list[RenderableType]:
    rows = found.table.to_dict("records")
    counted, refused = ([row for row in rows if bool(row["refused"]) is kind] for kind in (False, True))
    shown = table(*HEADS, left=2)
    for row in counted:
        figures = [figure_in_words(row, figure, words) for figure, (_, words) in SHOWN.items()]
        shown.add_row(row["preset"] or own, order_in_words(row), *figures, *rates(row))
    restarts = plural(found.restarts, "restart")
    parts: list[RenderableType] = [f"{restarts} of a real run, as {name} ({plural(replications, 'replication')})", ""]
    parts += [answer(counted), "", shown, ""]
    if replications > 1:
        parts.append("Means ± half of their 95 % intervals, over the orders of the samples.")
    parts += ["Views against the plan of the same loader. Assumed:", *(f"- {line}" for line in found.assumed)]
    if refused:
        parts += ["", f"{plural(len(refused), 'preset')} not counted:"]
        parts += [f"{row['preset']}: {row['refused']}" for row in refused]
    return parts


def answer(counted: list[dict[Any, Any]]) -> str:
    """The damage of the one loader, or of the least and the most of several."""
    said = []
    for row in counted[:1] + counted[1:][-1:]:
        said.append(f"{row['preset']}: {views(row)}" if row["preset"] else views(row))
    if len(said) == 1:
        return f"The final model had {said[0].rpartition(': ')[2]}."
    return f"The least damage by {said[0]}; the most by {said[1]}."


def _as_json(found: Replay, name: str) -> dict[str, Any]:
    return {
        "scenario": name,
        "restarts": found.restarts,
        "assumed": list(found.assumed),
        "loaders": [in_json(row) for row in found.table.to_dict("records")],
        "damage": None if found.damage is None else [in_json(row) for row in found.damage.to_dict("records")],
        "provenance": dict(found.provenance),
    }
