"""Simulates large training jobs that fail and restart, and counts which data the final model saw."""

from clustersim.run import Run
from clustersim.scenario import Scenario, ScenarioError, load_scenario
from clustersim.simulate import order_for, planned_batch, simulate

__all__ = ["Run", "Scenario", "ScenarioError", "load_scenario", "order_for", "planned_batch", "simulate"]
