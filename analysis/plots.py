"""Interactive figures (plotly) of the tables that runs and studies leave, for reports and notebooks.

Every function takes tables in plain units and names its axes with theirs. Texts from scenarios are shown as they are.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis.intervals import damages

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

KINDS = {"extra_views": ("extra", "#e66100"), "missing_views": ("missing", "#3b7dd8")}
"""The kinds of damage: column, what it is called, its colour; told apart by people who see colours differently."""

_NEUTRAL = "#8a8a8a"
# Ticks of an axis that goes by factors.
_MINUTES = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 240, 480, 1440, 2880, 7200)
_MARKS = ("circle", "square", "diamond", "triangle-up", "x", "cross")


def plain(text: object) -> str:
    """A text as plotly shows it literally: it takes a part of HTML for markup."""
    return html.escape(str(text), quote=False)


def damage_over_time(accumulated: pd.DataFrame, replications: int) -> Figure:
    """Extra and missing views over time, mean and the band from P5 to P95.

    Args:
        accumulated: what `analysis.damage.accumulated` returned.
        replications: how many it is of; there is no band of one.
    """
    drawn = _figure("days since the start", "views")
    days = accumulated["time_h"] / 24
    # Where both kinds are equal, one line shows through the other.
    for (name, (label, color)), dash in zip(KINDS.items(), ("solid", "dot"), strict=True):
        if replications > 1:
            band = accumulated[f"{name}_p95"], accumulated[f"{name}_p05"]
            outline = pd.concat([band[0], band[1][::-1]])
            drawn.add_scatter(
                x=pd.concat([days, days[::-1]]), y=outline, **_band(color), name=f"{label}, P5 to P95", hoverinfo="skip"
            )
        drawn.add_scatter(x=days, y=accumulated[f"{name}_mean"], name=label, line={"color": color, "dash": dash})
    return drawn


def damage_by_cause(causes: pd.DataFrame) -> Figure:
    """What the restarts of each cause added, in views a run; `causes` as `analysis.damage.by_cause` returned it."""
    drawn = _figure("views added, mean of a run", "")
    # Of two rows in one place plotly draws the first at the bottom.
    rows = causes[::-1]
    causes_of = zip(rows["cause"], rows["restarts"], strict=True)
    names = [f"{plain(cause)} ({restarts:.3g})" for cause, restarts in causes_of]
    return _both_kinds(drawn, names, _bars(rows))


def ledger(rows: pd.DataFrame) -> Figure:
    """How many samples were seen how much more or less often than planned.

    Args:
        rows: planned, seen, samples.
    """
    samples = rows.groupby(rows["seen"] - rows["planned"])["samples"].sum()
    drawn = _figure("times seen, beyond the plan", "samples")
    (_, more), (_, fewer) = KINDS.values()
    colors = [more if surplus > 0 else fewer if surplus < 0 else _NEUTRAL for surplus in samples.index]
    drawn.add_bar(x=[f"{surplus:+d}" if surplus else "as planned" for surplus in samples.index], y=samples)
    return drawn.update_traces(marker_color=colors).update_layout(showlegend=False).update_xaxes(type="category")


def damage(points: pd.DataFrame) -> Figure:
    """Extra and missing views of each point of a study, with 95 % intervals of the means.

    Args:
        points: label, and extra_views and missing_views each with _ci95_low and _ci95_high (NaN if there is none).
    """
    rows = points[::-1]
    return _both_kinds(_figure("views", ""), [plain(label) for label in rows["label"]], _bars(rows))


def time(hours: pd.DataFrame) -> Figure:
    """Where the wall time went, as shares: a bar a row, a colour a bucket.

    Args:
        hours: label, and a column a bucket in hours; a bucket in which no row has any time is left out.
    """
    from plotly.colors import qualitative

    drawn = _figure("% of the wall time", "")
    rows = hours[::-1]
    buckets = rows.drop(columns="label")
    wall = buckets.sum(axis=1)
    used = [bucket for bucket in buckets if buckets[bucket].any()]
    for number, bucket in enumerate(used):
        drawn.add_bar(
            x=100 * buckets[bucket] / wall,
            y=rows["label"].map(plain),
            customdata=buckets[bucket],
            hovertemplate="%{x:.2f} %, %{customdata:.3g} h",
            orientation="h",
            name=str(bucket).replace("_", " "),
            marker_color=qualitative.Safe[number % len(qualitative.Safe)],
        )
    return _tall(drawn, len(rows)).update_layout(barmode="stack").update_xaxes(range=[0, 100])


def intervals(table: pd.DataFrame, best: Sequence[float], formulas: dict[str, float]) -> Figure:
    """Useful share of time and the loaders' damage against the checkpoint interval.

    Args:
        table: interval, interval_s, ettr and damage_<loader> with their ci95, as a stored study's intervals.parquet.
        best: the best interval and the two ends of its 95 % interval, seconds.
        formulas: intervals by formula, seconds, by whose formula it is.
    """
    from plotly.colors import qualitative
    from plotly.subplots import make_subplots

    drawn = _styled(make_subplots(rows=2, shared_xaxes=True, vertical_spacing=0.08))
    minutes = table["interval_s"] / 60
    drawn.add_scatter(
        x=minutes,
        y=100 * table["ettr"],
        error_y=_percent_ends(table, "ettr"),
        name="useful share",
        mode="lines+markers",
        line={"color": "#3b7dd8"},
        row=1,
        col=1,
    )
    for number, (loader, column) in enumerate(damages(table).items()):
        drawn.add_scatter(
            x=minutes,
            y=100 * table[column],
            error_y=_percent_ends(table, column),
            name=plain(loader),
            mode="lines+markers",
            marker={"symbol": _MARKS[number % len(_MARKS)]},
            line={"color": qualitative.Safe[number % len(qualitative.Safe)]},
            row=2,
            col=1,
        )
    middle, low, high = (seconds / 60 for seconds in best)
    drawn.add_vrect(x0=low, x1=high, fillcolor=_NEUTRAL, opacity=0.2, line_width=0)
    for place, (name, minute, dash) in enumerate(
        [("best", middle, "solid"), *((name, s / 60, "dot") for name, s in formulas.items())]
    ):
        drawn.add_vline(x=minute, line={"color": _NEUTRAL, "dash": dash, "width": 1})
        drawn.add_annotation(
            x=np.log10(minute), y=1.02 + 0.05 * place, yref="paper", text=plain(name), showarrow=False, yanchor="bottom"
        )
    drawn.update_xaxes(type="log", tickvals=_MINUTES).update_xaxes(
        title="minutes of training between saves", row=2, col=1
    )
    drawn.update_yaxes(title="useful, % of time", row=1, col=1)
    drawn.update_yaxes(title="damage, % of planned views", rangemode="tozero", row=2, col=1)
    return drawn.update_layout(height=640, margin_t=90)


def tornado(rows: pd.DataFrame, label: str, factor: float = 1.0) -> Figure:
    """A bar a key between a figure at the two ends of the key's range, with the 95 % interval of the swing.

    Args:
        rows: what `analysis.sensitivity.tornado` returned.
        label: the figure's name and unit.
        factor: from the figure to that unit.
    """
    drawn = _figure(f"{label}, other keys in the middle of their ranges", "")
    rows = rows[::-1]
    names = [f"{plain(row.key)}: {plain(row.low)} .. {plain(row.high)}" for row in rows.itertuples()]
    middle = factor * (rows["at_low"] + rows["at_high"]) / 2
    for column, end, color in (("at_low", "low", "#3b7dd8"), ("at_high", "high", "#e66100")):
        drawn.add_bar(
            x=factor * rows[column] - middle,
            base=middle,
            y=names,
            orientation="h",
            name=f"{end} end of the range",
            marker_color=color,
        )
    half = factor * (rows["swing_ci95_high"] - rows["swing_ci95_low"]) / 2
    # Last, so that it lies on the bars.
    drawn.add_scatter(
        x=factor * rows["at_high"],
        y=names,
        error_x={"type": "data", "array": half, "thickness": 1, "color": _NEUTRAL},
        mode="markers",
        marker={"color": _NEUTRAL, "size": 4},
        name="95 % interval of the swing",
    )
    return _tall(drawn, len(rows)).update_layout(barmode="overlay")


def loaders(table: pd.DataFrame) -> Figure:
    """Extra and missing views of each loader preset that was run, the least damage on top.

    Args:
        table: a stored study's league.parquet.
    """
    ran = table[table["refused"] == ""]
    return damage(ran.rename(columns={"preset": "label"}))


def capacity(plans: pd.DataFrame, labels: Sequence[str], by_h: float, confidence: float) -> Figure:
    """The chance of each plan to finish by the date against its cost.

    Args:
        plans: what `analysis.capacity.plans` returned.
        labels: what to call each plan.
        by_h: the date, in hours since the start.
        confidence: that was asked for, drawn as a line.
    """
    drawn = _figure("cost, mean of a run", f"% of the runs finished by day {by_h / 24:g}")
    chosen = plans["recommended"].to_numpy()
    for picked, name, symbol, color in (
        (~chosen, "plan", "circle", "#3b7dd8"),
        (chosen, "recommended", "star", "#e66100"),
    ):
        rows = plans[picked]
        drawn.add_scatter(
            x=rows["cost"],
            y=100 * rows["on_time"],
            error_x=_ends(rows["cost"], rows["cost_ci95_low"], rows["cost_ci95_high"]),
            error_y=_percent_ends(rows, "on_time"),
            text=[plain(label) for label, kept in zip(labels, picked, strict=True) if kept],
            name=name,
            mode="markers",
            marker={"symbol": symbol, "color": color, "size": 11},
        )
    drawn.add_hline(y=100 * confidence, line={"color": _NEUTRAL, "dash": "dash", "width": 1})
    return drawn.update_yaxes(range=[-3, 103])


def _figure(x: str, y: str) -> Figure:
    from plotly.graph_objects import Figure

    return _styled(Figure()).update_xaxes(title=x).update_yaxes(title=y)


def _styled(figure: Figure) -> Figure:
    axis = {"gridcolor": "rgba(128,128,128,0.25)", "zerolinecolor": "rgba(128,128,128,0.5)", "exponentformat": "B"}
    figure.update_layout(
        template="none",
        height=420,
        margin={"l": 70, "r": 20, "t": 30, "b": 50},
        legend={"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "traceorder": "normal"},
        modebar={"bgcolor": "rgba(0,0,0,0)"},
        font={"family": "system-ui, sans-serif"},
    )
    return figure.update_xaxes(**axis, automargin=True).update_yaxes(**axis, automargin=True)


def _bars(rows: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """The bars of both kinds, each with its 95 % interval, NaN if there is none."""
    return {
        name: {"x": rows[name], "error_x": _ends(rows[name], rows[f"{name}_ci95_low"], rows[f"{name}_ci95_high"])}
        for name in KINDS
    }


def _both_kinds(figure: Figure, names: list[str], bars: dict[str, dict[str, Any]]) -> Figure:
    """Two bars at each name, extra above missing; plotly draws from the bottom up."""
    for name, bar in reversed(bars.items()):
        label, color = KINDS[name]
        figure.add_bar(**bar, y=names, orientation="h", name=label, marker_color=color)
    return _tall(figure, len(names)).update_layout(barmode="group", legend_traceorder="reversed")


def _tall(figure: Figure, bars: int) -> Figure:
    """As tall as its horizontal bars need."""
    return figure.update_layout(height=max(300, 150 + 26 * bars)).update_yaxes(type="category")


def _band(color: str) -> dict[str, Any]:
    return {"fill": "toself", "fillcolor": color, "opacity": 0.2, "line": {"width": 0}, "mode": "lines"}


def _percent_ends(table: pd.DataFrame, figure: str) -> dict[str, Any]:
    """The 95 % interval of a share, in per cent."""
    return _ends(*(100 * table[f"{figure}{end}"] for end in ("", "_ci95_low", "_ci95_high")))


def _ends(middle: Iterable[float], low: Iterable[float], high: Iterable[float]) -> dict[str, Any]:
    """The bar from low to high around each point; none where they are NaN."""
    m, lower, upper = (np.asarray(values, dtype=np.float64) for values in (middle, low, high))
    return {"type": "data", "symmetric": False, "array": upper - m, "arrayminus": m - lower, "thickness": 1}
