"""Which keys of a scenario a figure depends on: a tornado for any design, and Sobol' indices for Saltelli's.

`python -m analysis.sensitivity DIR` prints them for a study that `clustersim sweep --design ... --out DIR` left, and
draws the tornado.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.output import draw, refuse, say

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        ValueError: as `responses_of`.
    """
    design = json.loads((directory / "study.json").read_text("utf-8"))["design"]
    return responses_of(design, pd.read_parquet(directory / "table.parquet"), figure)


def responses_of(design: Mapping[str, Any], table: pd.DataFrame, figure: str) -> Responses:
    """How a figure answers to a design.

    Args:
        design: of a study's manifest.
        table: of the study.
        figure: a column of the table.

    Raises:
        ValueError: the points were not drawn from ranges, they are not all there, or there is no such figure.
    """
    if "ranges" not in design:
        raise ValueError(f"expected points that were drawn from ranges (--design), found a {design['kind']}")
    if figure not in table.select_dtypes("number"):
        raise ValueError(f'expected a figure of the study, found "{figure}"')
    means = table.groupby("point")[figure].mean()
    if len(means) < len(design["points"]):
        raise ValueError(f"expected runs of all {len(design['points'])} points, found {len(means)}")
    places = np.array(design["places"], dtype=np.float64)
    return Responses(figure, design["kind"], design["ranges"], places, means.to_numpy(np.float64))


def tornado(responses: Responses) -> pd.DataFrame:
    """One row a key: key, low, high, at_low, at_high, swing, swing_ci95_low, swing_ci95_high; the widest swing first.

    at_low and at_high are the figure at the two ends of the key's range, the other keys in the middle of theirs, by a
    least-squares plane over all keys: so what the others happen to be at few points is not taken for this key's doing.
    The swing is at_high - at_low, with its 95 % interval by Student's t, in which all that is no plane counts as
    chance. Of Saltelli's samples only A and B are taken, which are independent. NaN where points are too few.
    """
    keys = len(responses.ranges)
    taken = 2 * len(responses.means) // (2 + keys) if responses.kind == "saltelli" else len(responses.means)
    # float64[points, 1 + keys]
    terms = np.column_stack([np.ones(taken), responses.places[:taken] - 0.5])
    plane, halves = _plane(terms, responses.means[:taken])
    rows = [
        (key, str(low), str(high), plane[0] - slope / 2, plane[0] + slope / 2, slope, slope - half, slope + half)
        for (key, (low, high)), slope, half in zip(responses.ranges.items(), plane[1:], halves[1:], strict=True)
    ]
    names = ("key", "low", "high", "at_low", "at_high", "swing", "swing_ci95_low", "swing_ci95_high")
    frame = pd.DataFrame(rows, columns=names)
    return frame.sort_values("swing", key=abs, ascending=False, ignore_index=True)


def _plane(terms: NDArray[np.float64], means: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coefficients by least squares, float64[terms], and half of the 95 % interval of each."""
    from scipy.special import stdtrit

    points, count = terms.shape
    found, _, rank, _ = np.linalg.lstsq(terms, means)
    plane = found.astype(np.float64)
    if rank < count:
        return np.full(count, np.nan), np.full(count, np.nan)
    if points == count:
        return plane, np.full(count, np.nan)
    variance = float(((means - terms @ plane) ** 2).sum()) / (points - count)
    errors = np.sqrt(variance * np.diag(np.linalg.inv(terms.T @ terms)))
    return plane, (stdtrit(points - count, 0.975) * errors).astype(np.float64)


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
    from scipy.stats import DegenerateDataWarning, sobol_indices

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
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        # A key that changes nothing at all has one index in all resamples, and scipy's interval is 0 / 0.
        warnings.simplefilter("ignore", DegenerateDataWarning)
        spread = found.bootstrap(confidence_level=0.95)
    frame = pd.DataFrame({"key": list(responses.ranges)})
    parts = (("first", found.first_order, spread.first_order), ("total", found.total_order, spread.total_order))
    for name, values, interval in parts:
        frame[name] = values.ravel()
        for end, bound in (("low", interval.confidence_interval.low), ("high", interval.confidence_interval.high)):
            frame[f"{name}_ci95_{end}"] = np.where(np.isnan(bound), values, bound).ravel()
    return frame.sort_values("total", ascending=False, ignore_index=True)


def picture(responses: Responses) -> Figure:
    """The tornado: a bar a key between the figure at the two ends of its range, the widest on top.

    A line on each bar's end at the high one is the 95 % interval of the swing.
    """
    from matplotlib.figure import Figure as Drawn

    rows = tornado(responses)
    drawn = Drawn(figsize=(8, 1.8 + 0.5 * len(rows)), layout="constrained")
    axes = drawn.add_subplot()
    heights = np.arange(len(rows))[::-1]
    half = (rows["swing_ci95_high"] - rows["swing_ci95_low"]) / 2
    middle = (rows["at_low"] + rows["at_high"]) / 2
    for column, colour, label in (("at_low", "#5b8db8", "low"), ("at_high", "#c8713a", "high")):
        bar = rows[column] - middle
        axes.barh(heights, bar, left=middle, color=colour, height=0.6, label=f"{label} end of the range")
    axes.errorbar(rows["at_high"], heights, xerr=half, fmt="none", ecolor="black", capsize=3)
    axes.axvline(middle.mean(), color="black", linewidth=0.8)
    labels = [f"{row.key}\n{row.low} .. {row.high}" for row in rows.itertuples()]
    # What a scenario says is shown as it is: a dollar sign begins no formula.
    axes.set_yticks(heights, [label.replace("$", r"\$") for label in labels])
    axes.set_xlabel(f"{responses.figure}, other keys in the middle; line: 95 % interval of the swing")
    drawn.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
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
