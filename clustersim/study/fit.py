"""Laws fitted to the faults of a trace, and the part of a scenario that says them."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from pydantic import ValidationError

from analysis.fit import LEAST_ENDED, Estimate, Fit, fit, median_of
from analysis.lives import Durations, durations
from clustersim.history import HOUR_NS
from clustersim.scenario.errors import problem, translate
from clustersim.scenario.traced import Fault, Traced, TraceError, read_faults

# Durations that differ by less than this share are one: times in a file are rounded.
_SAME = 1e-6
# Below this a difference in Akaike's criterion says little (Burnham and Anderson, 2002, section 2.6).
_NO_WORSE = 2.0


class Fitted(NamedTuple):
    """What the faults of one cause come to."""

    cause: str
    """The trace's own word, or the name of its file."""
    faults: int
    durations: Durations
    lives: list[Fit]
    """The best by Akaike's criterion first; at least the exponential law."""
    repairs: list[Fit]
    """The same; empty if no repair ended, or none took any time."""


def fit_trace(path: Path, mapping: Mapping[str, object], new_at_start: bool = False) -> list[Fitted]:
    """Fit the times between failures of a node, and the repair times, of a trace.

    Args:
        path: a CSV, JSON or Parquet file of faults.
        mapping: how it is read: what stands beside `trace` in a scenario's [[failures]]. If columns.cause is among it,
            each of its causes is fitted by itself, as a clock of its own that the faults of others do not stop.
        new_at_start: nodes are new when the trace begins; else they had been running for a time that nobody knows.

    Returns:
        One entry a cause, that of most faults first.

    Raises:
        ScenarioError: the mapping is wrong, or the trace cannot be read by it.
        ValueError: a cause has no life that ended.
    """
    document = {"cause": path.stem, "trace": path.name, **mapping}
    try:
        traced = Traced.model_validate(document)
        faults = read_faults(path.parent, traced)
    except ValidationError as error:
        raise translate(error, str(path), document) from None
    except TraceError as error:
        raise problem(str(path), error.key, error.expected, error.found) from None
    by_cause: dict[str, list[Fault]] = {}
    for fault in faults:
        by_cause.setdefault(fault.cause or traced.cause, []).append(fault)
    if not by_cause:
        raise problem(str(path), "", "faults within the length of the trace", "none")
    most_first = sorted(by_cause.items(), key=lambda entry: -len(entry[1]))
    return [_fitted(cause, own, traced, new_at_start) for cause, own in most_first]


def _fitted(cause: str, faults: Sequence[Fault], traced: Traced, new_at_start: bool) -> Fitted:
    table = pd.DataFrame(
        {
            "node": [fault.node for fault in faults],
            "start_h": [fault.start_ns / HOUR_NS for fault in faults],
            "end_h": [fault.end_ns / HOUR_NS for fault in faults],
        }
    )
    told = durations(table, traced.nodes, traced.length / HOUR_NS, new_at_start)
    if not told.lives["ended"].any():
        raise ValueError(f'expected a fault after the begin of the trace, found none of "{cause}"')
    ended = told.repairs[told.repairs["ended"]]
    repairs = fit(told.repairs) if (ended["hours"] > 0).any() else []
    return Fitted(cause, len(faults), told, fit(told.lives), repairs)


def chosen(fits: Sequence[Fit]) -> Fit:
    """The best law; the exponential one if by Akaike's criterion it is worse by less than 2, as it has no shape."""
    return next((each for each in fits if each.shape is None and each.aic < fits[0].aic + _NO_WORSE), fits[0])


def fragment(fitted: Sequence[Fitted]) -> str:
    """The chosen laws as [[failures]] of a scenario, with the 95 % intervals in comments."""
    return "\n".join(line for each in fitted for line in _failure(each)).rstrip() + "\n"


def _failure(fitted: Fitted) -> Iterator[str]:
    life = chosen(fitted.lives)
    rate = Estimate(*(_per_1000_node_days(mean_h) for mean_h in life.mean_h))
    yield "[[failures]]"
    yield f"cause = {json.dumps(fitted.cause, ensure_ascii=False)}"
    yield f'rate = "{_digits(rate.value)} per 1000 node-days"    # 95 %: {_between(rate.ci95_high, rate.ci95_low)}'
    shape, comment = _shape(life)
    yield f'law = {{ type = "{life.law.name}"{shape} }}{comment}'
    yield from _repair(fitted)
    yield ""


def _repair(fitted: Fitted) -> Iterator[str]:
    """The line of the repair; none if no repair took any time."""
    repairs = fitted.durations.repairs
    ended = repairs.loc[repairs["ended"], "hours"]
    if ended.empty:
        yield 'repair = "never"    # none ended within the trace'
    elif len(ended) >= LEAST_ENDED and repairs["hours"].max() - ended.min() <= _SAME * ended.min():
        yield f'repair = "{_digits(ended.min())} h"    # all of them'
    elif fitted.repairs:
        best = chosen(fitted.repairs)
        shape, comment = _shape(best)
        yield f'repair = {{ type = "{best.law.name}", {_located(best)}{shape} }}{comment}'


def _per_1000_node_days(mean_h: float) -> float:
    return 24_000 / mean_h if mean_h else math.inf


def _located(repair: Fit) -> str:
    """A lognormal repair by its median, which the long ones do not move; others by their mean."""
    if repair.law.name == "lognormal" and repair.shape is not None:
        return f'median = "{_digits(median_of(repair.mean_h.value, repair.shape.value))} h"'
    return f'mean = "{_digits(repair.mean_h.value)} h"'


def _shape(law: Fit) -> tuple[str, str]:
    """The key of a law's shape, and its interval as a comment; empty if it has none."""
    if law.shape is None:
        return "", ""
    value, low, high = law.shape
    return f", {law.law.shape} = {_digits(value)}", f"    # 95 %: {_between(low, high)}"


def _between(low: float, high: float) -> str:
    return f"{_digits(low)} to {_digits(high)}"


def _digits(value: float) -> str:
    """Four significant digits, never an exponent."""
    return np.format_float_positional(value, precision=4, fractional=False, trim="-")
