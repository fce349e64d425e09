"""Data damage of a stored run: accumulated over time, by restart, cause and shard, and how often samples were seen.

A view is one sample in one step of the final model. Extra views are those beyond the plan, missing views those of the
plan that did not happen; both are counted up to a step, against the plan up to that step. So a restart may also take
damage back, where what was seen too early falls due.

`python -m analysis.damage DIR` prints the tables of a directory that `clustersim run --out DIR` left, and draws them;
of a study it prints the rates of each point, and how often samples were seen.
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

from analysis import harm
from analysis.output import as_text, draw, refuse, say
from analysis.rates import projected, rate
from analysis.spread import mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COUNTS = ("extra_views", "missing_views")
"""The two kinds of damage, as columns."""

COLORS = {"extra_views": "#e66100", "missing_views": "#1f4e9c"}
"""Of the kinds: told apart by people who see colours differently, and in grey."""


class Stored(NamedTuple):
    """The tables that this analysis reads; both have a column `replication`."""

    damage: pd.DataFrame
    """One row a restart: cause, interrupted_h, discarded_views; extra_views, missing_views to the end of its leg."""
    summary: pd.DataFrame
    """One row a replication: wall_h, interruptions, node_days, extra_views, missing_views, discarded_views."""


def load(directory: Path) -> Stored:
    """Read what a run left in a directory.

    Raises:
        FileNotFoundError: it holds no tables.
    """
    return Stored(*(pd.read_parquet(directory / name) for name in Stored._fields))


def per_restart(stored: Stored) -> pd.DataFrame:
    """The damage table with what each restart added to extra_views and missing_views; may be negative.

    A column `until_h` is added: the end of the restart's leg, to which the counts hold.
    """
    damage = stored.damage.sort_values(["replication", "restart"], ignore_index=True)
    by_replication = damage.groupby("replication")
    wall_h = damage["replication"].map(stored.summary.set_index("replication")["wall_h"])
    # Nothing is damaged before the first restart.
    added = {name: damage[name] - by_replication[name].shift(fill_value=0) for name in COUNTS}
    return damage.assign(until_h=by_replication["interrupted_h"].shift(-1).fillna(wall_h), **added)


def accumulated(stored: Stored, points: int = 200) -> pd.DataFrame:
    """Damage over time: time_h, and for extra and missing the mean and the 5 and 95 % quantiles over replications.

    At each time a replication counts with the legs that it has ended by then, and after its end with all of them.

    Args:
        stored: the tables.
        points: times from 0 to the end of the longest replication.
    """
    time_h = np.linspace(0.0, stored.summary["wall_h"].max(), points)
    restarts = per_restart(stored)
    frame = {"time_h": time_h}
    for name in COUNTS:
        # float64[replications, points]
        totals = np.zeros((len(stored.summary), points))
        for row, replication in enumerate(stored.summary["replication"]):
            own = restarts[restarts["replication"] == replication]
            ended = np.searchsorted(own["until_h"].to_numpy(), time_h, side="right")
            totals[row] = np.concatenate([[0], own[name].cumsum().to_numpy()])[ended]
        frame[f"{name}_mean"] = totals.mean(axis=0)
        frame[f"{name}_p05"], frame[f"{name}_p95"] = np.quantile(totals, (0.05, 0.95), axis=0)
    return pd.DataFrame(frame)


def by_cause(stored: Stored) -> pd.DataFrame:
    """What caused the restarts: cause; restarts, extra_views, missing_views, discarded_views, each the mean of a run.

    extra_views and missing_views have _ci95_low and _ci95_high beside them, NaN for a single run. The cause of most
    extra views comes first. A restart after several failures at once counts for the first of them.
    """
    restarts = per_restart(stored).assign(restarts=1)
    columns = ["restarts", *COUNTS, "discarded_views"]
    # A row a cause and run, also where the run had no restart of the cause.
    sums = restarts.pivot_table(
        index="cause", columns="replication", values=columns, aggfunc="sum", fill_value=0
    ).reindex(columns=pd.MultiIndex.from_product([columns, stored.summary["replication"]]), fill_value=0)
    # float64[causes, runs]
    views = {name: sums[name].to_numpy(np.float64) for name in columns}
    means = pd.DataFrame({name: found.mean(axis=1) for name, found in views.items()}, index=sums.index)
    for name in COUNTS:
        intervals = [mean(runs) for runs in views[name]]
        means[f"{name}_ci95_low"] = [interval.ci95_low for interval in intervals]
        means[f"{name}_ci95_high"] = [interval.ci95_high for interval in intervals]
    return means.sort_values(["extra_views", "restarts"], ascending=False, kind="stable").reset_index()


def by_shard(shards: pd.DataFrame) -> pd.DataFrame:
    """The shards, the most damaged first: shard; samples, planned_views, views, extra, missing, never; means of a run.

    Args:
        shards: the table of stored runs, which has a column `replication`; in a mixture the columns begin with corpus.
    """
    keys = [name for name in ("corpus", "shard") if name in shards]
    means = shards.drop(columns="replication").groupby(keys, sort=False).mean()
    damage = means["extra"] + means["missing"]
    return means.loc[damage.sort_values(ascending=False, kind="stable").index].reset_index()


def figure(stored: Stored, title: str) -> Figure:
    """Draw the damage over time, of each restart, and by cause; one colour for both kinds where they are equal."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(13, 4.8), layout="constrained", dpi=110)
    over_time, each, causes = drawn.subplots(1, 3, width_ratios=[1.25, 1, 1])
    restarts = per_restart(stored)
    alike = restarts["extra_views"].equals(restarts["missing_views"])
    kinds = {"extra_views": "extra views, and as many missing"} if alike else _KINDS
    _draw_accumulated(over_time, accumulated(stored), kinds, len(stored.summary))
    _draw_each(each, restarts, kinds)
    _draw_causes(causes, by_cause(stored), kinds)
    drawn.legend(*over_time.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    drawn.suptitle(title, fontweight="bold")
    return drawn


_KINDS = {"extra_views": "extra views", "missing_views": "missing views"}
_MOST_CAUSES = 12
_MOST_SHARDS = 10
_MOST_POINTS = 3000
_LEAST_ROWS = 6


def _unit(most: float) -> tuple[float, str]:
    """What to divide views by for an axis, and what to call it."""
    units = ((1e12, "trillions of views"), (1e9, "billions of views"), (1e6, "millions of views"))
    return next((unit for unit in units if most >= unit[0]), (1.0, "views"))


def _draw_accumulated(axes: Axes, frame: pd.DataFrame, kinds: dict[str, str], replications: int) -> None:
    factor, unit = _unit(max(frame[f"{name}_p95"].max() for name in kinds))
    days = frame["time_h"] / 24
    for name, label in kinds.items():
        axes.plot(days, frame[f"{name}_mean"] / factor, color=COLORS[name], label=label)
        if replications > 1:
            band = frame[f"{name}_p05"] / factor, frame[f"{name}_p95"] / factor
            axes.fill_between(days, *band, color=COLORS[name], alpha=0.2, linewidth=0)
    axes.set_ylim(bottom=0)
    spread = "mean, band from P5 to P95" if replications > 1 else "one replication"
    axes.set(title=f"Accumulated ({spread})", xlabel="days since the start", ylabel=unit)


def _draw_each(axes: Axes, restarts: pd.DataFrame, kinds: dict[str, str]) -> None:
    # As many replications as leave the points apart, and at least the first.
    shown = restarts[restarts["replication"].rank(method="max") <= _MOST_POINTS]
    shown = shown if len(shown) else restarts[restarts["replication"] == restarts["replication"].min()]
    of = "" if len(shown) == len(restarts) else f" ({_replications(shown['replication'].nunique())})"
    factor, unit = _unit(max((shown[name].abs().max() for name in kinds), default=0))
    for name in kinds:
        axes.plot(shown["interrupted_h"] / 24, shown[name] / factor, ".", color=COLORS[name], markersize=4, alpha=0.5)
    axes.set(title=f"Added by each restart{of}", xlabel="day of the interruption", ylabel=unit)


def _draw_causes(axes: Axes, causes: pd.DataFrame, kinds: dict[str, str]) -> None:
    shown = _with_others(causes)
    factor, unit = _unit(max(shown[name].abs().max() for name in kinds))
    rows = -np.arange(len(shown))
    height = 0.8 / len(kinds)
    for index, name in enumerate(kinds):
        axes.barh(rows + 0.4 - height * (index + 0.5), shown[name] / factor, height, color=COLORS[name])
    labels = [f"{cause} ({restarts:.3g})" for cause, restarts in zip(shown["cause"], shown["restarts"], strict=True)]
    axes.set_yticks(rows, labels)
    axes.set_ylim(0.5 - max(len(shown), _LEAST_ROWS), 0.5)
    axes.set(title="By cause, a run (and its restarts)", xlabel=unit)


def _with_others(causes: pd.DataFrame) -> pd.DataFrame:
    """The means of the first causes, and one row for all that follow if there are more than fit."""
    causes = causes[["cause", "restarts", *COUNTS]]
    if len(causes) <= _MOST_CAUSES:
        return causes
    head, others = causes.head(_MOST_CAUSES - 1), causes.iloc[_MOST_CAUSES - 1 :]
    row = {"cause": f"{len(others)} other causes", **others.drop(columns="cause").sum()}
    return pd.concat([head, pd.DataFrame([row])], ignore_index=True)


def _title(directory: Path) -> str:
    """What the picture of a directory shows: the scenario and its loader, by run.json."""
    result = json.loads((directory / "run.json").read_text("utf-8"))
    loader = result["provenance"]["scenario"]["loader"].get("preset") or "its own"
    return f"{result['scenario']}: data damage, loader {loader}, {_replications(result['replications'])}"


def _replications(count: int) -> str:
    return f"{count} replication{'' if count == 1 else 's'}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables of a directory and draw those of a run; 2 if it holds none or its picture cannot be written.

    1 if the tables cannot be printed.
    """
    parser = argparse.ArgumentParser(prog="python -m analysis.damage", description="Data damage of a run or a study.")
    parser.add_argument("directory", type=Path, help="what `clustersim run --out`, or sweep and others, left")
    parser.add_argument("--days", type=float, help="what a run of so many days comes to, at the same rates")
    parser.add_argument("--out", type=Path, help="the picture of a run, PNG or SVG (damage.png in the directory)")
    given = parser.parse_args(arguments)
    try:
        every = harm.load(given.directory)
        drawn = None if (given.directory / "study.json").exists() else load(given.directory)
        title = "" if drawn is None else _title(given.directory)
    except (OSError, ValueError) as error:
        return refuse(given.directory, "clustersim run --out", error)
    found = [rate(every.figures), *([projected(every.figures, given.days)] if given.days else [])]
    found += [] if drawn is None else [_with_halves(by_cause(drawn)), *_most_damaged(given.directory)]
    found += [harm.binned(every)]
    tables = [as_text(_named(table, every.points)) for table in found]
    picture = given.out or given.directory / "damage.png"
    return (0 if drawn is None else draw(lambda: figure(drawn, title), picture)) or say(*tables)


def _most_damaged(directory: Path) -> list[pd.DataFrame]:
    """The shards of a run that were damaged most; none where the order deals out no shards."""
    stored = directory / "shards"
    shards = by_shard(pd.read_parquet(stored)) if stored.exists() else pd.DataFrame()
    return [shards.head(_MOST_SHARDS)] if len(shards) > 1 else []


def _with_halves(causes: pd.DataFrame) -> pd.DataFrame:
    """The causes, with half of each 95 % interval in place of its ends."""
    shown = causes.drop(columns=[f"{name}_ci95_{end}" for name in COUNTS for end in ("low", "high")])
    for name in reversed(COUNTS):
        half = (causes[f"{name}_ci95_high"] - causes[f"{name}_ci95_low"]) / 2
        if half.notna().any():
            shown.insert(list(shown).index(name) + 1, f"± {name}", half)
    return shown


def _named(table: pd.DataFrame, points: list[str]) -> pd.DataFrame:
    """A table with what each point sets in place of its number; without the column where there is one point alone."""
    if "point" not in table or not any(points):
        return table.drop(columns="point", errors="ignore")
    return table.assign(point=[points[point] for point in table["point"]])


if __name__ == "__main__":
    sys.exit(main())
