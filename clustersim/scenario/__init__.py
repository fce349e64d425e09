"""The scenario file: models, units, loading, overrides, sizes, errors and the JSON Schema."""

from clustersim.scenario.errors import ScenarioError
from clustersim.scenario.load import load_scenario, preset_parts, presets, shipped
from clustersim.scenario.overrides import parse_override
from clustersim.scenario.scenario import Scenario
from clustersim.scenario.schema import json_schema
from clustersim.scenario.sizes import Sizes

__all__ = [
    "Scenario",
    "ScenarioError",
    "Sizes",
    "json_schema",
    "load_scenario",
    "parse_override",
    "preset_parts",
    "presets",
    "shipped",
]
