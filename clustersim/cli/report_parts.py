"""What the reports of runs and studies share: cells with the figure behind the words, and what is assumed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from analysis.report import Cell, Table
from clustersim.cli.assumptions import assumptions
from clustersim.cli.loaders import RATES, SHOWN, order_in_words
from clustersim.cli.words import count
from clustersim.forecast import forecast
from clustersim.scenario import Scenario

MEANS = "Means ± half of their 95 % intervals; every {} met the same failures."
"""What stands under a table of points, named as they are there."""

Words = Callable[[float], str]
"""How a figure is said."""

_MOST_VALUES = 12


def text(said: object) -> Cell:
    """A cell that sorts by its own text."""
    return Cell(str(said), str(said))


def number(value: float, words: Words) -> Cell:
    """A cell that sorts by the figure; empty where there is none."""
    return Cell("", "") if value != value else Cell(words(value), value)


def mean(row: dict[str, Any], figure: str, words: Words) -> Cell:
    """A mean and half of its 95 % interval, of a row that has <figure>_ci95_low and _ci95_high."""
    cell, half = number(row[figure], words), (row[f"{figure}_ci95_high"] - row[f"{figure}_ci95_low"]) / 2
    return cell._replace(text=f"{cell.text} ± {words(half)}") if half > 0 else cell


def loader(row: dict[str, Any]) -> list[Cell]:
    """The cells of a loader's row, up to what a failure costs."""
    means = (mean(row, figure, words) for figure, (_, words) in SHOWN.items())
    return [text(row["preset"]), text(order_in_words(row)), *means, *(number(row[name], count) for name in RATES)]


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table by its columns' names."""
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def varied(design: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the points of a study set, a row a key: they stand before what is assumed, which is without them.

    Args:
        design: of the study's manifest.
    """
    ranges = {key: f"{low} .. {high}" for key, (low, high) in design.get("ranges", {}).items()}
    rows = []
    for key in design["points"][0]:
        values = list(dict.fromkeys(str(point[key]) for point in design["points"]))
        more = f" and {len(values) - _MOST_VALUES} more" if len(values) > _MOST_VALUES else ""
        told = ranges.get(key, ", ".join(values[:_MOST_VALUES]) + more)
        rows.append(("varied" if len(values) > 1 else "set", f"{key} = {told}, instead of what stands below"))
    return rows


def refused(rows: list[dict[str, Any]], caption: str) -> list[Table]:
    """Presets that could not be had with the scenario's data, and why; no table where there are none."""
    why = [[text(row["preset"]), text(row["refused"])] for row in rows if row["refused"]]
    return [Table(caption, ("preset", "why"), why)] if why else []


def assumed(scenario: Scenario) -> list[tuple[str, str]]:
    """Of what, and what is assumed, as a run's own page says it."""
    subjects, told = (list(column.cells) for column in assumptions(scenario, forecast(scenario)).columns)
    return [(str(subject), str(line)) for subject, line in zip(subjects, told, strict=True)]
