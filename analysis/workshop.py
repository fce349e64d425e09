"""The workshop's picture: how often the final model saw each of its documents, loader by loader."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

_COLUMNS = 40
# From too rarely (blue) over as planned (grey) to too often (orange to brown): told apart without red and green, and in
# grey by their lightness. Ink is what can be read on them.
_PAPER = {-2: "#08519c", -1: "#9ecae1", 0: "#eeeeee", 1: "#fdae6b", 2: "#a63603"}
_INK = {-2: "white", -1: "black", 0: "#666666", 1: "black", 2: "white"}


def figure(counts: pd.DataFrame, title: str, planned: int) -> Figure:
    """Draw a row a loader; left how many documents were seen 0, 1, .. times, right the count of each document.

    Args:
        counts: columns loader, document, seen; one row a loader and document, loaders in the order to draw.
        title: what the picture shows.
        planned: views of each document in the run without failures.
    """
    from matplotlib.figure import Figure

    loaders = list(dict.fromkeys(counts["loader"]))
    drawn = Figure(figsize=(13, 2.1 * len(loaders) + 1.2), layout="constrained", dpi=110)
    panels = drawn.subplots(len(loaders), 2, width_ratios=[1, 2.6], squeeze=False)
    most = max(2 * planned, int(counts["seen"].max()))
    documents = counts["document"].nunique()
    for (bars, grid), loader in zip(panels, loaders, strict=True):
        seen = counts.loc[counts["loader"] == loader].sort_values("document")["seen"].to_numpy()
        _bars(bars, seen, most, planned)
        _grid(grid, seen, planned)
        bars.set_ylabel(loader, fontsize=12, fontweight="bold")
        bars.set_ylim(0, 1.18 * documents)
    panels[0, 0].set_title("How many documents were seen how often", fontsize=11)
    panels[0, 1].set_title(f"How often each of the {documents} documents was seen", fontsize=11)
    panels[-1, 0].set_xlabel(f"times seen by the final model ({planned} planned)")
    panels[-1, 1].set_xlabel("document: the number at the left + the number below")
    drawn.suptitle(title, fontsize=13, fontweight="bold")
    return drawn


def _bars(axes: Axes, seen: NDArray[np.int64], most: int, planned: int) -> None:
    documents = np.bincount(seen, minlength=most + 1)
    bars = axes.bar(
        range(most + 1),
        documents,
        color=[_shade(_PAPER, views - planned) for views in range(most + 1)],
        edgecolor="#555555",
        linewidth=0.6,
    )
    axes.bar_label(bars, fontsize=9, padding=1)
    axes.set_xticks(range(most + 1))
    axes.set_yticks([])
    axes.spines[["top", "right", "left"]].set_visible(False)


def _grid(axes: Axes, seen: NDArray[np.int64], planned: int) -> None:
    rows = -(-len(seen) // _COLUMNS)
    for document, views in enumerate(seen.tolist()):
        row, column = divmod(document, _COLUMNS)
        surplus = views - planned
        axes.add_patch(_cell(column, row, _shade(_PAPER, surplus)))
        axes.text(
            column + 0.5, row + 0.5, str(views), color=_shade(_INK, surplus), fontsize=7, ha="center", va="center"
        )
    axes.set_xlim(0, min(_COLUMNS, len(seen)))
    axes.set_ylim(rows, 0)
    firsts = range(0, rows * _COLUMNS, _COLUMNS)
    axes.set_xticks(np.arange(0, _COLUMNS, 10) + 0.5, [f"+{column}" for column in range(0, _COLUMNS, 10)])
    axes.set_yticks(np.arange(rows) + 0.5, [str(first) for first in firsts])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _cell(column: int, row: int, color: str) -> Rectangle:
    from matplotlib.patches import Rectangle

    return Rectangle((column, row), 1, 1, facecolor=color, edgecolor="white", linewidth=1)


def _shade(shades: dict[int, str], surplus: int) -> str:
    return shades[max(min(shades), min(max(shades), surplus))]
