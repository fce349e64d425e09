"""`clustersim presets`: the loaders that ship, and what each saves, loses and refuses."""

from __future__ import annotations

from json import dumps as json_text  # strings, integers and booleans read the same in TOML
from typing import Annotated

import typer

from clustersim.cli.options import JsonOption
from clustersim.cli.output import emit_json, emit_page, table


def presets(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Explain this one.")] = None,
    json: JsonOption = False,
) -> None:
    """List the loader presets, or explain one."""
    from clustersim.scenario import preset_parts, presets

    told = presets()
    if name is None:
        lines = {each: text.partition("\n")[0] for each, text in told.items()}
        if json:
            emit_json(lines)
            return
        rows = table("Preset", "", left=2)
        rows.columns[1].no_wrap = False
        for each, line in lines.items():
            rows.add_row(each, line)
        emit_page(rows)
        return
    parts = preset_parts(name, "clustersim")
    if json:
        emit_json({"preset": name, "about": told[name], "parts": parts})
    else:
        emit_page(told[name], "", *(f"{part} = {json_text(value)}" for part, value in parts.items()))
