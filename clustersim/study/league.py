"""The league of loaders: every preset over the same failures, sorted by the damage that they do."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clustersim.scenario import Scenario, ScenarioError, load_scenario, preset_parts, presets
from clustersim.simulation import simulate
from clustersim.study.engines import EngineName
from clustersim.study.spread import spread
from clustersim.study.store import write_whole
from clustersim.study.study import Study
from clustersim.study.sweep import Source, sweep

PLAIN = ("restore", "epoch", "reshuffle", "unseen-remainder", "restart-run", "no-rewind")
"""The presets that name a way to come back, not a library; they come first among equals."""

FIGURES = ("extra_views", "missing_views", "never_seen_samples", "identical_steps_share")
"""The figures of the league, columns of its table."""

CHANGES = {"4_to_3": (4, 3), "2_to_4": (2, 4)}
"""The changes of the data-parallel degree that are tried: column's name after `degree_`, ranks before and after."""


TABLE = "league.parquet"
"""The league's table beside those of a stored study."""


class League(NamedTuple):
    """What every preset comes to."""

    table: pd.DataFrame
    """One row a preset, the least damage first; see `league`."""
    study: Study
    """The sweep that it rests on: a point for each preset that could be run, in the order of `presets`."""


def league(
    scenario: Source,
    names: Sequence[str] | None = None,
    replications: int = 20,
    *,
    seed: int | None = None,
    engine: EngineName = "local",
    workers: int | None = None,
    scheduler: str | None = None,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    progress: Callable[[float], object] | None = None,
) -> League:
    """Every loader preset as it ships over the same failures; other parts that the scenario's loader sets are left out.

    A preset that says that it needs another `data.order` than the scenario's is run in the first one of them that the
    scenario allows; one whose readers are more than the corpus has shards is given a shard for each. One that the
    scenario allows in no such way, such as one that is counted sample by sample over too large a corpus, gets a row
    that says why.

    The table has the columns preset, order, shards_given (0: the scenario's own), replications, unfinished (of them),
    for each of `FIGURES` its mean and
    <figure>_ci95_low and <figure>_ci95_high (NaN for a single replication), extra_views_per_failure and
    missing_views_per_failure (over all interruptions; NaN without any), resume_s (how long the loader takes to come
    back, a restart; NaN where the scenario names no storage, or nothing restarts), degree_4_to_3 and degree_2_to_4 (see
    `on_degree`), and refused: why it was not run, else empty. It is sorted by extra and missing views together, with
    runs that did not finish after those that did.

    Args:
        scenario: a scenario, or what `load_scenario` takes.
        names: of presets; all of them if None.
        replications: of each preset.
        seed, engine, workers, scheduler: as in `sweep`.
        out: a directory to store the study in as it goes, and in the end the league as league.parquet.
        resume: go on with the study that `out` holds, if it does.
        progress: called now and then with the number of runs that need not be waited for any more, out of presets *
            replications; those of a preset that cannot be run are among them from the start.

    Raises:
        ScenarioError: the scenario is wrong, there is no such preset, or it allows none of them.
        ValueError: another argument is.
        DirectoryRefused: `out` cannot be used; a ValueError.
        OSError: `out` cannot be written; what was finished before is stored.
    """
    base = load_scenario(scenario)
    fitted = entries(base, names)
    allowed = {name: entry for name, entry in fitted.items() if isinstance(entry, Scenario)}
    if not allowed:
        first = next(iter(fitted.values()))
        assert isinstance(first, ScenarioError)
        raise first
    points = [
        {"loader.preset": name, "data.order": entry.data.order, "data.shards": entry.data.shards}
        for name, entry in allowed.items()
    ]
    first_allowed = next(iter(allowed.values()))
    refused = (len(fitted) - len(allowed)) * replications
    tell = None if progress is None else lambda done: progress(done + refused)
    study = sweep(
        first_allowed,
        points,
        replications,
        seed=seed,
        engine=engine,
        workers=workers,
        scheduler=scheduler,
        out=out,
        resume=resume,
        progress=tell,
    )
    own = dict(zip(allowed, (rows for _, rows in study.table.groupby("point")), strict=True))
    rows = [_row(name, entry, base, own.get(name)) for name, entry in fitted.items()]
    table = by_damage(pd.DataFrame(rows))
    if out is not None:
        write_whole(Path(out) / TABLE, table.to_parquet)
    return League(table, study)


def entries(scenario: Source, names: Sequence[str] | None = None) -> dict[str, Scenario | ScenarioError]:
    """The scenario with each preset, an order that fits it and enough shards; or the error that says why not.

    Raises:
        ScenarioError: the scenario itself is wrong, or there is no such preset.
    """
    base = load_scenario(scenario)
    for name in names or ():
        preset_parts(name, base.source)
    return {name: _fitted(base, name) for name in (list(presets()) if names is None else dict.fromkeys(names))}


def _fitted(base: Scenario, name: str) -> Scenario | ScenarioError:
    own, needed = base.data.order, needed_orders(name)
    # Of those that it names the scenario's own, else one that shuffles as much as it can. A preset that names none
    # takes every order that has something to shuffle.
    orders = sorted(needed, key=lambda order: (order != own, order == "sequential")) if needed else [own, "shuffle"]
    readers = base.sizes.data * preset_parts(name, base.source).get("readers_per_rank", 1)
    for shards in dict.fromkeys((base.data.shards, max(base.data.shards, readers))):
        errors = []
        for order in orders:
            try:
                return load_scenario(base, {"loader": {"preset": name}, "data.order": order, "data.shards": shards})
            except ScenarioError as error:
                errors.append(error)
    return errors[0]


def shards_given(entry: Scenario, base: Scenario) -> int:
    """The shards of a scenario of `entries` if they are not those of the scenario itself, else 0."""
    return 0 if entry.data.shards == base.data.shards else entry.data.shards


def needed_orders(name: str) -> list[str]:
    """The values of `data.order` that a preset's text says it needs, the best first; none if any will do."""
    said = re.search(r"Needs data\.order = (.*?)\.(?:\s|$)", presets()[name].replace("\n", " "))
    return re.findall(r'"([a-z-]+)"', said[1]) if said else []


def _row(name: str, entry: Scenario | ScenarioError, base: Scenario, runs: pd.DataFrame | None) -> dict[str, Any]:
    row: dict[str, Any] = {"preset": name, "order": "", "shards_given": 0, "replications": 0, "unfinished": 0}
    if isinstance(entry, Scenario) and runs is not None:
        row |= {
            "order": entry.data.order,
            "shards_given": shards_given(entry, base),
            "replications": len(runs),
            "unfinished": int((runs["outcome"] != "done").sum()),
            **figures_of(runs),
            "resume_s": _resume_s(entry, runs),
        }
    row |= {f"degree_{change}": on_degree(name, *ranks) for change, ranks in CHANGES.items()}
    return row | {"refused": str(entry) if isinstance(entry, ScenarioError) else ""}


def _resume_s(scenario: Scenario, runs: pd.DataFrame) -> float:
    restarts = int(runs["restarts"].sum())
    known = scenario.storage is not None and restarts
    return 3600 * float(runs["time_loader_resume_h"].sum()) / restarts if known else np.nan


def figures_of(runs: pd.DataFrame) -> dict[str, float]:
    """Of a loader's runs, which have the columns `FIGURES` and interruptions: their columns in the league's table."""
    found: dict[str, float] = {}
    for figure in FIGURES:
        values = runs[figure].to_numpy(np.float64)
        several = spread(values) if len(values) > 1 else {"mean": float(values[0])}
        found[figure] = several["mean"]
        for end in ("ci95_low", "ci95_high"):
            found[f"{figure}_{end}"] = several.get(end, np.nan)
    failures = int(runs["interruptions"].sum())
    for figure in ("extra_views", "missing_views"):
        found[f"{figure}_per_failure"] = float(runs[figure].sum()) / failures if failures else np.nan
    return found


def by_damage(table: pd.DataFrame) -> pd.DataFrame:
    """The least damage first; on ties the plain presets, then by name. What was not run comes last."""
    damage = table["extra_views"] + table["missing_views"]
    plain = [PLAIN.index(name) if name in PLAIN else len(PLAIN) for name in table["preset"]]
    keys = pd.DataFrame(
        {"refused": table["refused"] != "", "unfinished": table["unfinished"] > 0, "damage": damage, "plain": plain}
    ).assign(name=table["preset"])
    return table.loc[keys.sort_values(keys.columns.tolist()).index].reset_index(drop=True)


@cache
def on_degree(name: str, before: int, after: int) -> str:
    """What a preset does when it comes back on other ranks, by one small run of its own (two epochs of 960 samples).

    "exact": every batch is the planned one; "complete": nothing repeated or lost, but in other batches; "repeats",
    "loses", "repeats, loses": views against one an epoch of every sample; "refuses".
    """
    # The job that grows begins with a crash that takes it to its first ranks.
    crashes: Mapping[int, int] = {**({0: before} if before < after else {}), 28: after}
    ranks = max(before, after)
    scenario = load_scenario(
        {
            "run": {"epochs": 2},
            "model": {"global_batch": 24, "step_time": "1 s"},
            "cluster": {"nodes": ranks, "gpus_per_node": 1},
            "failures": [{"cause": "crash", "at_steps": list(crashes), "data": list(crashes.values())}],
            "checkpoint": {"every": "5 steps"},
            "data": {"samples": 960, "shards": 24, "order": (needed_orders(name) or ["shuffle"])[0]},
            "loader": {"preset": name, **({"buffer": 64} if preset_parts(name, name).get("buffer") else {})},
        }
    )
    if scenario.loader.on_layout_change == "refuse":
        return "refuses"
    run = simulate(scenario, seed=0)
    if run.history.outcome == "refused":
        return "refuses"
    figures = run.summary()
    if figures["identical_steps_share"] == 1:
        return "exact"
    found = {"repeats": figures["extra_views_ideal"], "loses": figures["missing_views_ideal"]}
    return ", ".join(word for word, views in found.items() if views) or "complete"
