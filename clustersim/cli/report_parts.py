"""What the reports of runs and studies share: cells with the figure behind the words, and what is assumed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analysis.report import Cell, Table
from clustersim.cli.assumptions import assumptions
from clustersim.cli.loaders import SHOWN
from clustersim.cli.words import count
from clustersim.forecast import forecast
from clustersim.scenario import Scenario

Words = Callable[[float], str]
"""How a figure is said."""


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
    """The cells of a loader's row of the league, up to what a failure costs."""
    means = (mean(row, figure, words) for figure, (_, words) in SHOWN.items())
    return [text(row["preset"]), text(row["order"]), *means, number(row["extra_views_per_failure"], count)]


def refused(rows: list[dict[str, Any]], caption: str) -> list[Table]:
    """Presets that could not be had with the scenario's data, and why; no table where there are none."""
    why = [[text(row["preset"]), text(row["refused"])] for row in rows if row["refused"]]
    return [Table(caption, ("preset", "why"), why)] if why else []


def assumed(scenario: Scenario) -> list[tuple[str, str]]:
    """Of what, and what is assumed, as a run's own page says it."""
    subjects, told = (list(column.cells) for column in assumptions(scenario, forecast(scenario)).columns)
    return [(str(subject), str(line)) for subject, line in zip(subjects, told, strict=True)]
