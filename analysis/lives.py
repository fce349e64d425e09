"""From faults of nodes to durations: how long nodes lived, and how long they were out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd


class Durations(NamedTuple):
    """What a trace tells of lives and of repairs, two tables of one shape.

    One row a stretch: hours; begun, whether it began within the trace, so that its age at the row's begin is 0 and not
    unknown; ended, whether it ended within it.
    """

    lives: pd.DataFrame
    """Of nodes, from a repair to the next fault."""
    repairs: pd.DataFrame
    """From a fault until the node is back; those that were under way when the trace began are left out."""


def durations(faults: pd.DataFrame, nodes: int, length_h: float, new_at_start: bool = False) -> Durations:
    """The lives and repairs in a trace of faults.

    Each node gives its stretches between faults, the one before its first and the one after its last; a node without a
    fault gives one over the whole trace.

    Args:
        faults: one row a fault: node (a number), start_h and end_h; those of one node do not overlap. One that starts
            at 0 had begun before; one that ends at `length_h` was open.
        nodes: how many were watched, those without a fault included.
        length_h: for how long.
        new_at_start: nodes are new when the trace begins; else they had been running for a time that nobody knows.
    """
    starts = faults[["node", "start_h", "end_h"]].sort_values(["node", "start_h"], ignore_index=True)
    of_node = starts.groupby("node")
    first, last = ~starts["node"].duplicated(), ~starts["node"].duplicated(keep="last")
    until, since = of_node["start_h"].shift(-1, fill_value=length_h), starts["end_h"]
    before_first = starts.loc[first, "start_h"]
    untouched = nodes - len(before_first)
    lives = pd.concat(
        [
            _table(before_first, new_at_start, True),
            _table(until - since, True, ~last),
            _table(np.full(untouched, length_h), new_at_start, False),
        ],
        ignore_index=True,
    )
    # A node that was out when the trace began has no life before, and one that is out at its end none after.
    nothing = (lives["hours"] == 0) & (~lives["ended"] | (lives.index < len(before_first)))
    began = starts[starts["start_h"] > 0]
    repairs = _table(began["end_h"] - began["start_h"], True, began["end_h"] < length_h)
    return Durations(lives[~nothing].reset_index(drop=True), repairs)


def _table(hours: pd.Series | np.ndarray, begun: bool, ended: pd.Series | bool) -> pd.DataFrame:
    values = np.asarray(hours, dtype=np.float64)
    return pd.DataFrame(
        {"hours": values, "begun": np.full(len(values), begun), "ended": np.broadcast_to(ended, len(values))}
    )
