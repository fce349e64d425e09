"""The result of a sweep, for people and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from clustersim.cli.output import table
from clustersim.cli.words import count, hours, plural, share

if TYPE_CHECKING:
    import pandas as pd

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
    shared = int((points["history"] != points["point"]).sum())
    if shared:
        parts.append(f"{plural(shared, 'point')} recounted over the history of another that differs in loader or data.")
    return parts


def answer(study: Study) -> str:
    """Where the most of the time is useful, and where the data is damaged least."""
    keys = list(study.manifest["design"]["points"][0])
    means = study.table.groupby("point")[["ettr", "extra_views", "missing_views"]].mean()
    useful, damage = means["ettr"], means["extra_views"] + means["missing_views"]

    def at(picked: pd.Series) -> str:
        """The first of the points picked, and how many are as good."""
        points = study.points.set_index("point").loc[picked.index[picked]]
        if not keys or len(points) == len(study.points):
            return ""
        others = f" (and at {plural(len(points) - 1, 'other point')})" if len(points) > 1 else ""
        return " at " + ", ".join(f"{key} = {points[key].iloc[0]}" for key in keys) + others

    most = f"Most useful share of time: {share(useful.max())}{at(useful == useful.max())}."
    return f"{most} Least damage: {count(damage.min())} extra and missing views{at(damage == damage.min())}."


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
