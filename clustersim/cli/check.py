"""`clustersim check`: what is wrong with a scenario, or what it comes to, before any simulation."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from clustersim.cli.options import JsonOption, ScenarioArgument, SetOption, load
from clustersim.cli.output import emit_json, emit_page


def check(
    scenario: ScenarioArgument,
    overrides: SetOption = None,
    resolved: Annotated[
        bool, typer.Option("--resolved", help="Print the scenario with presets and defaults filled in, as JSON.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Say what is wrong with a scenario, or what it comes to."""
    loaded = load(scenario, overrides)
    if resolved:
        emit_json(loaded.resolved())
        return
    from clustersim.forecast import forecast

    expected = forecast(loaded)
    if json:
        emit_json({"scenario": loaded.name, "digest": loaded.digest, **asdict(expected)})
        return
    from clustersim.cli.check_page import check_page

    emit_page(*check_page(loaded, expected))
