"""The result of a sweep, for people and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from analysis.sensitivity import responses_of, tornado
from clustersim.cli.output import table
from clustersim.cli.words import count, hours, plural, share
from clustersim.study.best import Best, best_by

if TYPE_CHECKING:
    from clustersim.study.study import Study

SHOWN = {
    "ettr": ("useful share of time", share),
    "wall_h": ("wall time", hours),
    "extra_views": ("extra views", count),
    "missing_views": ("missing views", count),
    "rolled_back_steps": ("steps rolled back", count),
}
"""What is shown of each point, and how; the tables have every figure."""
_ROWS = 100


def sweep_page(study: Study, name: str) -> list[RenderableType]:
    """The parts of the page, from top to bottom."""
    points, keys = study.points, list(study.manifest["design"]["points"][0])
    told = study.summary(*SHOWN).set_index(["point", "figure"])
    converged = points["converged"]
    columns = [*keys, "runs", *(["narrow enough"] if converged.notna().any() else [])]
    rows = table("point", *columns, *(words for words, _ in SHOWN.values()), left=1 + len(keys))
    for point in points.to_dict("records")[:_ROWS]:
        cells = [str(point["point"]), *(str(point[key]) for key in keys), str(point["replications"])]
        if len(columns) > len(keys) + 1:
            cells.append("yes" if point["converged"] else "no")
        for figure, (_, words) in SHOWN.items():
            if (point["point"], figure) in told.index:
                spread = told.loc[(point["point"], figure)]
                half = (spread["ci95_high"] - spread["ci95_low"]) / 2
                cells.append(words(spread["mean"]) + (f" ± {words(half)}" if half else ""))
            else:  # of a single run
                cells.append(words(study.table.loc[study.table["point"] == point["point"], figure].mean()))
        rows.add_row(*cells)
    head = f"{name} (seed {study.manifest['seed']}, {plural(len(points), 'point')}, {plural(len(study.table), 'run')})"
    parts: list[RenderableType] = [Text(head, style="bold"), "", answer(study), "", rows, ""]
    if len(points) > _ROWS:
        parts.append(f"{plural(len(points) - _ROWS, 'more point')} in the tables.")
    parts.append("Means ± half of their 95 % intervals; every point met the same failures.")
    unsure = [cause["cause"] for cause in study.manifest["scenario"]["failures"] if cause.get("uncertain")]
    if unsure:
        parts.append(
            f"More replications narrow the intervals, and not what is unknown of the rate of {', '.join(unsure)}: "
            "`clustersim run` of a point tells the two apart."
        )
    shared = int((points["history"] != points["point"]).sum())
    if shared:
        parts.append(f"{plural(shared, 'point')} recounted over the history of another that differs in loader or data.")
    return parts


def answer(study: Study) -> str:
    """Where the most of the time is useful, and where the data is damaged least, each with its interval.

    Points that end by time come to different steps, so damage is told for each planned view. Where points were drawn
    from ranges, on which key the useful share depends most comes first.
    """
    table = study.table.set_index(["point", "replication"])
    damage = (table["extra_views"] + table["missing_views"]) / table["planned_views"].where(
        table["planned_views"] > 0, 1
    )
    useful, sound = best_by(table["ettr"]), best_by(damage, most=False)
    most = f"{_depends(study)}Most useful share of time: {_with_half(useful)}{_at(study, useful)}."
    if not damage.any():
        return f"{most} Nothing is seen twice or missed{' at any point' if len(study.points) > 1 else ''}."
    least = f"{_with_half(sound)} of the planned views (extra and missing together)"
    return f"{most} Least damage: {least}{_at(study, sound)}."


def _depends(study: Study) -> str:
    """The key of the widest swing of the useful share of time; empty where points were not drawn from ranges."""
    design = study.manifest["design"]
    if "ranges" not in design or study.table["point"].nunique() < len(design["points"]):
        return ""
    row = tornado(responses_of(design, study.table, "ettr")).iloc[0]
    if not row["swing_ci95_low"] * row["swing_ci95_high"] > 0:
        return "Too few points to tell on which key the useful share of time depends. "
    ends = f"from {share(row['at_low'])} at {row['low']} to {share(row['at_high'])} at {row['high']}"
    near, far = sorted((abs(row["swing_ci95_low"]), abs(row["swing_ci95_high"])))
    return (
        f"The useful share of time depends most on {row['key']}: {ends} (95 %: {share(near)} to {share(far)} apart). "
    )


def _with_half(found: Best) -> str:
    return share(found.mean) + (f" ± {share(found.half_width)}" if found.half_width else "")


def _at(study: Study, found: Best) -> str:
    """What the best point sets, and how many others chance alone may have put behind it; empty for an only point."""
    values = study.manifest["design"]["points"]
    if len(values) == 1:
        return ""
    point = study.points.set_index("point").loc[found.point]
    said = " at " + ", ".join(f"{key} = {point[key]}" for key in values[0])
    if not found.as_good:
        return said
    others = len(found.as_good)
    number = "all other points" if others == len(values) - 1 > 1 else plural(others, "other point")
    return f"{said} (as good, within 95 % intervals: {number})"


def as_json(study: Study, name: str) -> dict[str, Any]:
    """The result in JSON values: each point with the spread of every figure that it has."""
    spreads: dict[int, dict[str, dict[str, float]]] = {}
    for row in study.summary().to_dict("records"):
        point, figure = row.pop("point"), row.pop("figure")
        spreads.setdefault(point, {})[str(figure)] = {str(key): row[key] for key in row if key != "replications"}
    told = [
        {
            "point": point["point"],
            "values": values,
            "replications": point["replications"],
            "converged": bool(point["converged"]) if study.manifest["rule"].get("figure") else None,
            "history": point["history"],
            "summary": spreads.get(point["point"], {}),
        }
        for point, values in zip(study.points.to_dict("records"), study.manifest["design"]["points"], strict=True)
    ]
    return {"scenario": name, "seed": study.manifest["seed"], "points": told, "provenance": dict(study.manifest)}
