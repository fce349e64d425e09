"""Plans of nodes, spares and repair slots against a finish date, over the same failures."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import count, product
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from pydantic_core import PydanticCustomError

from analysis.capacity import KEYS, plans
from clustersim.cluster.compile import law_of
from clustersim.forecast import forecast
from clustersim.history import HOUR_NS
from clustersim.scenario import Scenario, load_scenario
from clustersim.scenario.errors import problem
from clustersim.scenario.failures import Scripted, Stochastic
from clustersim.scenario.laws import Exponential, ExponentialLife
from clustersim.scenario.quantities import LIMIT, write_duration
from clustersim.scenario.traced import Traced
from clustersim.scenario.units import parse_duration
from clustersim.study.engines import EngineName
from clustersim.study.store import write_whole
from clustersim.study.study import Study, load_study
from clustersim.study.sweep import Source, sweep
from clustersim.theory import machine_repair

TABLE = "capacity.parquet"
"""The table of plans beside those of a stored study."""

ASKED = "capacity.json"
"""And what was asked for: by_h, confidence, and whether the scenario is priced."""

GPU_HOURS = {"cost.gpu_hour": 1}
"""The prices of a scenario that states none: every GPU of the cluster counts its hours."""


# Shares of the time in which spares that are worth trying run short.
_SHORT = (0.5, 0.1, 0.01, 1e-4)


class Capacity(NamedTuple):
    """What plans come to over the same failures."""

    table: pd.DataFrame
    """One row a plan: the columns of `analysis.capacity.plans`, and short_closed_form, see `short_of_nodes`."""
    by_h: float
    """The date, in hours since the start."""
    confidence: float
    """To finish by then, that was asked for."""
    priced: bool
    """Whether the scenario states prices; else costs are hours of all GPUs of the cluster."""
    study: Study
    """The sweep that it rests on: a point a plan."""

    @property
    def recommended(self) -> pd.Series | None:
        """The row of the cheapest plan that makes the date, None if there is none."""
        chosen = self.table[self.table["recommended"]]
        return None if chosen.empty else chosen.iloc[0]


def capacity(
    scenario: Source,
    by: str,
    *,
    nodes: Sequence[int] = (),
    spares: Sequence[int] = (),
    repair_slots: Sequence[int] = (),
    confidence: float = 0.9,
    replications: int = 50,
    seed: int | None = None,
    engine: EngineName = "local",
    workers: int | None = None,
    scheduler: str | None = None,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    progress: Callable[[float], object] | None = None,
) -> Capacity:
    """How likely each plan finishes by a date, when, and at what cost; and the cheapest that makes it.

    A plan makes the date if the lower end of the 95 % interval of its share of runs that finish by then is at least the
    confidence. A run that does not end counts as not finished.

    Args:
        scenario: a scenario, or what `load_scenario` takes, that ends after its steps, samples, tokens or epochs.
        by: the date, as a duration since the start such as "60 d".
        nodes, spares, repair_slots: what to try of each; every combination is a plan. The scenario's own if empty; if
            all are, what is worth trying (`around`).
        confidence: the probability to finish by then that is asked for, between 0 and 1.
        replications: of each plan.
        seed, engine, workers, scheduler: as in `sweep`.
        out: a directory to store the study in as it goes, and in the end the table as capacity.parquet and what was
            asked for as capacity.json.
        resume: go on with the study that `out` holds, if it does; it may be asked of another date and confidence.
        progress: called now and then with the number of finished runs, out of plans * replications.

    Raises:
        ScenarioError: the scenario is wrong, ends by wall time, or is wrong in a plan.
        ValueError: another argument is; its text begins with the argument's name.
        DirectoryRefused: `out` cannot be used; a ValueError.
        OSError: `out` cannot be written.
    """
    stated = load_scenario(scenario)
    if stated.run.wall_time is not None:
        expected = "an end after steps, samples, tokens or epochs, as a wall time sets the date itself"
        raise problem(stated.source, "run.wall_time", expected, f'"{write_duration(stated.run.wall_time)}"')
    base = load_scenario(stated, GPU_HOURS) if stated.cost is None else stated
    by_ns = _date(by, base)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence: expected a number between 0 and 1, found {confidence:g}")
    tried = {"nodes": nodes, "spares": spares, "repair_slots": repair_slots}
    points = _points(tried if any(tried.values()) else around(base))
    study = sweep(
        base,
        points,
        replications,
        seed=seed,
        engine=engine,
        workers=workers,
        scheduler=scheduler,
        out=out,
        resume=resume,
        progress=progress,
    )
    by_h = by_ns / HOUR_NS
    short = [short_of_nodes(load_scenario(base, point)) for point in points]
    table = plans(study.table, by_h, confidence).assign(short_closed_form=pd.Series(short, dtype="float64"))
    found = Capacity(table, by_h, confidence, stated.cost is not None, study)
    if out is not None:
        write_whole(Path(out) / TABLE, table.to_parquet)
        asked = json.dumps({"by_h": by_h, "confidence": confidence, "priced": found.priced}, indent=2) + "\n"
        write_whole(Path(out) / ASKED, lambda temporary: temporary.write_text(asked))
    return found


def load_capacity(directory: str | PathLike[str]) -> Capacity:
    """The plans that `capacity` stored in a directory.

    Raises:
        OSError: there are none.
    """
    asked = json.loads((Path(directory) / ASKED).read_text())
    return Capacity(pd.read_parquet(Path(directory) / TABLE), **asked, study=load_study(directory))


def _date(by: str, base: Scenario) -> int:
    """The date in ns since the start."""
    try:
        by_ns = parse_duration(by)
    except PydanticCustomError as error:
        raise ValueError(f"by: {error.message()}") from None
    if not 0 < by_ns <= base.sizes.limit_ns:
        horizon = f'"{write_duration(base.sizes.limit_ns)}", when a run is given up (run.limit)'
        raise ValueError(f'by: expected a date after 0 and by {horizon}, found "{by}"')
    return by_ns


def _points(tried: Mapping[str, Sequence[int]]) -> list[dict[str, object]]:
    lists = {key: list(dict.fromkeys(tried[name])) for key, name in KEYS.items() if tried.get(name)}
    return [dict(zip(lists, values, strict=True)) for values in product(*lists.values())]


def around(scenario: Scenario) -> dict[str, list[int]]:
    """Spares, and repair slots where repairs pile up, that are worth trying; each ascending.

    Spares: none, the scenario's own, and what covers the nodes that are in repair, or lost by the end, half of the
    time, 90, 99 and 99.99 % of it, by a Poisson law of their mean, as `forecast` has it: no node waits for a slot.
    Slots: the scenario's own, doubled until they are more than the nodes in repair.
    """
    from scipy.special import pdtrc

    expected = forecast(scenario)
    mean = expected.nodes_down + expected.nodes_lost
    covering = [next(spares for spares in count() if pdtrc(spares, mean) <= short) for short in _SHORT]
    tried = {"spares": sorted({0, scenario.cluster.spares, *covering})}
    if expected.repair_slots is not None and expected.repair_slots < expected.nodes_down:
        tried["repair_slots"] = [expected.repair_slots]
        while tried["repair_slots"][-1] <= expected.nodes_down:
            tried["repair_slots"].append(2 * tried["repair_slots"][-1])
    return tried


def short_of_nodes(scenario: Scenario) -> float | None:
    """The share of time in which more nodes are down than there are spares, by a closed form; None where there is none.

    That is the machine repair model (`theory.machine_repair`), in the long run. It holds where what takes nodes is
    exponential and strikes each node by itself, spares too, and repairs are exponential of one mean, or of any law
    where there is a slot for every node.
    """
    cluster = scenario.cluster
    if any((cluster.cold, cluster.borrowed, cluster.lemons, cluster.retirement)) or scenario.recovery.policy == "wait":
        return None
    rates, means = [], []
    slots = min(cluster.own_nodes, cluster.repair_slots or cluster.own_nodes)
    for cause in scenario.failures:
        if isinstance(cause, Traced):
            return None
        if isinstance(cause, Scripted) or cause.repair is None:
            continue  # it takes no node
        if not _is_simple(cause, any_repair=slots == cluster.own_nodes):
            return None
        rates.append((1 - cause.transient) * cause.failures_per_ns(cluster.gpus_per_node))
        means.append(law_of(cause.repair).mean_ns)
    if slots < cluster.own_nodes and len(set(means)) > 1:
        return None
    load = math.fsum(rate * mean_ns for rate, mean_ns in zip(rates, means, strict=True))
    return math.fsum(machine_repair(cluster.own_nodes, slots, load)[cluster.spares + 1 :]) if load else None


def _is_simple(cause: Stochastic, any_repair: bool) -> bool:
    """Whether lives and repairs of a cause are those of the machine repair model."""
    memoryless = isinstance(cause.law, ExponentialLife) and not (cause.steps or cause.uncertain)
    alone = cause.scope == "node" and cause.ages == "wall" and cause.kind == "crash" and not cause.misdiagnosis
    once = cause.repair_starts == "failure" and not (cause.escalates or cause.repair_fails)
    repairs = isinstance(cause.repair, Exponential) or (any_repair and cause.repair != LIMIT)
    return memoryless and alone and once and repairs
