"""The table of a sweep's points: what each sets, how many replications it got, whether they are enough."""

import json
from collections.abc import Mapping, Sequence
from numbers import Real

import pandas as pd

from clustersim.scenario.quantities import DURATION, split
from clustersim.scenario.scenario import Scenario
from clustersim.study.designs import Design
from clustersim.study.gathered import Gathered
from clustersim.study.rule import Rule


def points_table(
    design: Design, scenarios: Sequence[Scenario], groups: Sequence[Sequence[int]], rule: Rule, gathered: Gathered
) -> pd.DataFrame:
    """One row a point: point, the keys that vary, replications, converged, history, digest.

    converged: whether the rule's interval became narrow enough; missing where the rule asks for none. history: the
    point whose clock was run; another than the point itself where both share a history, and this one was recounted.
    """
    count = len(scenarios)
    first = {point: group[0] for group in groups for point in group}
    asked = rule.figure is not None
    converged = [rule.narrow(gathered.values(point)) if asked else None for point in range(count)]
    return pd.DataFrame(
        {
            "point": range(count),
            **key_columns(design.points),
            "replications": [gathered.replications(point) for point in range(count)],
            "converged": pd.array(converged, dtype="boolean"),
            "history": [first[point] for point in range(count)],
            "digest": [scenario.digest for scenario in scenarios],
        }
    )


def key_columns(points: Sequence[Mapping[str, object]]) -> dict[str, pd.Series]:
    """A column a key, as the points set it; numbers if all of them are, else texts.

    Durations have a second column in seconds: `checkpoint.every_s` beside `checkpoint.every`.
    """
    columns: dict[str, pd.Series] = {}
    for key in points[0]:
        values = [point[key] for point in points]
        plain = all(isinstance(value, Real) and not isinstance(value, bool) for value in values)
        columns[key] = pd.Series(values) if plain else pd.Series([_text(value) for value in values], dtype="str")
        seconds = [_seconds(value) for value in values]
        if None not in seconds:
            columns[f"{key}_s"] = pd.Series(seconds, dtype="float64")
    return columns


def _text(value: object) -> str:
    """A value as a column shows it; an empty text is a key that was removed."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _seconds(value: object) -> float | None:
    parts = split(value)
    if parts is None or parts[1] not in DURATION.factors:
        return None
    return float(parts[0] * DURATION.factors[parts[1]] / 10**9)
