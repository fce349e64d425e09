"""Simulates large training jobs that fail and restart, and counts which data the final model saw."""

TYPE_CHECKING = False  # as `typing` has it, which takes its time to import
if TYPE_CHECKING:
    from clustersim.run import Run
    from clustersim.scenario import Scenario, ScenarioError, load_scenario
    from clustersim.simulation import order_for, planned_batch, simulate
    from clustersim.study.designs import latin_hypercube, saltelli, sobol, zipped
    from clustersim.study.replay import replay
    from clustersim.study.study import Study, load_study
    from clustersim.study.sweep import replicate, sweep

__all__ = [
    "Run",
    "Scenario",
    "ScenarioError",
    "Study",
    "latin_hypercube",
    "load_scenario",
    "load_study",
    "order_for",
    "planned_batch",
    "replay",
    "replicate",
    "saltelli",
    "simulate",
    "sobol",
    "sweep",
    "zipped",
]

# Imported when first asked for, so that `clustersim --help` does not wait for numpy and pydantic.
_HOMES = {
    "Run": "clustersim.run",
    "Scenario": "clustersim.scenario",
    "ScenarioError": "clustersim.scenario",
    "Study": "clustersim.study.study",
    "latin_hypercube": "clustersim.study.designs",
    "load_scenario": "clustersim.scenario",
    "load_study": "clustersim.study.study",
    "order_for": "clustersim.simulation",
    "planned_batch": "clustersim.simulation",
    "replay": "clustersim.study.replay",
    "replicate": "clustersim.study.sweep",
    "saltelli": "clustersim.study.designs",
    "simulate": "clustersim.simulation",
    "sobol": "clustersim.study.designs",
    "sweep": "clustersim.study.sweep",
    "zipped": "clustersim.study.designs",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'clustersim' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
