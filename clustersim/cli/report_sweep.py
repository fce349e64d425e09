"""The figures and tables of a sweep's report: its points, and of points drawn from ranges which keys matter."""

from __future__ import annotations

import pandas as pd

from analysis import plots
from analysis.report import Cell, Plot, Table
from analysis.sensitivity import Responses, indices, responses_of, tornado
from clustersim.cli import sweep_page
from clustersim.cli.report_parts import MEANS, Words, mean, number, records, text
from clustersim.cli.words import count, share
from clustersim.study.plot import MOST_POINTS, StudyPlots, spreads
from clustersim.study.study import Study

_SENSITIVE: dict[str, tuple[str, Words, float]] = {"ettr": ("%", share, 100), "extra_views": ("views", count, 1)}
"""The figures whose sensitivity is told: the unit of their axis, how they are said, and the factor to that unit."""


def drawn(study: Study) -> list[Plot]:
    """A tornado for each sensitive figure, or else bars of the points."""
    if "ranges" in study.manifest["design"]:
        return [_tornado(found) for found in _sensitive(study)]
    each = f"each of the first {MOST_POINTS} points" if len(study.points) > MOST_POINTS else "each point"
    damage = Plot(
        StudyPlots(study).damage(),
        f"Extra and missing views of {each}, in views, means with their 95 % intervals.",
        "Bars of extra and missing views, one pair a point, as in the table of points.",
    )
    time = Plot(
        StudyPlots(study).time(),
        f"Where the wall time of {each} went, in % of it, mean over replications.",
        "One bar a point, divided into buckets of time.",
    )
    return [*([damage] if study.table[list(plots.KINDS)].any(axis=None) else []), time]


def tables(study: Study) -> list[Table]:
    """What depends on which key, where points were drawn from ranges, and one row a point."""
    return [*(_sensitivity(found) for found in _sensitive(study)), _points(study)]


def _sensitive(study: Study) -> list[Responses]:
    """The figures that vary over points drawn from ranges; none of other points, or before all of them were run."""
    design = study.manifest["design"]
    if "ranges" not in design or study.table["point"].nunique() < len(design["points"]):
        return []
    answers = [responses_of(design, study.table, figure) for figure in _SENSITIVE]
    return [found for found in answers if found.means.min() < found.means.max()]


def _name(found: Responses) -> str:
    return sweep_page.SHOWN[found.figure][0]


def _tornado(found: Responses) -> Plot:
    unit, _, factor = _SENSITIVE[found.figure]
    return Plot(
        plots.tornado(tornado(found), f"{_name(found)} ({unit})", factor),
        f"What the {_name(found)} is at the two ends of each key's range ({unit}), by a plane through all points; "
        "lines: 95 % intervals of the swings.",
        "A bar a key, the widest on top, as in the table of what depends on which key.",
    )


def _sensitivity(found: Responses) -> Table:
    """One row a key: its swing, and of Saltelli's samples its indices."""
    words = _SENSITIVE[found.figure][1]
    rows = tornado(found)
    heads = ["key", "from", "to", "at the low end", "at the high end", "swing"]
    note = (
        "By a plane through all points; ± half of the swing's 95 % interval, in which all that is no plane is chance."
    )
    if found.kind == "saltelli":
        rows = rows.merge(indices(found), on="key")
        heads += ["first index", "total index"]
        note += (
            " Indices: the share of the variance over the ranges that a key explains alone, and that it has a part in; "
            "in brackets their 95 % intervals."
        )
    cells = [
        [
            *(text(row[name]) for name in ("key", "low", "high")),
            *(number(row[name], words) for name in ("at_low", "at_high")),
            mean(row, "swing", words),
            *(_index(row, name) for name in ("first", "total") if name in rows),
        ]
        for row in records(rows)
    ]
    return Table(f"On which keys the {_name(found)} depends", heads, cells, note)


def _index(row: dict[str, float], name: str) -> Cell:
    low, high = (row[f"{name}_ci95_{end}"] for end in ("low", "high"))
    return number(row[name], lambda value: f"{value:.2g} ({low:.2g} to {high:.2g})")


def _points(study: Study) -> Table:
    keys = list(study.manifest["design"]["points"][0])
    shown: pd.DataFrame = spreads(study, *sweep_page.SHOWN)
    rows = [
        [
            number(point["point"], count),
            *(text(point[key]) if isinstance(point[key], str) else number(point[key], "{:g}".format) for key in keys),
            number(point["replications"], count),
            *(mean(row, figure, words) for figure, (_, words) in sweep_page.SHOWN.items()),
        ]
        for point, row in zip(records(study.points), records(shown), strict=True)
    ]
    heads = ("point", *keys, "runs", *(words for words, _ in sweep_page.SHOWN.values()))
    return Table("Points", heads, rows, MEANS.format("point"))
