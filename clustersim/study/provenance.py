"""Where a result came from: enough to make it again, byte for byte."""

import platform
from importlib import metadata
from typing import Any

from clustersim.scenario import Scenario

_PACKAGES = ("clustersim", "numpy", "pandas", "simpy")


def provenance(scenario: Scenario, seed: int, replications: int) -> dict[str, Any]:
    """What a result depends on, as JSON values: the same scenario, seed and machine give the same dictionary.

    It has no time of day, so that the same run twice leaves the same bytes.
    """
    return {
        "scenario": scenario.resolved(),
        "digest": scenario.digest,
        "seed": seed,
        "replications": replications,
        "versions": versions(),
        "platform": platform.platform(),
    }


def versions() -> dict[str, str]:
    """The versions of what computes a result, by name."""
    return {
        "python": platform.python_version(),
        **{package: metadata.version(package) for package in _PACKAGES},
    }
