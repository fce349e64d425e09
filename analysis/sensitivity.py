"""Which keys of a scenario a figure depends on: a tornado for any design, and Sobol' indices for Saltelli's.

`python -m analysis.sensitivity DIR` prints them for a study that `clustersim sweep --design ... --out DIR` left, and
draws the tornado.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.output import draw, refuse, say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FIFTHS = 5


class Responses(NamedTuple):
    """How a figure answers to the points of a design."""

    figure: str
    kind: str
    """Of the design: "lhs", "sobol" or "saltelli"."""
    ranges: dict[str, list[object]]
    """The two ends of each key's range."""
    places: NDArray[np.float64]
    """Where each point lies in its ranges, 0 to 1, float64[points, keys]."""
    means: NDArray[np.float64]
    """The figure's mean over the replications of each point, float64[points]."""


def load(directory: Path, figure: str) -> Responses:
    """Read what a sweep left in a directory.

    Raises:
        FileNotFoundError: it holds no study.
        ValueError: its points were not drawn from ranges, they are not all there, or it has no such figure.
    """
    design = json.loads((directory / "study.json").read_text("utf-8"))["design"]
    if "ranges" not in design:
        raise ValueError(f"expected points that were drawn from ranges (--design), found a {design['kind']}")
    table = pd.read_parquet(directory / "table.parquet")
    if figure not in table.select_dtypes("number"):
        raise ValueError(f'expected a figure of the study, found "{figure}"')
    means = table.groupby("point")[figure].mean()
    if len(means) < len(design["points"]):
        raise ValueError(f"expected runs of all {len(design['points'])} points, found {len(means)}")
    places = np.array(design["places"], dtype=np.float64)
    return Responses(figure, design["kind"], design["ranges"], places, means.to_numpy(np.float64))


def tornado(responses: Responses) -> pd.DataFrame:
    """One row a key: key, low, high, mean_low, mean_high, swing; the key of the widest swing comes first.

    mean_low is the figure's mean over the points whose value of the key is in the lowest fifth of its range, whatever
    their other values; mean_high that of the highest fifth; the swing is mean_high - mean_low. NaN where no point is
    there.
    """
    rows = []
    for column, (key, (low, high)) in enumerate(responses.ranges.items()):
        place = responses.places[:, column]
        sides = [responses.means[side] for side in (place < 1 / _FIFTHS, place >= 1 - 1 / _FIFTHS)]
        lowest, highest = (float(side.mean()) if len(side) else np.nan for side in sides)
        rows.append((key, str(low), str(high), lowest, highest, highest - lowest))
    frame = pd.DataFrame(rows, columns=["key", "low", "high", "mean_low", "mean_high", "swing"])
    return frame.sort_values("swing", key=abs, ascending=False, ignore_index=True)


def indices(responses: Responses, seed: int = 0) -> pd.DataFrame:
    """Sobol' indices, one row a key: key; first, total, each with ci95_low and ci95_high; the greatest total first.

    first is the share of the figure's variance over the ranges that the key explains alone, total the share that it has
    a part in; by the estimators of Saltelli et al. (2010), the 95 % intervals by bootstrap (scipy.stats.sobol_indices).
    The figure is a mean over replications: what chance is left in it counts as explained by no key, or by all.

    Args:
        responses: of a design of Saltelli's.
        seed: of the bootstrap.

    Raises:
        ValueError: the design is another, or the figure does not vary.
    """
    from scipy.stats import sobol_indices

    if responses.kind != "saltelli":
        raise ValueError(f"expected a design of Saltelli's (--design saltelli), found {responses.kind}")
    keys = len(responses.ranges)
    # float64[2 + keys, points of A]: A, B, and A with each column from B
    answers = responses.means.reshape(2 + keys, -1)
    if not np.ptp(answers[:2]):
        raise ValueError(f"expected a figure that varies, found {responses.figure} = {answers[0, 0]:g} at every point")
    told: dict[Literal["f_A", "f_B", "f_AB"], NDArray[np.float64]]
    told = {"f_A": answers[:1], "f_B": answers[1:2], "f_AB": answers[2:, None, :]}
    found = sobol_indices(func=told, n=answers.shape[1], rng=np.random.default_rng(seed))
    spread = found.bootstrap(confidence_level=0.95)
    frame = pd.DataFrame({"key": list(responses.ranges)})
    parts = (("first", found.first_order, spread.first_order), ("total", found.total_order, spread.total_order))
    for name, values, interval in parts:
        frame[name] = values.ravel()
        frame[f"{name}_ci95_low"] = interval.confidence_interval.low.ravel()
        frame[f"{name}_ci95_high"] = interval.confidence_interval.high.ravel()
    return frame.sort_values("total", ascending=False, ignore_index=True)


def picture(responses: Responses) -> Figure:
    """The tornado: a bar a key from the figure's mean at its low end to that at its high end, the widest on top."""
    from matplotlib.figure import Figure as Drawn

    rows = tornado(responses)
    drawn = Drawn(figsize=(8, 1.5 + 0.5 * len(rows)), layout="constrained")
    axes = drawn.add_subplot()
    middle = float(responses.means.mean())
    heights = np.arange(len(rows))[::-1]
    for column, colour, label in (("mean_low", "#5b8db8", "lowest fifth"), ("mean_high", "#c8713a", "highest fifth")):
        axes.barh(heights, rows[column] - middle, left=middle, color=colour, height=0.6, label=f"{label} of the range")
    axes.axvline(middle, color="black", linewidth=0.8)
    labels = [f"{row.key}\n{row.low} .. {row.high}" for row in rows.itertuples()]
    # What a scenario says is shown as it is: a dollar sign begins no formula.
    axes.set_yticks(heights, [label.replace("$", r"\$") for label in labels])
    axes.set_xlabel(f"{responses.figure}, mean over the other keys' ranges")
    axes.legend(loc="best", frameon=False)
    return drawn


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables of a stored study and draw the tornado; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m analysis.sensitivity", description=__doc__.partition("\n")[0])
    parser.add_argument("directory", type=Path, metavar="DIR", help="what `clustersim sweep --design ... --out` left")
    parser.add_argument("--figure", default="ettr", help="whose sensitivity (default: ettr)")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="where to draw (default: DIR/sensitivity.png)")
    options = parser.parse_args(arguments)
    try:
        responses = load(options.directory, options.figure)
        tables = [tornado(responses), *([indices(responses)] if responses.kind == "saltelli" else [])]
    except (OSError, ValueError) as error:
        return refuse(options.directory, "clustersim sweep --out", error)
    picture_file = options.picture or options.directory / "sensitivity.png"
    return say(*(table.to_string(index=False) for table in tables)) or draw(lambda: picture(responses), picture_file)


if __name__ == "__main__":
    sys.exit(main())
