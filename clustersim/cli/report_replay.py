"""The report of what `clustersim replay --out` left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from analysis import plots
from analysis.report import Plot, Report, Table, download
from clustersim.cli.replay import HEADS, answer
from clustersim.cli.report_parts import loader, refused
from clustersim.cli.words import plural
from clustersim.study.replay import load_replay

_CAPTION = "Extra and missing views under each loader, in views, with 95 % intervals."
_NOTE = "Means ± half of their 95 % intervals, over the orders of the samples; against the plan of the same loader."


def report_of_replay(directory: Path) -> Report:
    """The page of a replay's directory.

    Raises:
        OSError: it holds no such tables.
    """
    found = load_replay(directory)
    made_by = dict(found.provenance)
    scenario = made_by.pop("scenario")
    table = found.table.assign(preset=found.table["preset"].replace("", scenario["loader"]["preset"] or "its own"))
    rows: list[dict[str, Any]] = [{str(key): cell for key, cell in row.items()} for row in table.to_dict("records")]
    counted = [row for row in rows if not row["refused"]]
    stopped = [f"{row['preset']} did not always come back: {row['stopped']}" for row in counted if row["unfinished"]]
    tables = {"replay": found.table, "damage": found.damage}
    told = answer([row for row in found.table.to_dict("records") if not row["refused"]])
    return Report(
        title=scenario["name"],
        what=f"{plural(found.restarts, 'restart')} of a real run, counted under {plural(len(counted), 'loader')}.",
        answer=[told, *stopped],
        plots=[Plot(plots.loaders(table), _CAPTION, told)],
        tables=[
            Table("Loaders, the least damage first", HEADS, [loader(row) for row in counted], _NOTE),
            *refused(rows, "Presets that were not counted"),
        ],
        assumptions=[(f"{number}", line) for number, line in enumerate(found.assumed, 1)],
        scenario=scenario,
        provenance=made_by,
        downloads=[download(name, stored) for name, stored in tables.items() if stored is not None],
    )
