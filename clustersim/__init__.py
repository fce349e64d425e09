"""Simulates large training jobs that fail and restart, and counts which data the final model saw."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clustersim.run import Run
    from clustersim.scenario import Scenario, ScenarioError, load_scenario
    from clustersim.simulation import order_for, planned_batch, simulate
    from clustersim.study.replicate import replicate

__all__ = [
    "Run",
    "Scenario",
    "ScenarioError",
    "load_scenario",
    "order_for",
    "planned_batch",
    "replicate",
    "simulate",
]

# Imported when first asked for, so that `clustersim --help` does not wait for numpy and pydantic.
_HOMES = {
    "Run": "clustersim.run",
    "Scenario": "clustersim.scenario",
    "ScenarioError": "clustersim.scenario",
    "load_scenario": "clustersim.scenario",
    "order_for": "clustersim.simulation",
    "planned_batch": "clustersim.simulation",
    "replicate": "clustersim.study.replicate",
    "simulate": "clustersim.simulation",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'clustersim' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)
