"""The picture of feeding: what keeps up, how long steps wait, and how well each access pattern shuffles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Told apart without red and green.
_COLOURS = {"bandwidth": "#08519c", "operations": "#a63603", "clients": "#6baed6", "workers": "#fdae6b"}
_LABELS = (
    "what comes at most,\nover what is asked for",
    "share of the time that\nsteps wait for data",
    "P(two samples of a batch are of one shard),\nover that of a uniform shuffle",
)
# What is not fed at all is drawn as if it were fed by so little.
_LEAST = 1e-3


def figure(rows: pd.DataFrame, title: str) -> Figure:
    """Draw a row of panels a store: how many times each pattern keeps up, its waits, and its share of one shard.

    Args:
        rows: columns store, pattern, loader, keeps_up, bottleneck, wait_share, same_shard, same_shard_uniform.
        title: what the picture shows.
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    stores = list(dict.fromkeys(rows["store"]))
    height = 0.9 + sum(0.28 * (rows["store"] == store).sum() + 0.9 for store in stores)
    drawn = Figure(figsize=(13, height), layout="constrained", dpi=110)
    heights = [int((rows["store"] == store).sum()) for store in stores]
    panels = drawn.subplots(len(stores), 3, squeeze=False, height_ratios=heights, sharex="col")
    for line, store in zip(panels, stores, strict=True):
        own = rows[rows["store"] == store].iloc[::-1]
        colours = [_COLOURS[each] for each in own["bottleneck"]]
        labels = [
            pattern if loader == "scenario" else f"{pattern}, {loader}"
            for pattern, loader in zip(own["pattern"], own["loader"], strict=True)
        ]
        _bars(line[0], own["keeps_up"].clip(lower=_LEAST), colours, labels, start=1)
        line[0].set_title("its own store" if store == "scenario" else store, loc="left", fontsize=11, fontweight="bold")
        _bars(line[1], own["wait_share"], colours, [], start=0)
        line[1].set_xlim(0, 1)
        _bars(line[2], own["same_shard"] / own["same_shard_uniform"], ["#999999"] * len(own), [], start=1)
    for axes, label in zip(panels[-1], _LABELS, strict=True):
        axes.set_xlabel(label)
    panels[0, 0].set_xlim(min(0.1, rows["keeps_up"].clip(lower=_LEAST).min()), max(10, rows["keeps_up"].max()))
    used = [name for name in _COLOURS if name in set(rows["bottleneck"])]
    drawn.legend(handles=[Patch(color=_COLOURS[name], label=name) for name in used], loc="outside lower left", ncols=4)
    drawn.suptitle(title, fontsize=13, fontweight="bold")
    return drawn


def _bars(axes: Axes, values: pd.Series[float], colours: list[str], labels: list[str], start: int) -> None:
    """Bars from `start`, to both sides; on a logarithmic axis if that is 1."""
    if start == 1:
        axes.set_xscale("log")
        axes.minorticks_off()
    places = np.arange(len(values))
    axes.barh(places, values - start, left=start, color=colours, height=0.7)
    axes.axvline(start, color="black", linewidth=1)
    axes.set_yticks(places if labels else [], labels)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", color="#dddddd", linewidth=0.5)
    axes.set_axisbelow(True)
