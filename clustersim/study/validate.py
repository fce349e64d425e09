"""The published figures, simulated: ours beside each, and the statistic that decides whether they agree."""

import math
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustersim.scenario import Scenario, load_scenario
from clustersim.scenario.errors import show
from clustersim.scenario.load import SHIPPED
from clustersim.study.store import DirectoryRefused, make_directory, write_whole
from clustersim.study.sweep import sweep
from clustersim.study.validate_replay import replayed
from clustersim.study.validate_rows import ROWS, Check, Target

TABLE = "validation.parquet"
"""The table beside the studies that it rests on."""

REPLICATIONS, QUICK_REPLICATIONS = 30, 10
_MOST_ERRORS = 3.0
_NOT_RUN = dict.fromkeys(("expected", "expected_error", "ours", "error", "statistic", "bound"), math.nan)


def validate(
    names: Sequence[str] | None = None,
    *,
    quick: bool = False,
    seed: int | None = None,
    workers: int | None = None,
    traces: str | PathLike[str] | None = None,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    progress: Callable[[float], object] | None = None,
) -> pd.DataFrame:
    """Hold the simulator against the published figures.

    Args:
        names: of the rows, as in ["V2", "V5"]; all if None.
        quick: 10 replications of each scenario instead of 30.
        seed, workers: as in `sweep`.
        traces: the directory of the traces that some rows replay; those rows are not run if None.
        out: a directory for the study of each row, and in the end the table as validation.parquet.
        resume: go on with what `out` holds, if it does; it may be asked of other rows, or of more replications.
        progress: called now and then with the number of finished runs, out of `runs_of(names, quick)`.

    Returns:
        One row a published figure: row; source; what; published, as printed; expected and expected_error, what ours is
        compared with; ours and error, a mean and its standard error; replications; decides, see `Decides`; statistic
        and bound, on which side of which it has to be; verdict ("pass", "fail", "not run"); reason, of what is
        not run, and of what fails as its runs did not finish. Numbers are NaN where nothing was run.

    Raises:
        ValueError: there is no such row.
        ScenarioError: a trace cannot be read.
        DirectoryRefused: `out` cannot be used; a ValueError.
        OSError: `out` cannot be written.
    """
    chosen = rows_of(names)
    if out is not None:
        _check_directory(Path(out), resume)
    replications, done = QUICK_REPLICATIONS if quick else REPLICATIONS, 0
    rows: list[dict[str, Any]] = []
    for row in chosen:
        if row.trace is None:
            tell = None if progress is None else _counted_from(done, progress)
            values = [point.values for point in row.points]
            place = None if out is None else Path(out) / row.name
            kept = resume and place is not None
            study = sweep(
                _file(row), values, replications, seed=seed, workers=workers, out=place, resume=kept, progress=tell
            )
            done += len(row.points) * replications
            rows += _unless_unfinished(_decided(row, [own for _, own in study.table.groupby("point")]), study.table)
        elif traces is None:
            reason = f"needs the trace {row.trace}, which does not come with clustersim"
            rows += [_not_run(row, target, reason) for point in row.points for target in point.targets]
        else:
            rows += _decided(row, [replayed(_scenario_of_trace(row, Path(traces)))])
    table = pd.DataFrame(rows)
    if out is not None:
        write_whole(Path(out) / TABLE, table.to_parquet)
    return table


def _check_directory(directory: Path, resume: bool) -> None:
    """See that a directory is empty, or with `resume` holds validations alone. Raises DirectoryRefused."""
    entries = make_directory(directory)
    if entries and not resume:
        raise DirectoryRefused(f'expected a new or an empty directory, found "{directory}" with {len(entries)} entries')
    others = sorted({*entries} - {TABLE, f".{TABLE}.part", *(row.name for row in ROWS)})
    if others:
        raise DirectoryRefused(f'expected a directory of validations, found "{directory}" with {others[0]}')


def rows_of(names: Sequence[str] | None = None) -> list[Check]:
    """The rows of these names, in the order of the table; all if None.

    Raises:
        ValueError: there is no row of a name.
    """
    known = {row.name: row for row in ROWS}
    for name in names or ():
        if name not in known:
            raise ValueError(f"expected rows of {', '.join(known)}, found {show(name)}")
    return [row for name, row in known.items() if names is None or name in names]


def runs_of(names: Sequence[str] | None = None, quick: bool = False) -> int:
    """How many runs the rows take, those of replayed traces left out."""
    points = sum(len(row.points) for row in rows_of(names) if row.trace is None)
    return points * (QUICK_REPLICATIONS if quick else REPLICATIONS)


def _file(check: Check) -> Path:
    return SHIPPED / "validation" / f"{check.scenario}.toml"


def _scenario_of_trace(check: Check, traces: Path) -> Scenario:
    assert check.trace is not None
    return load_scenario(_file(check), {"failures.0.trace": str((traces / check.trace).resolve())})


def _counted_from(done: int, progress: Callable[[float], object]) -> Callable[[float], object]:
    return lambda more: progress(done + more)


def _not_run(check: Check, target: Target, reason: str) -> dict[str, Any]:
    head = {"row": check.name, "source": check.source, "what": target.what, "published": target.published}
    return {**head, **_NOT_RUN, "replications": 0, "decides": "", "verdict": "not run", "reason": reason}


def _decided(check: Check, tables: Sequence[pd.DataFrame]) -> list[dict[str, Any]]:
    """The rows of a check; a table of replications for each of its points."""
    return [
        {
            "row": check.name,
            "source": check.source,
            "what": target.what,
            "published": target.published,
            **decide(target, np.asarray(table.eval(target.figure), dtype=np.float64)),
            "reason": "",
        }
        for point, table in zip(check.points, tables, strict=True)
        for target in point.targets
    ]


def _unless_unfinished(rows: list[dict[str, Any]], table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows, which fail if a run that they rest on did not come to its end."""
    unfinished = int((table["outcome"] != "done").sum())
    if not unfinished:
        return rows
    return [{**row, "verdict": "fail", "reason": f"{unfinished} of {len(table)} runs did not finish"} for row in rows]


def decide(target: Target, values: NDArray[np.float64]) -> dict[str, Any]:
    """Whether ours, float64[replications], agrees with what is published: the columns from expected to verdict."""
    ours, count = float(values.mean()), len(values)
    error = float(values.std(ddof=1)) / math.sqrt(count) if np.ptp(values) else 0.0
    off = ours - target.expected
    if target.decides == "digits":
        # In halves of the last printed digit.
        statistic, bound = off / (0.5 * 10.0 ** -len(target.published.partition(".")[2])), 1.0
        passes = abs(statistic) <= bound
    elif target.decides == "at least":
        from scipy.special import stdtrit

        statistic, bound = off / error, float(stdtrit(count - 1, 0.95))
        passes = statistic >= bound
    else:
        statistic, bound = off / math.hypot(error, target.error), _MOST_ERRORS
        passes = abs(statistic) <= bound
    return {
        "expected": target.expected,
        "expected_error": target.error,
        "ours": ours,
        "error": error,
        "statistic": statistic,
        "bound": bound,
        "replications": count,
        "decides": target.decides,
        "verdict": "pass" if passes else "fail",
    }
