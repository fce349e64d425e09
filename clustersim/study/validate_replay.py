"""What a replayed trace of node faults comes to: how many nodes are down, and what broke."""

import numpy as np
import pandas as pd

from clustersim.scenario import Scenario
from clustersim.simulation import simulate

# The days over which the publishers of the InfiniteHBD trace count nodes that are down.
_COUNTED_H = 348 * 24
_HARDWARE = "Hardware Failure"


def replayed(scenario: Scenario) -> pd.DataFrame:
    """A single row: down_mean_percent and down_p99_percent of the nodes, by time; hardware_percent of the faults."""
    events = simulate(scenario).events
    faults = events[events["kind"] == "failure"]
    down, lasts_h = _nodes_down(events, _COUNTED_H)
    order = down.argsort(kind="stable")
    share = lasts_h[order].cumsum() / _COUNTED_H
    to_percent = 100 / scenario.cluster.own_nodes
    return pd.DataFrame(
        {
            "down_mean_percent": [to_percent * (down @ lasts_h) / _COUNTED_H],
            "down_p99_percent": [to_percent * down[order][np.searchsorted(share, 0.99)]],
            "hardware_percent": [100 * faults["cause"].str.endswith(_HARDWARE).mean()],
        }
    )


def _nodes_down(events: pd.DataFrame, until_h: float) -> tuple[np.ndarray, np.ndarray]:
    """The number of nodes in repair, int64[stretches], and for how many hours each, float64[stretches]."""
    moves = events[events["kind"].isin(["failure", "repair"]) & (events["time_h"] < until_h)]
    down = np.where(moves["kind"] == "failure", 1, -1).cumsum()
    edges = np.concatenate([[0.0], moves["time_h"], [until_h]])
    return np.concatenate([[0], down]), np.diff(edges)
