"""The picture of checkpoint intervals: useful time with its best interval, and what each loader's data suffers.

`python -m analysis.intervals DIR` draws what `clustersim intervals --out DIR` left, which draws it too.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from analysis.axes import by_duration, duration
from analysis.output import as_text, draw, refuse, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PICTURE = "intervals.png"
"""The picture's name beside a stored study."""

# Told apart by people who see colours differently, and by their marks in grey.
_COLORS = ("#1f4e9c", "#e66100", "#4d9221", "#7b3294", "#666666")
_MARKS = ("o", "s", "^", "D", "v")
_FORMULAS = {"young_s": ("Young", ":"), "daly_s": ("Daly", "--")}
# Per cent of the plan up to which damage is drawn to scale, and by factors beyond, so that none at all has a place.
_LINEAR = 1.0


def load(directory: Path) -> tuple[pd.DataFrame, dict[str, float | None]]:
    """The table of intervals of a stored study, and its best ones.

    Raises:
        FileNotFoundError: it holds none.
    """
    best: dict[str, float | None] = json.loads((directory / "intervals.json").read_text("utf-8"))
    return pd.read_parquet(directory / "intervals.parquet"), best


def damages(table: pd.DataFrame) -> dict[str, str]:
    """The loaders whose damage a table of intervals has, and its columns."""
    columns = [str(name) for name in table if str(name).startswith("damage_")]
    return {name.removeprefix("damage_"): name for name in columns if "_ci95_" not in name}


def figure(table: pd.DataFrame, best: Mapping[str, float | None], title: str) -> Figure:
    """Draw the useful share of time and the damage of each loader against the interval.

    Args:
        table: interval_s; ettr and damage_<loader>, each with _ci95_low and _ci95_high; a row an interval, the shortest
            first.
        best: best_s, ci95_low_s, ci95_high_s of the fit, and young_s and daly_s by formula, None if there is none.
        title: what the picture shows.
    """
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(13, 4.8), layout="constrained", dpi=110)
    useful, damage = drawn.subplots(1, 2)
    seconds = table["interval_s"]
    useful.plot(seconds, 100 * table["ettr"], color=_COLORS[0], marker="o", label="simulated, mean")
    band = 100 * table["ettr_ci95_low"], 100 * table["ettr_ci95_high"]
    useful.fill_between(seconds, *band, color=_COLORS[0], alpha=0.15, linewidth=0, label="95 % interval of the mean")
    for number, (loader, column) in enumerate(damages(table).items()):
        color = _COLORS[number % len(_COLORS)]
        # What a scenario says is shown as it is: a dollar sign begins no formula.
        label = loader.replace("$", r"\$")
        damage.plot(seconds, 100 * table[column], label=label, color=color, marker=_MARKS[number % len(_MARKS)])
        band = 100 * table[f"{column}_ci95_low"], 100 * table[f"{column}_ci95_high"]
        damage.fill_between(seconds, *band, color=color, alpha=0.15, linewidth=0)
    for axes in (useful, damage):
        _mark(axes, best)
        axes.set_xscale("log")
        by_duration(axes.xaxis)
        axes.set_xlabel("training between saves")
    useful.set(title="Useful share of the wall time (ETTR)", ylabel="%")
    damage.set_yscale("symlog", linthresh=_LINEAR)
    damage.set_ylim(-0.1 * _LINEAR, 2 * damage.get_ylim()[1])
    damage.yaxis.set_major_formatter(lambda value, place: f"{value:g}")
    damage.set(title="Damage: extra and missing views", ylabel="% of planned views")
    shown = {
        label: handle
        for axes in (useful, damage)
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    drawn.legend(shown.values(), shown, loc="outside lower center", ncols=5, frameon=False)
    drawn.suptitle(title.replace("$", r"\$"), fontweight="bold")
    return drawn


def _mark(axes: Axes, best: Mapping[str, float | None]) -> None:
    """The best interval with its 95 % interval, and the formulas'."""
    middle, low, high = (best[name] or 0.0 for name in ("best_s", "ci95_low_s", "ci95_high_s"))
    axes.axvspan(low, high, color="#bbbbbb", alpha=0.4, linewidth=0)
    told = f"best {duration(middle)} (95 %: {duration(low)} to {duration(high)})"
    axes.axvline(middle, color="black", linewidth=1, label=told)
    for name, (author, style) in _FORMULAS.items():
        seconds = best[name]
        if seconds is not None:
            axes.axvline(seconds, color="black", linewidth=1, linestyle=style, label=f"{author} {duration(seconds)}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw a stored study; 2 if it holds no intervals."""
    parser = argparse.ArgumentParser(prog="python -m analysis.intervals", description=__doc__.partition("\n")[0])
    parser.add_argument("directory", type=Path, metavar="DIR", help="what `clustersim intervals --out` left")
    parser.add_argument("--picture", type=Path, metavar="FILE", help=f"where to draw (default: DIR/{PICTURE})")
    options = parser.parse_args(arguments)
    try:
        table, best = load(options.directory)
        name = json.loads((options.directory / "study.json").read_text("utf-8"))["scenario"]["name"]
    except (OSError, ValueError) as error:
        return refuse(options.directory, "clustersim intervals --out", error)
    picture = options.picture or options.directory / PICTURE
    return say(as_text(table)) or draw(lambda: figure(table, best, name), picture)


if __name__ == "__main__":
    sys.exit(main())
