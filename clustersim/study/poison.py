"""Hunts for the record of death: what poison does to an epoch, by how the loader comes back after each crash."""

import math
from typing import Any, get_args

import numpy as np
import pandas as pd

from clustersim.loaders.poison import ComesBack, Hunt, crashes_reshuffled, hunt
from clustersim.loaders.taken_out import poison_of, policy_of
from clustersim.scenario import Scenario, load_scenario
from clustersim.simulation import order_for
from clustersim.study.sweep import Source

WAYS: tuple[ComesBack, ...] = get_args(ComesBack)
"""How a loader comes back: to its place, or to it in a new order of the epoch, or of the epoch's unread rest."""

GIVEN_UP_AFTER = 100
"""Restarts that a hunt may take."""


def hunts(scenario: Source, replications: int = 1000, seed: int | None = None) -> pd.DataFrame:
    """One row a way to come back, of hunts through one epoch, a checkpoint at the scenario's interval.

    Columns: comes_back, replications, crashes (mean), crashes_expected (the closed form where there is one: a single
    sample that kills alone; else NaN), and shares of the replications: crashed at all; reproducible, which crashed at
    one step twice; found, in which the policy acted; passed, in which the epoch ended and it had not, though there were
    crashes; given_up. restarts, rolled_back_steps and missing_views are means.

    The poison and what is done about it are those of the scenario; if it has none, one sample that kills alone, and
    three retries before its batch is skipped. An order that does not shuffle comes back to its place only.

    Args:
        scenario: a scenario, or what `load_scenario` takes.
        replications: each with an order of its own, and a poison of its own unless the scenario lists the samples.
        seed: instead of the scenario's own.

    Raises:
        ScenarioError: the scenario is wrong.
        ValueError: its order draws with replacement, so that no sample has a step.
    """
    base = load_scenario(scenario)
    ways = WAYS[:1] if base.data.order == "sequential" else WAYS
    return pd.DataFrame([_row(base, way, replications, base.run.seed if seed is None else seed) for way in ways])


def _row(base: Scenario, way: ComesBack, replications: int, seed: int) -> dict[str, Any]:
    sizes = base.sizes
    steps = -(-sizes.samples // sizes.batch)  # to the one that reads the epoch's last sample
    every = min(steps, sizes.steps_between_saves(sizes.full_step_ns))
    policy = policy_of(base)
    found: list[Hunt] = []
    for replication in range(replications):
        poison = poison_of(base, seed, replication)
        order = order_for(base, seed, replication)
        found.append(hunt(poison, order, sizes.batch, steps, every, way, policy, GIVEN_UP_AFTER))
    alone = len(poison.samples) == poison.together == 1
    expected = {
        "exact": policy.retries + 1.0,
        "reshuffle": crashes_reshuffled(steps / every) if steps > every else math.nan,
        "remainder": math.nan,
    }[way]
    return {
        "comes_back": way,
        "replications": replications,
        "crashes": _mean([len(each.crashes) for each in found]),
        "crashes_expected": expected if alone else math.nan,
        "crashed": _mean([bool(each.crashes) for each in found]),
        "reproducible": _mean([len(set(each.crashes)) < len(each.crashes) for each in found]),
        "found": _mean([bool(each.acted_at) for each in found]),
        "passed": _mean([each.done and bool(each.crashes) and not each.acted_at for each in found]),
        "given_up": _mean([not each.done for each in found]),
        "restarts": _mean([each.restarts for each in found]),
        "rolled_back_steps": _mean([each.rolled_back_steps for each in found]),
        "missing_views": _mean([each.missing_views for each in found]),
    }


def _mean(values: list[int] | list[bool]) -> float:
    return float(np.mean(values))
