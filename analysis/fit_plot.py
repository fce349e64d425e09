"""Fitted laws beside what was seen: the share of durations that are longer, over their length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import stats

from analysis.fit import Fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Told apart by people who see colours differently, and in grey.
_LINES = {
    "exponential": ("#1f4e9c", ":"),
    "weibull": ("#e66100", "-"),
    "lognormal": ("#5d3a9b", "--"),
    "gamma": ("#40b0a6", "-."),
}
_POINTS = 200


def figure(title: str, rows: Sequence[tuple[str, pd.DataFrame, Sequence[Fit]]]) -> Figure:
    """Draw one panel a row, two beside each other.

    Args:
        title: of the whole.
        rows: for each panel its title, durations (hours, begun, ended) and the laws that were fitted to them. The seen
            shares are Kaplan and Meier's (1958), over the durations that began within the trace: of others nobody knows
            how long they had lasted.
    """
    from matplotlib.figure import Figure

    height = -(-len(rows) // 2)
    drawn = Figure(figsize=(11, 4 * height), layout="constrained", dpi=110)
    panels = drawn.subplots(height, 2, squeeze=False).flatten()
    for panel, (name, table, fits) in zip(panels, rows, strict=False):
        _draw(panel, name, table, fits)
    for panel in panels[len(rows) :]:
        panel.set_axis_off()
    drawn.suptitle(title, fontweight="bold")
    return drawn


def _draw(axes: Axes, name: str, table: pd.DataFrame, fits: Sequence[Fit]) -> None:
    known = table[table["begun"] & (table["hours"] > 0)]
    if len(known):
        ended = known["ended"]
        seen = stats.ecdf(stats.CensoredData(uncensored=known.loc[ended, "hours"], right=known.loc[~ended, "hours"])).sf
        axes.step(seen.quantiles, seen.probabilities, where="post", color="black", linewidth=1, label="seen")
    positive = table.loc[table["hours"] > 0, "hours"]
    hours = np.geomspace(positive.min(), positive.max(), _POINTS)
    for law in fits:
        color, style = _LINES[law.law.name]
        label = f"{law.law.name} (AIC {law.aic - fits[0].aic:+.1f})" if law is not fits[0] else f"{law.law.name} (best)"
        axes.plot(hours, law.sf(hours), color=color, linestyle=style, label=label)
    axes.set(title=name, xlabel="hours", ylabel="share that is longer", xscale="log", ylim=(0, 1.02))
    axes.legend(frameon=False)
