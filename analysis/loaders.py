"""The picture of the league of loaders: what every preset damages over the same failures.

`python -m analysis.loaders DIR` draws what `clustersim loaders --out DIR` left, which draws it too.
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

from analysis.axes import by_count
from analysis.damage import COLORS
from analysis.output import as_text, draw, refuse, say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURE = "loaders.png"
"""The picture's name beside a stored study."""

_LABELS = {"extra_views": "extra", "missing_views": "missing"}
_HEIGHT = 0.4


def figure(league: pd.DataFrame, title: str) -> Figure:
    """Draw extra and missing views of every preset that was run, the least damage on top.

    Args:
        league: preset, refused; extra_views and missing_views with their _ci95_low and _ci95_high.
        title: what the picture shows.
    """
    from matplotlib.figure import Figure

    ran = league[league["refused"] == ""]
    drawn = Figure(figsize=(10, 1.6 + 0.24 * len(ran)), layout="constrained", dpi=110)
    axes = drawn.add_subplot()
    rows = -np.arange(len(ran))
    for number, (name, label) in enumerate(_LABELS.items()):
        ends = [ran[name] - ran[f"{name}_ci95_low"], ran[f"{name}_ci95_high"] - ran[name]]
        place = rows + _HEIGHT * (0.5 - number)
        axes.barh(place, ran[name], _HEIGHT, color=COLORS[name], label=f"{label} views")
        axes.errorbar(ran[name], place, xerr=np.nan_to_num(ends), fmt="none", ecolor="black", elinewidth=0.8)
    views = ran[list(_LABELS)].to_numpy()
    if views.any():
        # By factors from the least damage on, so that small damage is seen beside large, and none is none.
        axes.set_xscale("symlog", linthresh=views[views > 0].min())
    by_count(axes.xaxis)
    axes.set_xlim(left=0)
    axes.set_yticks(rows, ran["preset"])
    axes.set_ylim(rows[-1] - 0.6, 0.6)
    axes.set_xlabel("views of a run, mean and its 95 % interval")
    axes.legend(frameon=False, loc="upper right")
    axes.grid(axis="x", alpha=0.3)
    # What a scenario says is shown as it is: a dollar sign begins no formula.
    axes.set_title(title.replace("$", r"\$"), fontweight="bold")
    return drawn


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw a stored league; 2 if there is none."""
    parser = argparse.ArgumentParser(prog="python -m analysis.loaders", description=__doc__.partition("\n")[0])
    parser.add_argument("directory", type=Path, metavar="DIR", help="what `clustersim loaders --out` left")
    parser.add_argument("--picture", type=Path, metavar="FILE", help=f"where to draw (default: DIR/{PICTURE})")
    options = parser.parse_args(arguments)
    try:
        league = pd.read_parquet(options.directory / "league.parquet")
        name = json.loads((options.directory / "study.json").read_text("utf-8"))["scenario"]["name"]
    except (OSError, ValueError) as error:
        return refuse(options.directory, "clustersim loaders --out", error)
    return say(as_text(league)) or draw(lambda: figure(league, name), options.picture or options.directory / PICTURE)


if __name__ == "__main__":
    sys.exit(main())
