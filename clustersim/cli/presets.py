"""`clustersim presets`: the loaders and the storages that ship, and what each is."""

from __future__ import annotations

from json import dumps as json_text  # strings, integers and booleans read the same in TOML
from typing import TYPE_CHECKING, Annotated

import typer

from clustersim.cli.options import JsonOption
from clustersim.cli.output import emit_json, emit_page, table

if TYPE_CHECKING:
    from clustersim.scenario.load import Presets


def presets(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Explain this one.")] = None,
    storage: Annotated[bool, typer.Option("--storage", help="Of storage, not of loaders.")] = False,
    json: JsonOption = False,
) -> None:
    """List the loader presets, or those of storage, or explain one."""
    from clustersim.scenario import preset_parts, presets

    of: Presets = "storage" if storage else "loaders"
    told = presets(of)
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
    parts = preset_parts(name, "clustersim", of)
    if json:
        emit_json({"preset": name, "about": told[name], "parts": parts})
    else:
        emit_page(told[name], "", *(f"{part} = {_toml(value)}" for part, value in parts.items()))


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(part)}" for key, part in value.items()) + " }"
    return json_text(value)
