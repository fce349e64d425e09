"""Feeding a job: every access pattern on every store, what it costs, and what a restart does to the data."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd

from clustersim.scenario import Scenario, ScenarioError, load_scenario, preset_parts, presets
from clustersim.scenario.storage import Pattern
from clustersim.simulation import simulate
from clustersim.storage import bounds
from clustersim.storage.compile import pattern_of, reading_of, replays, store_of
from clustersim.storage.patterns import (
    access_of,
    copy_factor,
    memory_bytes,
    patterns_of,
    read_amplification,
    space_bytes,
)
from clustersim.storage.quality import MARKS, quality_of
from clustersim.storage.store import NS, Reading, Store
from clustersim.storage.waiting import least_steps, simulate_waits
from clustersim.study.league import needed_orders
from clustersim.study.sweep import Source
from clustersim.theory import uninterrupted

OWN = "scenario"
"""What the table calls the scenario's own storage, and its own loader."""

_BUFFER_PRESET = "torchdata-iterable-buffer"
"""What reads through a buffer where the scenario's loader has none: the position is saved, the buffer is not."""

# The order of each pattern, by which what a restart does to its data is counted.
_ORDERS: dict[Pattern, str] = {
    "sequential": "sequential",
    "shard-shuffle": "shard-shuffle",
    "shuffle-buffer": "shard-shuffle",
    "block-shuffle": "shuffle",  # of blocks: where a position comes back, what is in it comes back
    "random": "shuffle",
    "indices": "shuffle",
    "copy": "shuffle-once",
    "copy-behind": "shuffle",
}


class _Entry(NamedTuple):
    """A row of the table, without its store."""

    pattern: Pattern
    loader: str
    scenario: Scenario | ScenarioError
    """With this loader, in this pattern's order; or why there is none."""
    reading: Reading


class _Restart(NamedTuple):
    """What one restart does in the middle of an epoch, halfway between two checkpoints."""

    extra_views: int
    missing_views: int
    reproducible: bool
    """Every step after it reads the planned batch."""


def feed(
    scenario: Source,
    stores: Sequence[str] | None = None,
    loaders: Sequence[str] = (),
    steps: int = 100,
    resume_at: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> pd.DataFrame:
    """One row for each store, access pattern and loader.

    Columns: store, pattern, loader ("scenario": its own); keeps_up: how many times what the job asks for comes at most,
    by its bottleneck, and of each resource keeps_up_bandwidth, _operations, _clients, _workers; reads_per_s and
    bytes_per_s that the job asks the store for, reads_per_step and bytes_per_step; read_amplification; space_bytes;
    copy_factor: the size of a copy over that of the corpus, 0 if there is none; memory_bytes; preparation_s, and its
    mean preparation_with_crashes_s, where it begins anew at each random failure that stops the job; lost_preparation_s,
    by which one crash meanwhile delays the job; first_batch_s, resume_s (at a step of the epoch); of simulated steps
    wait_share, wait_mean_s with its standard error wait_error_s, wait_p99_s (1 and NaN where a rank has nothing to
    read), and wait_sd_s, by which the sum of n waits spreads, over sqrt(n); the figures of `storage.quality.Quality`;
    extra_views, missing_views and reproducible of one restart in mid-epoch (NaN and None where the scenario does not
    allow it); refused: why not.

    Args:
        scenario: a scenario, or what `load_scenario` takes.
        stores: presets of storage; if None the scenario's own, or all of them where it has none.
        loaders: presets of loaders, for rows after those of the patterns.
        steps: how many are simulated for the wait, rounded up to whole turns of the workers.
        resume_at: the step of an epoch at which resume_s is; in its middle if None.
        progress: called after each row with the share of them that is done.

    Raises:
        ScenarioError: the scenario is wrong, says too little of its samples, or there is no such preset.
        ValueError: an epoch has no such step to resume at.
    """
    base = load_scenario(scenario)
    at = step_of_epoch(base, resume_at)
    if stores is None:
        stores = (OWN,) if base.storage is not None else tuple(presets("storage"))
    worlds = {
        name: base if name == OWN else load_scenario(base, {"storage": {"preset": name}})
        for name in dict.fromkeys(stores)
    }
    entries = _entries(base, loaders)
    restarts = [_restart(entry.scenario) for entry in entries]
    rate = base.sizes.failures_per_ns
    mtbf_s = NS / rate if rate else math.inf
    rows = []
    for name, world in worlds.items():
        assert world.storage is not None
        for entry, restart in zip(entries, restarts, strict=True):
            reader = base if isinstance(entry.scenario, ScenarioError) else entry.scenario
            again = at if replays(reader.loader) else 0
            store = store_of(world.storage, entry.reading.nodes)
            figures = _figures(entry.pattern, entry.reading, store, again, steps, mtbf_s)
            rows.append({"store": name, "pattern": entry.pattern, "loader": entry.loader, **figures, **restart})
            if progress is not None:
                progress(len(rows) / (len(worlds) * len(entries)))
    return pd.DataFrame(rows)


def step_of_epoch(scenario: Scenario, step: int | None) -> int:
    """A step of the scenario's epoch, its middle if None.

    Raises:
        ValueError: there is no such step.
    """
    epoch = scenario.sizes.samples // scenario.sizes.batch
    if step is not None and not 0 <= step <= epoch:
        raise ValueError(f"expected a step from 0 to {epoch}, where the epoch ends, found {step}")
    return epoch // 2 if step is None else step


def _entries(base: Scenario, loaders: Sequence[str]) -> list[_Entry]:
    entries, reading = [], reading_of(base)
    for pattern in patterns_of(reading):
        loader, changes = OWN, dict[str, Any]({"data.order": _ORDERS[pattern]})
        if pattern == "shuffle-buffer" and not base.loader.buffer:
            loader = _BUFFER_PRESET
            size = max(1, math.ceil(MARKS[0] * reading.samples / reading.readers))
            changes |= {"loader": {"preset": loader, "buffer": size, "readers_per_rank": reading.workers}}
            # what it is where the scenario refuses it, too
            entries.append(_Entry(pattern, loader, _loaded(base, changes), replace(reading, buffer=size, dealt=True)))
        else:
            entries.append(_Entry(pattern, loader, _loaded(base, changes), reading))
    for loader in loaders:
        parts: dict[str, Any] = {"preset": loader}
        if preset_parts(loader, base.source).get("partition", "global") != "global":
            parts["readers_per_rank"] = reading.workers
        orders = needed_orders(loader)
        order = base.data.order if not orders or base.data.order in orders else orders[0]
        made = _loaded(base, {"loader": parts, "data.order": order})
        reader = base if isinstance(made, ScenarioError) else made
        entries.append(_Entry(pattern_of(reader), loader, made, reading_of(reader)))
    return entries


def _loaded(base: Scenario, changes: dict[str, Any]) -> Scenario | ScenarioError:
    try:
        return load_scenario(base, changes)
    except ScenarioError as error:
        return error


def _figures(pattern: Pattern, reading: Reading, store: Store, again: int, steps: int, mtbf_s: float) -> dict[str, Any]:
    """The columns of the store; a loader that comes back reads so many steps again."""
    access = access_of(pattern, reading, store)
    least = bounds.bottleneck(access, reading, store)
    preparation_s = bounds.preparation_s(access, reading, store)
    figures = {
        "keeps_up": bounds.margin(least, reading),
        "bottleneck": least.resource,
        **{
            f"keeps_up_{bound.resource}": bounds.margin(bound, reading)
            for bound in bounds.bounds(access, reading, store)
        },
        "reads_per_s": reading.demand * access.sample_requests,
        "bytes_per_s": reading.demand * access.sample_bytes,
        "reads_per_step": reading.batch * access.sample_requests,
        "bytes_per_step": reading.batch * access.sample_bytes,
        "read_amplification": read_amplification(access, reading),
        "space_bytes": space_bytes(access, reading, store),
        "copy_factor": copy_factor(reading) if access.copies else 0.0,
        "memory_bytes": memory_bytes(access, reading),
        "preparation_s": preparation_s,
        "preparation_with_crashes_s": uninterrupted(preparation_s, mtbf_s),
        "lost_preparation_s": bounds.lost_preparation_s(access, reading, store),
        "first_batch_s": bounds.first_batch_s(access, reading, store),
        "resume_s": bounds.replay_s(again, access, reading, store),
    }
    starved = least.samples_per_s == 0
    waits = None if starved else simulate_waits(access, reading, store, max(steps, least_steps(access, reading)))
    figures |= {
        "wait_share": 1.0 if waits is None else waits.share,
        "wait_mean_s": math.nan if waits is None else waits.mean_ns / 1e9,
        "wait_error_s": math.nan if waits is None else waits.error_ns / 1e9,
        "wait_sd_s": math.nan if waits is None else waits.sd_ns / 1e9,
        "wait_p99_s": math.nan if waits is None else waits.quantile_ns(0.99) / 1e9,
    }
    return figures | quality_of(pattern, reading)._asdict()


def _restart(entry: Scenario | ScenarioError) -> dict[str, Any]:
    """The columns of one restart in mid-epoch."""
    if not isinstance(entry, ScenarioError):
        try:
            return {**_after_a_restart(entry)._asdict(), "refused": ""}
        except ScenarioError as error:
            entry = error
    return {"extra_views": math.nan, "missing_views": math.nan, "reproducible": None, "refused": str(entry)}


def _after_a_restart(scenario: Scenario) -> _Restart:
    """One epoch of the scenario's job with one crash in its middle, halfway between two checkpoints."""
    sizes = scenario.sizes
    epoch = max(2, sizes.samples // sizes.batch)
    every = min(sizes.steps_between_saves(sizes.full_step_ns), max(1, epoch // 4))
    crash = epoch // 2 // every * every + every // 2
    changes = {
        "run": {"steps": epoch, "seed": scenario.run.seed},
        "failures": [{"cause": "crash", "at_steps": [crash]}],
        "checkpoint": {"every": f"{every} steps"},
        "recovery": None,
        "storage": None,
        "cost": None,
    }
    run = simulate(load_scenario(scenario, changes))
    figures = run.summary()
    extra, missing = figures["extra_views"], figures["missing_views"]
    assert extra is not None
    assert missing is not None
    return _Restart(int(extra), int(missing), run.identical_steps == run.steps)
