"""Plans of nodes, spares and repair slots against a finish date: how likely each makes it, when, and at what cost.

A date is a time since the start. A run that did not end (given up at its horizon, or out of nodes) has not finished by
any date; it counts in every share and quantile.

`python -m analysis.capacity DIR --by-days 60` prints the plans of a study whose points are plans, as `clustersim
capacity --out` and `clustersim sweep --vary cluster.spares=.. --out` leave them, and draws them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.output import as_text, draw, refuse, say
from analysis.spread import mean, proportion

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEYS = {"cluster.nodes": "nodes", "cluster.spares": "spares", "cluster.repair_slots": "repair_slots"}
"""The keys of a scenario that make a plan, and what their columns are called."""

PICTURE = "capacity.png"
"""The picture beside a stored study."""


def plans(table: pd.DataFrame, by_h: float, confidence: float) -> pd.DataFrame:
    """One row a plan, in the order of the points.

    Columns: point; those of `KEYS` that vary; replications; on_time, the share that finished by the date, with
    on_time_ci95_low and on_time_ci95_high; p50_h and p95_h of the finish, infinite where it lies beyond what was
    simulated; unfinished (runs that did not end); waiting_share of the wall time, in which the job missed nodes;
    gpu_hours that it held; cost with cost_ci95_low and cost_ci95_high, of unfinished runs until they were given up;
    and recommended: true for the cheapest plan of which on_time_ci95_low is at least `confidence`.

    Args:
        table: of a study (`table.parquet`), whose runs have a cost.
        by_h: the date, in hours since the start.
        confidence: the probability to finish by then that is asked for.

    Raises:
        ValueError: the study's runs have no cost.
    """
    if "cost" not in table:
        raise ValueError("expected runs with a cost ([cost] in the scenario), found none")
    names = {key: name for key, name in KEYS.items() if key in table}
    rows = []
    for point, runs in table.groupby("point"):
        finish_h = np.where(runs["outcome"] == "done", runs["wall_h"], np.inf)
        on_time = proportion(int((finish_h <= by_h).sum()), len(runs))
        cost = mean(runs["cost"].to_numpy(np.float64))
        # Of the runs themselves: between a date and none there is no middle.
        p50_h, p95_h = np.quantile(finish_h, (0.5, 0.95), method="inverted_cdf").tolist()
        rows.append(
            {
                "point": point,
                **{name: runs[key].iloc[0] for key, name in names.items()},
                "replications": len(runs),
                "on_time": on_time.figure,
                "on_time_ci95_low": on_time.ci95_low,
                "on_time_ci95_high": on_time.ci95_high,
                "p50_h": p50_h,
                "p95_h": p95_h,
                "unfinished": int(np.isinf(finish_h).sum()),
                "waiting_share": float(runs["time_waiting_for_nodes_h"].sum() / runs["wall_h"].sum()),
                "gpu_hours": float(runs["gpu_hours"].mean()),
                "cost": cost.figure,
                "cost_ci95_low": cost.ci95_low,
                "cost_ci95_high": cost.ci95_high,
            }
        )
    found = pd.DataFrame(rows)
    sure = found[found["on_time_ci95_low"] >= confidence]
    return found.assign(recommended=found.index == (sure["cost"].idxmin() if len(sure) else -1))


def figure(found: pd.DataFrame, by_h: float, confidence: float, title: str) -> Figure:
    """Draw the plans: the chance to finish by the date, the date itself, the cost; a line for each number of slots.

    Args:
        found: what `plans` returned.
        by_h: the date, in hours since the start.
        confidence: that was asked for; drawn as a line.
        title: what the picture shows.
    """
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(13, 4.8), layout="constrained", dpi=110)
    chance, date, cost = drawn.subplots(1, 3)
    names = [name for name in KEYS.values() if name in found]
    along = next((name for name in ("spares", "nodes", "repair_slots") if name in names), "point")
    places = {value: place for place, value in enumerate(dict.fromkeys(found[along]))}
    money, unit = _unit(found["cost"].max())
    # In per cent, in days, in the money's unit; a finish beyond what was simulated is not drawn.
    shown = found.replace(np.inf, np.nan).assign(place=found[along].map(places).astype(float))
    for columns, factor in ((_CHANCE, 100), (_DATE, 1 / 24), (_COST, 1 / money)):
        shown[list(dict.fromkeys(columns))] *= factor
    others = [name for name in names if name != along]
    for number, (label, rows) in enumerate(_lines(shown, others)):
        look = (label, _COLORS[number % len(_COLORS)], _MARKS[number % len(_MARKS)])
        _draw(chance, rows, _CHANCE, *look)
        _draw(date, rows, _DATE, *look)
        _draw(cost, rows, _COST, *look)
    for axes, columns in ((chance, _CHANCE), (date, _DATE), (cost, _COST)):
        chosen = shown[shown["recommended"]]
        axes.plot(chosen["place"], chosen[columns[0]], "o", markersize=16, fillstyle="none", color="black")
        axes.set_xticks(range(len(places)), [f"{value:g}" for value in places])
        axes.set_xlabel(_WORDS.get(along, along))
    for axes, line in ((chance, 100 * confidence), (date, by_h / 24)):
        axes.axhline(line, color="black", linewidth=0.8, linestyle="--")
    chance.set(title=f"Finished by day {by_h / 24:g} (95 % interval)", ylabel="% of the runs", ylim=(-3, 103))
    date.set(title="Finish of half of the runs, and of 95 %", ylabel="days since the start")
    cost.set(title="Cost, mean (95 % interval)", ylabel=unit, ylim=(0, None))
    if others:
        drawn.legend(*chance.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    ring = "ring: recommended" if found["recommended"].any() else "no plan is sure to make it"
    # What a scenario says is shown as it is: a dollar sign begins no formula.
    drawn.suptitle(f"{title}; {ring}".replace("$", r"\$"), fontweight="bold")
    return drawn


_WORDS = {"nodes": "nodes", "spares": "spares", "repair_slots": "repair slots"}
# A figure, and the two ends of the bar that is drawn with it.
_CHANCE = ["on_time", "on_time_ci95_low", "on_time_ci95_high"]
_DATE = ["p50_h", "p50_h", "p95_h"]
_COST = ["cost", "cost_ci95_low", "cost_ci95_high"]
# Told apart by people who see colours differently, and by their marks in grey.
_COLORS = ("#1f4e9c", "#e66100", "#4d9221", "#7b3294", "#666666")
_MARKS = ("o", "s", "^", "D", "v")


def _unit(most: float) -> tuple[float, str]:
    """What to divide costs by for an axis, and what to call them: they have no unit but the user's own."""
    units = ((1e9, "billions"), (1e6, "millions"), (1e3, "thousands"))
    return next((unit for unit in units if most >= unit[0]), (1.0, "in the currency of the prices"))


def _lines(shown: pd.DataFrame, names: list[str]) -> list[tuple[str, pd.DataFrame]]:
    """The rows of each combination of some columns, with what to call it."""
    if not names:
        return [("", shown)]
    return [
        (", ".join(f"{_WORDS[name]}: {value:g}" for name, value in zip(names, values, strict=True)), rows)
        for values, rows in shown.groupby(names, sort=False)
    ]


def _draw(axes: Axes, rows: pd.DataFrame, columns: list[str], label: str, color: str, mark: str) -> None:
    middle, low, high = (rows[column].to_numpy(np.float64) for column in columns)
    # Rounding may put an end a hair on the wrong side.
    ends = np.maximum([middle - low, high - middle], 0)
    axes.errorbar(rows["place"], middle, yerr=ends, label=label, color=color, marker=mark, capsize=3)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the plans of a stored study and draw them; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m analysis.capacity", description=__doc__.partition("\n")[0])
    parser.add_argument("directory", type=Path, metavar="DIR", help="what `clustersim capacity --out` left")
    parser.add_argument("--by-days", type=float, required=True, metavar="DAYS", help="the date, since the start")
    parser.add_argument("--confidence", type=float, default=0.9, help="to finish by then (default: 0.9)")
    parser.add_argument("--picture", type=Path, metavar="FILE", help=f"where to draw (default: DIR/{PICTURE})")
    options = parser.parse_args(arguments)
    by_h = 24 * options.by_days
    try:
        name = json.loads((options.directory / "study.json").read_text("utf-8"))["scenario"]["name"]
        found = plans(pd.read_parquet(options.directory / "table.parquet"), by_h, options.confidence)
    except (OSError, ValueError) as error:
        return refuse(options.directory, "clustersim capacity --out", error)
    picture = options.picture or options.directory / PICTURE
    return say(as_text(found)) or draw(lambda: figure(found, by_h, options.confidence, name), picture)


if __name__ == "__main__":
    sys.exit(main())
