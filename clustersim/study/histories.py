"""Which points of a sweep share a history: one run of the clock, read by several loaders."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from clustersim.loaders.build import loader_of
from clustersim.scenario import Scenario
from clustersim.simulation import orders_for

# Parts of a scenario, and sizes that follow from them, of which the clock knows nothing. What is not named here is
# taken to move time, so that a key that joins the scenario keeps histories apart until it is known to be harmless.
_UNTIMED_PARTS = ("name", "loader", "data")
# Where a storage or poison is named, what is read and how moves time.
_UNTIMED_PARTS_OF_DATA = ("name",)
_UNTIMED_SIZES = ("samples", "shards", "tokens_per_sample", "documents_per_sample", "bytes_per_sample")


def groups(scenarios: Sequence[Scenario], seed: int | None) -> list[list[int]]:
    """The numbers of the scenarios in groups that share each replication's history, in order of their first ones.

    A loader that acts on time is asked while the clock runs: its scenario has a history of its own.
    """
    sharing: dict[object, list[int]] = {}
    for number, scenario in enumerate(scenarios):
        sharing.setdefault(_clock_key(scenario, seed) or number, []).append(number)
    return list(sharing.values())


def _clock_key(scenario: Scenario, seed: int | None) -> str | None:
    """Equal for two scenarios whose clocks run alike; None if the loader acts on time."""
    if loader_of(scenario, *orders_for(scenario, scenario.run.seed if seed is None else seed)).acts_on_time:
        return None
    by_data = scenario.storage is not None or scenario.poison is not None
    untimed = _UNTIMED_PARTS_OF_DATA if by_data else _UNTIMED_PARTS
    parts = {key: value for key, value in scenario.resolved().items() if key not in untimed}
    sizes = {key: value for key, value in asdict(scenario.sizes).items() if key not in _UNTIMED_SIZES}
    return json.dumps([parts, sizes], sort_keys=True)
