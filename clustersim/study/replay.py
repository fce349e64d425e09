"""A real run's restarts counted under any loader, without the clock: what would the model have seen?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from clustersim.figures import data_figures
from clustersim.history import HOUR_NS, History, Leg, Refused
from clustersim.loaders.build import loader_of
from clustersim.loaders.follow import Follower
from clustersim.loaders.taken_out import wanders
from clustersim.run import Run
from clustersim.scenario import Scenario, ScenarioError, load_scenario
from clustersim.scenario.errors import problem
from clustersim.simulation import orders_for
from clustersim.study.league import by_damage, entries, figures_of, shards_given
from clustersim.study.provenance import provenance
from clustersim.study.restarts import MOST_STEPS, Restart, Restarts, read_restarts
from clustersim.study.store import DirectoryRefused, make_directory, write_whole
from clustersim.study.sweep import Source

TOLD = "replay.json"
"""The file of a stored replay that says what its tables rest on, written last."""

# What a leg has besides is known to the clock alone.
_UNTIMED = Leg._make([0] * len(Leg._fields))


class Replay(NamedTuple):
    """What a run's restarts come to under loaders."""

    table: pd.DataFrame
    """One row a loader, the least damage first; see `replay`."""
    damage: pd.DataFrame | None
    """Of a single loader: one row a restart of replication 0, what it threw away and the damage so far. Else None."""
    restarts: int
    """How many the file tells of."""
    assumed: tuple[str, ...]
    """What the file does not say, a sentence each."""
    provenance: Mapping[str, Any]
    """The scenario, seed, replications and versions that it rests on, in JSON values."""


def replay(
    history: str | PathLike[str],
    scenario: Source,
    loaders: Sequence[str] | None = (),
    replications: int = 20,
    *,
    seed: int | None = None,
    out: str | PathLike[str] | None = None,
    progress: Callable[[float], object] | None = None,
) -> Replay:
    """Count the damage of a real run's restarts under loaders. The clock plays no part.

    The table has the columns preset ("" for the scenario's own loader), order, shards_given (0: the scenario's own),
    replications (each with other orders), unfinished (of them: the loader refused to come back), for each of
    `study.league.FIGURES` its mean and <figure>_ci95_low and <figure>_ci95_high, extra_views_per_failure and
    missing_views_per_failure, stopped: why it first refused to come back, and refused: why it could not be had with the
    scenario's data; else empty.

    Args:
        history: a CSV file; `study.restarts` says its columns.
        scenario: what was trained, on what data and replicas, or what `load_scenario` takes. Its failures, checkpoints
            and times are not looked at.
        loaders: presets to count under; all of them if None, the scenario's own loader if empty.
        replications: of each loader, at least 1.
        seed: instead of the scenario's own `run.seed`.
        out: a new or an empty directory to store the tables in: replay.parquet, of a single loader damage.parquet, and
            what they rest on as replay.json.
        progress: called now and then with the number of counted runs, out of loaders * replications.

    Raises:
        ScenarioError: the file or the scenario is wrong, they do not fit together, there is no such preset, or the
            scenario allows none of them.
        ValueError: there would be no replication.
        DirectoryRefused: `out` holds something, or cannot be made; a ValueError.
        OSError: `out` cannot be written.
    """
    if replications < 1:
        raise ValueError(f"replications: expected at least 1, found {replications}")
    base, restarts = load_scenario(scenario), read_restarts(history)
    _check(restarts, base)
    chosen = entries(base, loaders) if loaders is None or loaders else {"": base}
    errors = [entry for entry in chosen.values() if isinstance(entry, ScenarioError)]
    if len(errors) == len(chosen):
        raise errors[0]
    if out is not None and make_directory(Path(out)):
        raise DirectoryRefused(f'expected a new or an empty directory, found "{out}" with something in it')
    rows: list[dict[str, object]] = []
    damage = None
    for place, (name, entry) in enumerate(chosen.items()):
        if isinstance(entry, ScenarioError):
            nothing = {"order": "", "shards_given": 0, "replications": 0, "unfinished": 0, "stopped": ""}
            rows.append({"preset": name, **nothing, "refused": str(entry)})
            continue
        figures = []
        for replication in range(replications):
            run = run_of(restarts, entry, replication, seed)
            figures.append({**data_figures(run), **_ending(run)})
            # A count for each restart takes as many times as long: not where loaders are compared.
            if replication == 0 and len(chosen) == 1:
                damage = _damage(run, restarts)
            if progress is not None:
                progress(place * replications + replication + 1)
        rows.append({"preset": name, **_row(entry, base, pd.DataFrame(figures))})
    found = Replay(
        by_damage(pd.DataFrame(rows)),
        damage,
        sum(row.step_restarted_from is not None for row in restarts.rows),
        tuple(_assumed(restarts, base)),
        provenance(base, base.run.seed if seed is None else seed, replications),
    )
    if out is not None:
        _store(found, Path(out))
    return found


def _store(found: Replay, directory: Path) -> None:
    for name, table in (("damage", found.damage), ("replay", found.table)):
        if table is not None:
            write_whole(directory / f"{name}.parquet", table.to_parquet)
    told = {name: getattr(found, name) for name in ("restarts", "assumed", "provenance")}
    write_whole(directory / TOLD, lambda temporary: temporary.write_text(json.dumps(told, indent=2) + "\n", "utf-8"))


def load_replay(directory: str | PathLike[str]) -> Replay:
    """What `replay` stored in a directory.

    Raises:
        OSError: there is none.
    """
    where = Path(directory)
    told = json.loads((where / TOLD).read_text("utf-8"))
    damage = where / "damage.parquet"
    return Replay(
        pd.read_parquet(where / "replay.parquet"),
        pd.read_parquet(damage) if damage.exists() else None,
        told["restarts"],
        tuple(told["assumed"]),
        told["provenance"],
    )


def run_of(restarts: Restarts, scenario: Scenario, replication: int = 0, seed: int | None = None) -> Run:
    """A run that was interrupted as the file says, with the scenario's loader; times are 0 where the file has none.

    It ends earlier where the loader refuses to come back, or is at the end of its epochs.
    """
    number = scenario.run.seed if seed is None else seed
    loader = loader_of(scenario, *orders_for(scenario, number, replication))
    follower, history = Follower(loader), History()
    start, degree, begin_ns = 0, scenario.sizes.data, 0
    for row in _to_the_end(restarts, scenario):
        left = follower.begin(start, degree)
        if isinstance(left, Refused):
            history.outcome, history.reason = "refused", left.reason
            break
        stop = row.step_reached if left is None else min(row.step_reached, start + left)
        at_its_end = left is not None and stop == start + left
        kept = stop if at_its_end or row.step_restarted_from is None else row.step_restarted_from
        is_last = at_its_end or row.step_restarted_from is None
        leg = _UNTIMED._replace(
            leg=len(history.legs),
            start=start,
            stop=stop,
            read=stop if is_last else stop + 1,
            kept=kept,
            data=degree,
            nodes=scenario.sizes.nodes(degree),
            begin_ns=begin_ns,
            end_ns=_ns(row.interrupted_h),
            ended_by="end of run" if is_last else "restart",
        )
        follower.end(leg.stop, leg.read)
        history.legs.append(leg)
        if is_last:
            # A run of epochs that was left before their end is not held to the rest of them.
            history.outcome = "done" if left is None or at_its_end else "limit"
            break
        start, degree, begin_ns = kept, row.data or degree, _ns(row.restarted_h)
    return Run(scenario, number, replication, history, follower.reads(history), loader)


def _ns(hours: float | None) -> int:
    return round((hours or 0) * HOUR_NS)


def _to_the_end(restarts: Restarts, scenario: Scenario) -> Iterator[Restart]:
    """The rows, and a last one for the run's end if the file has none; of a run by epochs the loader tells it."""
    yield from restarts.rows
    if restarts.rows[-1].step_restarted_from is not None:
        end = scenario.sizes.steps if scenario.sizes.epochs is None else MOST_STEPS
        assert end is not None  # `_check` refuses a run by wall time
        yield Restart(end, None, None, None, None)


def _check(restarts: Restarts, base: Scenario) -> None:
    """Refuse rows that the scenario does not allow."""
    sizes = base.sizes
    ended = restarts.rows[-1].step_restarted_from is None
    for number, row in enumerate(restarts.rows, 1):
        if row.data is not None and not sizes.degrees_ok(row.data):
            divisors = f", divisors of {sizes.divided}" if sizes.uneven_refused else ""
            expected = f"replicas that parallelism allows (from {sizes.min_data} to {sizes.data}{divisors})"
            raise restarts.wrong(number, "data", expected, str(row.data))
        if sizes.epochs is None and sizes.steps is not None and row.step_reached > sizes.steps:
            raise restarts.wrong(
                number, "step_reached", f"at most {sizes.steps}, the steps of the run", str(row.step_reached)
            )
    if base.run.wall_time is not None and not ended:
        expected = (
            "a last row with the step that the run came to, and no step_restarted_from, as run.wall_time names none"
        )
        raise problem(restarts.source, f"row {len(restarts.rows)}", expected, "a restart")


def _ending(run: Run) -> dict[str, object]:
    """How many restarts came about, and why the loader did not come back from another; empty if it did."""
    history = run.history
    refused = history.outcome == "refused"
    return {"interruptions": len(history.legs) - (not refused), "stopped": history.reason if refused else ""}


def _row(scenario: Scenario, base: Scenario, runs: pd.DataFrame) -> dict[str, object]:
    """A loader's row of the table."""
    refusing = runs.loc[runs["stopped"] != "", "stopped"]
    return {
        "order": scenario.data.order,
        "shards_given": shards_given(scenario, base),
        "replications": len(runs),
        "unfinished": len(refusing),
        **figures_of(runs),
        "stopped": refusing.iloc[0] if len(refusing) else "",
        "refused": "",
    }


def _damage(run: Run, restarts: Restarts) -> pd.DataFrame:
    """`Run.damage` as far as a file of restarts tells it."""
    untold = ["cause"]
    for column in ("interrupted_h", "restarted_h"):
        if all(getattr(row, column) is None for row in restarts.rows):
            untold.append(column)
    return run.damage.drop(columns=untold)


def _assumed(restarts: Restarts, base: Scenario) -> Iterator[str]:
    """What the file does not say, a sentence each."""
    first, last, sizes = restarts.rows[0], restarts.rows[-1], base.sizes
    done = first.step_reached
    yield f"Steps count from 0: at row 1 the first {done} were done, and the batch of step {done} had been read."
    yield "Each restart took the loader's state from a checkpoint of the step that it restarted from."
    if any(row.data for row in restarts.rows):
        yield f"The first leg ran on {sizes.data} replicas, and where a row has none the number stayed."
    else:
        yield f"All legs ran on {sizes.data} replicas."
    if last.step_restarted_from is None:
        yield f"The run ended at step {last.step_reached}."
    elif sizes.epochs is None:
        yield f"After the last restart the run went on to its end, step {sizes.steps}."
    else:
        of = "" if base.data.corpora is None else f" of {base.run.epochs_of or 'the corpus that came to it first'}"
        yield f"After the last restart the run went on to the end of epoch {sizes.epochs}{of}."
    yield "The samples, their order and the batch are the scenario's."
    if base.loader.carry == "lost":
        yield "At each restart packers lost what they held of documents: tokens, and no views."
    if base.poison is not None:
        if wanders(base):
            yield "Nothing was done about the scenario's poison: which restarts it caused is not known."
        else:
            yield "What the policy for the scenario's poison takes out of the steps was not trained on."
