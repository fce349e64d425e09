"""What a worker does: replications of one point, or of several that share their histories."""

import time
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from clustersim.run import Run
from clustersim.scenario import Scenario
from clustersim.simulation import recount, simulate
from clustersim.study.provenance import versions

Row = dict[str, Any]
"""A point's replication in JSON values: point, replication, seed, outcome, reason, exact; every figure of the summary;
time_<bucket>_h for every time bucket; ledger: its columns, each a list."""


class Task(NamedTuple):
    """Replications [first, stop) of points that share a history; their numbers and scenarios."""

    points: tuple[tuple[int, Scenario], ...]
    first: int
    stop: int
    seed: int | None
    patience_s: float
    """After this long the worker hands back what it has, at least one replication."""


class Done(NamedTuple):
    """What came of a task: the rows of its first replications, and the versions that made them."""

    rows: list[Row]
    stop: int
    """The replications below this are done."""
    versions: Mapping[str, str]


def work(task: Task) -> Done:
    """Simulate a task's replications, one after the other, until they are done or patience is at its end."""
    until = time.monotonic() + task.patience_s
    rows: list[Row] = []
    for replication in range(task.first, task.stop):
        (number, scenario), *others = task.points
        run = simulate(scenario, replication, task.seed)
        rows.append(_row(number, run))
        rows += [_row(other, recount(run, beside)) for other, beside in others]
        if time.monotonic() >= until:
            break
    return Done(rows, replication + 1, _versions())


def _row(point: int, run: Run) -> Row:
    return {
        "point": point,
        "replication": run.replication,
        "seed": run.seed,
        "outcome": run.history.outcome,
        "reason": run.history.reason,
        "exact": run.exact,
        **run.summary(),
        **{f"time_{bucket}_h": hours for bucket, hours in run.time_h.items()},
        "ledger": {name: column.tolist() for name, column in run.account.table._asdict().items()},
    }


@cache
def _versions() -> dict[str, str]:
    return versions()
