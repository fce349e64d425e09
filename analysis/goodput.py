"""Where the time went: every bucket of the wall time with its interval, and the shares that are called goodput.

`python -m analysis.goodput DIR` prints them for what `clustersim run --out`, `sweep --out` and the like left, and draws
the buckets as stacked bars.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from analysis.labels import labels
from analysis.output import draw, refuse, say
from analysis.spread import mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STOPPED = (
    "detection",
    "diagnosis",
    "waiting_for_nodes",
    "scheduling",
    "start_up",
    "load",
    "loader_resume",
    "warm_up",
    "maintenance",
)
"""The buckets in which the job does not train."""

LOST_WORK = ("wasted_progress", "unfinished")
"""The buckets of steps that are no part of the final model."""


class Stored(NamedTuple):
    """What this analysis reads of a run or a study: a row a replication, a column a bucket; the same index in both."""

    hours: pd.DataFrame
    """Hours of wall time; they sum to it. The index is point, replication."""
    node_hours: pd.DataFrame | None
    """Node-hours that the job held; None of a study, which does not store them."""
    name: str
    """Of the scenario."""
    points: list[str]
    """What each point sets; a single empty text for a run."""


def load(directory: Path) -> Stored:
    """Read what a run or a study left in a directory.

    Raises:
        OSError: it holds neither.
    """
    study = directory / "study.json"
    if study.exists():
        manifest = json.loads(study.read_text("utf-8"))
        table = pd.read_parquet(directory / "table.parquet").set_index(["point", "replication"])
        named = {name: name.removeprefix("time_").removesuffix("_h") for name in map(str, table) if _is_time(name)}
        return Stored(table[list(named)].rename(columns=named), None, manifest["scenario"]["name"], labels(manifest))
    name = json.loads((directory / "run.json").read_text("utf-8"))["scenario"]
    time = pd.read_parquet(directory / "time").assign(point=0)
    return Stored(_wide(time, "hours"), _wide(time, "node_hours"), name, [""])


def _is_time(column: str) -> bool:
    return column.startswith("time_") and column.endswith("_h")


def _wide(time: pd.DataFrame, values: str) -> pd.DataFrame:
    """A column a bucket, in the order in which the run tells them."""
    return time.pivot(index=["point", "replication"], columns="bucket", values=values)[list(time["bucket"].unique())]


def buckets(stored: Stored) -> pd.DataFrame:
    """One row a point and bucket: hours and share of the wall time, each with its _ci95_low and _ci95_high.

    Means over replications of each one's own share. Buckets in which no replication of the study has any time are left
    out.
    """
    shares = stored.hours.div(stored.hours.sum(axis=1), axis=0)
    rows = []
    for point, hours in stored.hours.groupby(level="point"):
        for bucket in stored.hours.columns[stored.hours.any()]:
            row: dict[str, object] = {"point": point, "bucket": bucket}
            for name, values in (("hours", hours[bucket]), ("share", shares.loc[hours.index, bucket])):
                figure, low, high = mean(values.to_numpy(np.float64))
                row |= {name: figure, f"{name}_ci95_low": low, f"{name}_ci95_high": high}
            rows.append(row)
    return pd.DataFrame(rows)


def goodput(stored: Stored) -> pd.DataFrame:
    """One row a point and kind of goodput: point, goodput, share, ci95_low, ci95_high.

    useful (ETTR): useful time. kept steps: all time in steps of the final model, slow ones in full. training: all time
    but in recovery, lost work included. useful node-hours: those of useful time, of all that the job held; for runs
    alone, as a study does not store node-hours.
    """
    hours = stored.hours
    wall = hours.sum(axis=1)
    stopped = hours[[name for name in STOPPED if name in hours]].sum(axis=1)
    beside = hours[[name for name in (*LOST_WORK, "save_stall") if name in hours]].sum(axis=1)
    kinds = {
        "useful (ETTR)": hours["useful"] / wall,
        "kept steps": (wall - stopped - beside) / wall,
        "training": (wall - stopped) / wall,
    }
    if stored.node_hours is not None:
        kinds["useful node-hours"] = stored.node_hours["useful"] / stored.node_hours.sum(axis=1)
    rows = [
        {"point": point, "goodput": kind, **dict(zip(("share", "ci95_low", "ci95_high"), interval, strict=True))}
        for point in hours.index.unique("point")
        for kind, shares in kinds.items()
        for interval in [mean(shares.loc[[point]].to_numpy(np.float64))]
    ]
    return pd.DataFrame(rows)


def figure(stored: Stored, title: str) -> Figure:
    """Draw a stacked bar a point: all of the wall time, and beside it what was not useful on a scale of its own."""
    from matplotlib.figure import Figure

    found = buckets(stored)
    shares = 100 * found.pivot(index="point", columns="bucket", values="share")[list(found["bucket"].unique())]
    drawn = Figure(figsize=(13, 2.6 + 0.5 * len(shares)), layout="constrained", dpi=110)
    whole, lost = drawn.subplots(1, 2, sharey=True)
    _stack(whole, shares)
    _stack(lost, shares.drop(columns="useful"), first=1)
    whole.set(title="All of it", xlabel="% of the wall time, mean", xlim=(0, 100))
    lost.set(title="What was not useful", xlabel="% of the wall time, mean")
    # What a scenario says is shown as it is: a dollar sign begins no formula.
    names = [stored.points[point].replace("$", r"\$") for point in shares.index]
    whole.set_yticks(range(len(shares)), names)
    whole.invert_yaxis()
    drawn.legend(*whole.get_legend_handles_labels(), loc="outside lower center", ncols=7, frameon=False)
    drawn.suptitle(f"{title}: where the time went".replace("$", r"\$"), fontweight="bold")
    return drawn


# Told apart by people who see colours differently; used again, hatched, from the eighth bucket on.
_COLORS = ("#88ccee", "#cc6677", "#ddcc77", "#117733", "#332288", "#aa4499", "#999933")


def _stack(axes: Axes, shares: pd.DataFrame, first: int = 0) -> None:
    left = np.zeros(len(shares))
    for number, bucket in enumerate(shares, first):
        axes.barh(
            np.arange(len(shares)),
            shares[bucket],
            left=left,
            height=0.6,
            label=str(bucket).replace("_", " "),
            color=_COLORS[number % len(_COLORS)],
            hatch="//" if number >= len(_COLORS) else None,
            edgecolor="white",
        )
        left += shares[bucket].to_numpy(np.float64)


def _printed(stored: Stored) -> str:
    """Both tables for people: means and half of their intervals."""
    kinds, time = goodput(stored), buckets(stored)
    shown = [
        pd.DataFrame({"point": kinds["point"], "what": kinds["goodput"], "%": _in_words(kinds, "share", "", 100)}),
        pd.DataFrame(
            {
                "point": time["point"],
                "what": time["bucket"].str.replace("_", " "),
                "%": _in_words(time, "share", "share_", 100),
                "hours": _in_words(time, "hours", "hours_", 1),
            }
        ),
    ]
    for table in shown:
        table["point"] = [stored.points[point] for point in table["point"]]
    hidden = [] if any(stored.points) else ["point"]
    return "\n\n".join(table.drop(columns=hidden).to_string(index=False) for table in shown)


# Of a figure: what differs by less differs by the rounding of sums.
_ROUNDING = 1e-12


def _in_words(table: pd.DataFrame, figure: str, before: str, factor: float) -> list[str]:
    """A figure times a factor, with half of its interval where it varies."""
    halves = (table[f"{before}ci95_high"] - table[f"{before}ci95_low"]) / 2 * factor
    return [
        f"{value:,.4g}" + (f" ± {half:,.2g}" if half > _ROUNDING * value else "")
        for value, half in zip(table[figure] * factor, halves, strict=True)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print where the time of a stored run or study went, and draw it; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m analysis.goodput", description=__doc__.partition("\n")[0])
    parser.add_argument("directory", type=Path, metavar="DIR", help="what a run or a study left (--out)")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="where to draw (default: DIR/goodput.png)")
    options = parser.parse_args(arguments)
    try:
        stored = load(options.directory)
    except (OSError, ValueError) as error:
        return refuse(options.directory, "clustersim run --out", error)
    picture = options.picture or options.directory / "goodput.png"
    return say(_printed(stored)) or draw(lambda: figure(stored, stored.name), picture)


if __name__ == "__main__":
    sys.exit(main())
