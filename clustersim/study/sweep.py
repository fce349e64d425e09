"""A sweep: many points of one scenario, each replicated over the same failures."""

import contextlib
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from clustersim.scenario import Scenario, load_scenario
from clustersim.study.designs import Design, Values, design_of
from clustersim.study.drive import Drive
from clustersim.study.engines import EngineName, engine_of
from clustersim.study.gathered import Gathered
from clustersim.study.histories import groups
from clustersim.study.points import key_columns, points_table
from clustersim.study.provenance import versions
from clustersim.study.rule import Rule, rule_of
from clustersim.study.study import Study
from clustersim.study.study_store import StudyStore
from clustersim.study.work import Row

Source = Scenario | str | PathLike[str] | Mapping[str, Any]


def replicate(
    scenario: Source,
    replications: int | None = None,
    *,
    until: Mapping[str, object] | None = None,
    seed: int | None = None,
    workers: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> Study:
    """Replications of one scenario: a sweep of a single point; see `sweep`."""
    return sweep(scenario, {}, replications, until=until, seed=seed, workers=workers, progress=progress)


def sweep(
    scenario: Source,
    vary: Design | Mapping[str, Sequence[object]] | Sequence[Values],
    replications: int | None = None,
    *,
    until: Mapping[str, object] | None = None,
    seed: int | None = None,
    engine: EngineName = "local",
    workers: int | None = None,
    scheduler: str | None = None,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    progress: Callable[[float], object] | None = None,
) -> Study:
    """Simulate every point of a design, each replication over the same failures at all points.

    The tables are the same bytes whatever the engine, its workers and the order in which they finish. Points that
    differ in the loader or the data alone share each replication's history, if their loaders do not act on time.

    Args:
        scenario: a scenario, or what `load_scenario` takes.
        vary: lists of values by dotted key (every combination), a list of points, or a design (`zipped`,
            `latin_hypercube`, `sobol`, `saltelli`). A value of None removes the key.
        replications: of each point.
        until: instead: {"figure": "ettr", "relative": 0.01, "max": 500}, or "absolute" in the figure's unit. A point
            has enough replications as soon as half of the 95 % interval of the figure's mean is at most that; "max" is
            500 if not said.
        seed: instead of the scenario's own `run.seed`.
        engine: "local", or "dask".
        workers: processes on this machine, 1 for this one alone; all cores if None.
        scheduler: of Dask: the address or the scheduler file of a running one.
        out: a directory to store the study in as it goes.
        resume: go on with the study that `out` holds, if it does.
        progress: called now and then with the number of rows (replications of points) that are done, out of points *
            replications (or "max").

    Raises:
        ScenarioError: the scenario, or it at a point, is wrong.
        ValueError: another argument is.
        DirectoryRefused: `out` cannot be used; a ValueError.
        EngineError: the engine is lost; what was finished is stored.
        OSError: `out` cannot be written; what was finished before is stored.
    """
    if resume and out is None:
        raise ValueError("resume: expected a directory that holds the study (out), found none")
    base = load_scenario(scenario)
    design, rule = design_of(vary), rule_of(replications, until)
    scenarios = [load_scenario(base, values) for values in design.points]
    sharing = groups(scenarios, seed)
    manifest = _manifest(base, design, scenarios, rule, seed)

    def study(gathered: Gathered) -> Study:
        points = points_table(design, scenarios, sharing, rule, gathered)
        table = gathered.table()
        for place, (key, column) in enumerate(key_columns(design.points).items(), 1):
            table.insert(place, key, column.take(table["point"].to_numpy(np.int64)).array)
        return Study(manifest, table, gathered.ledger(), points)

    def drive(gathered: Gathered, keep: Callable[[Sequence[Row]], object]) -> None:
        loop = Drive(scenarios, sharing, rule, seed, gathered, keep, progress)
        with engine_of(engine, workers, scheduler) as running:
            loop.run(running)

    if out is None:
        gathered = Gathered(rule.figure)
        drive(gathered, lambda rows: None)
        return study(gathered)

    with StudyStore(Path(out), manifest, resume) as store:

        def finish(gathered: Gathered) -> Study:
            finished = study(gathered)
            store.finish(finished)
            return finished

        gathered = Gathered(rule.figure)
        store.load(gathered)
        try:
            drive(gathered, store.keep)
        except BaseException:
            # A full disk has no room for tables either: the rows stay as they are.
            with contextlib.suppress(OSError):
                # From the disk: it has every finished row, also where Ctrl-C came in the midst of taking one in.
                kept = Gathered(rule.figure)
                store.load(kept)
                finish(kept)
            raise
        return finish(gathered)


def _manifest(
    base: Scenario, design: Design, scenarios: Sequence[Scenario], rule: Rule, seed: int | None
) -> dict[str, Any]:
    """What a study depends on, as JSON values; no time of day, so that the same study leaves the same bytes."""
    manifest = {
        "scenario": base.resolved(),
        "seed": base.run.seed if seed is None else seed,
        "design": design.as_json(),
        "digests": [scenario.digest for scenario in scenarios],
        "rule": rule.as_json(),
        "versions": versions(),
        "platform": platform.platform(),
    }
    # As it reads back: lists for tuples, plain numbers for those of numpy.
    read_back: dict[str, Any] = json.loads(json.dumps(manifest, default=_plain))
    return read_back


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"expected values that JSON knows, found {type(value).__name__}")
