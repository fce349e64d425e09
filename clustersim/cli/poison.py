"""`clustersim poison`: whether a sample that crashes the job can be found, by how the loader comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from clustersim.cli.options import JsonOption, ScenarioArgument, SeedOption, SetOption, load
from clustersim.cli.output import emit_json, emit_page, table
from clustersim.cli.usage import whole_number
from clustersim.cli.words import count, plural, share

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

_WAYS = {
    "exact": "to its place",
    "reshuffle": "in a new order of the epoch",
    "remainder": "in a new order of the rest",
}


def poison(
    scenario: ScenarioArgument,
    replications: Annotated[
        int, typer.Option(parser=whole_number(1), metavar="N", help="How many orders are tried.")
    ] = 1000,
    overrides: SetOption = None,
    seed: SeedOption = None,
    json: JsonOption = False,
) -> None:
    """Hunt a record of death through an epoch, for each way to come back."""
    from clustersim.study.poison import hunts

    loaded = load(scenario, overrides)
    if loaded.data.order == "with-replacement":
        raise typer.BadParameter(
            'expected an order in which a sample has a step, found data.order = "with-replacement"',
            param_hint="SCENARIO",
        )
    if loaded.data.corpora is not None:
        raise typer.BadParameter("expected one corpus, found data.corpora", param_hint="SCENARIO")
    found = hunts(loaded, replications, seed)
    if json:
        rows = [{key: None if value != value else value for key, value in row.items()} for row in _rows(found)]
        emit_json({"scenario": loaded.name, "ways": rows})
    else:
        emit_page(*_page(found, loaded.name, replications))


def _rows(found: pd.DataFrame) -> list[dict[str, object]]:
    return [{str(key): value for key, value in row.items()} for row in found.to_dict("records")]


def _page(found: pd.DataFrame, name: str, replications: int) -> list[RenderableType]:
    shown = table(
        "comes back", "crashes", "by formula", "same step twice", "found", "passed by chance", "given up", "restarts",
        "rolled back", "missing views",
    )  # fmt: skip
    for row in found.to_dict("records"):
        expected = row["crashes_expected"]
        shown.add_row(
            _WAYS[row["comes_back"]],
            count(row["crashes"]),
            "" if expected != expected else count(expected),
            *(share(row[key]) for key in ("reproducible", "found", "passed", "given_up")),
            count(row["restarts"]),
            count(row["rolled_back_steps"]),
            count(row["missing_views"]),
        )
    return [
        f"{name}: one epoch, {plural(replications, 'order')} for each way to come back",
        "",
        shown,
        "",
        "Means over the orders. Found: it crashed at one step so often that something was done. Passed by chance: the",
        "epoch ended, and nobody knows which sample it was. Given up: after 100 restarts. Rolled back: steps.",
    ]
