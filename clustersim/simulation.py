"""Run one scenario: the clock first, then the recount of what its legs read."""

from collections.abc import Callable, Mapping
from operator import index
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustersim import streams
from clustersim.data.corpus import Corpus
from clustersim.data.orders import Order, order_of
from clustersim.loaders.build import loader_of
from clustersim.loaders.follow import Follower, follow
from clustersim.loaders.taken_out import follower_of
from clustersim.run import Run
from clustersim.scenario import Scenario, load_scenario
from clustersim.storage.feeding import clock_feed
from clustersim.training.compile import World, collector_at_rest


def order_for(scenario: Scenario, seed: int, replication: int = 0) -> Order:
    """The order in which a replication reads its samples; a function of seed, replication and epoch alone.

    Raises:
        ValueError: each corpus of a mixture has one of its own (`orders_for`).
    """
    orders = orders_for(scenario, seed, replication)
    if len(orders) > 1:
        raise ValueError(f"{len(orders)} corpora have as many orders")
    return orders[0]


def orders_for(scenario: Scenario, seed: int, replication: int = 0) -> list[Order]:
    """The order of each corpus of a mixture, on which the others have no part; or that of the one corpus."""
    sizes, kind, corpora = scenario.sizes, scenario.data.order, scenario.data.corpora
    if corpora is None:
        return [order_of(kind, Corpus(sizes.samples, sizes.shards), seed, replication)]
    return [
        order_of(kind, Corpus(each.samples, each.shards), streams.key(seed, 0, "corpus", each.name), replication)
        for each in corpora
    ]


def planned_batch(scenario: Scenario, step: int, replication: int = 0, seed: int | None = None) -> NDArray[np.int64]:
    """The samples that a run without failures reads at a step, int64[batch], without reading the steps before it.

    Raises:
        ValueError: the run has no such step.
    """
    steps = scenario.sizes.steps
    if step < 0 or (steps is not None and step >= steps):
        raise ValueError(f"no step {step}: they are numbered from 0" + ("" if steps is None else f" to {steps - 1}"))
    loader = loader_of(scenario, *orders_for(scenario, *_checked(scenario, seed, replication)))
    at = loader.advance(loader.start(scenario.sizes.data), 0, step).position
    return np.concatenate(loader.batch_at(loader.advance(at, step, 1).stretch, step, scenario.sizes.data))


def _checked(scenario: Scenario, seed: int | None, replication: int) -> tuple[int, int]:
    """Seed and replication as plain integers of [0, 2^63), whatever integers they were."""
    numbers = index(scenario.run.seed if seed is None else seed), index(replication)
    for name, number in zip(("seed", "replication"), numbers, strict=True):
        if not 0 <= number < 2**63:
            raise ValueError(f"expected a {name} of at least 0 and below 2^63, found {number}")
    return numbers


@collector_at_rest()
def simulate(
    scenario: Scenario | str | PathLike[str] | Mapping[str, Any],
    replication: int = 0,
    seed: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> Run:
    """Simulate one replication.

    Args:
        scenario: a scenario, or what `load_scenario` takes.
        replication: its number, from 0; replication 17 is the same alone or as one of many.
        seed: instead of the scenario's own `run.seed`.
        progress: called now and then while the clock runs, with the share that is done (`World.run`).

    A loader that does not act on time (the run ends after its steps or its time) is recounted over the finished
    history; one that decides when the run ends, or reads poison, is asked while the clock runs. A run that could not
    finish is returned as far as it came: see `history.outcome`.

    Raises:
        ScenarioError: the scenario is wrong.
        ValueError: seed or replication is not in [0, 2^63).
    """
    if not isinstance(scenario, Scenario):
        scenario = load_scenario(scenario)
    seed, replication = _checked(scenario, seed, replication)
    loader = loader_of(scenario, *orders_for(scenario, seed, replication))
    follower: Follower | None = Follower(loader) if loader.acts_on_time else None
    if scenario.poison is not None:
        follower = follower_of(scenario, loader, seed, replication)
    history = World(scenario, seed, replication, clock_feed(scenario, follower)).run(progress)
    reads = follow(history, loader) if follower is None else follower.reads(history)
    if history.outcome == "done" and history.legs[-1].kept == 0:
        history.outcome, history.reason = "no progress", "not one step is part of the final model"
    return Run(scenario, seed, replication, history, reads, loader)


def recount(run: Run, scenario: Scenario) -> Run:
    """The history of a finished run, read by the loader of another scenario, which differs in nothing that moves time.

    It is `simulate(scenario, run.replication, run.seed)`, without the clock; `study.histories` says which scenarios
    share a history. The loaders of both must be such that do not act on time.
    """
    loader = loader_of(scenario, *orders_for(scenario, run.seed, run.replication))
    return Run(scenario, run.seed, run.replication, run.history, follow(run.history, loader), loader)
