"""Published figures that the simulator is held against: where they stand, what they are compared with, and how."""

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

from clustersim.theory import daly_efficiency, young

Decides = Literal["z", "at least", "digits"]
"""How a row is decided, by the standard error of the mean over replications:

- "z": (ours - expected) over the root of both squared errors is from -3 to 3;
- "at least": (ours - expected) over our error is at least Student's one-sided 95 % quantile, so that the lower bound of
  ours lies above the published one;
- "digits": nothing is random, and ours rounds to what is published.
"""


class Target(NamedTuple):
    """One published figure."""

    what: str
    """In words."""
    figure: str
    """Ours of a replication, in pandas' spelling: of the columns of a study's table, or of what a replay measures."""
    published: str
    """As it was printed."""
    expected: float
    """What ours is compared with: the closed form or the pooled mean that the printed figure is a rounding or a draw
    of, where there is one."""
    error: float = 0.0
    """The standard error of `expected`."""
    decides: Decides = "z"


class Point(NamedTuple):
    """What a scenario sets, and the figures that it comes to then."""

    values: Mapping[str, object]
    targets: tuple[Target, ...]


class Check(NamedTuple):
    """The rows of one published source."""

    name: str
    """V1 and so on."""
    source: str
    scenario: str
    """A file of `scenarios/validation`, without its suffix."""
    points: tuple[Point, ...]
    trace: str | None = None
    """The file of a trace that is replayed, which does not come with clustersim."""


_KOKOLIS = "Kokolis et al., arXiv 2410.21680"
_DALY = "Daly 2006, complete model"
_AIRESIM = "AIReSim, arXiv 2603.07041"
_INFINITEHBD = "InfiniteHBD-Trace, SIGCOMM 2025"
_LLAMA = "Llama 3, arXiv 2407.21783"
_TORCHFT = "torchft, PyTorch blog 2025"
_DAY_MIN = 24 * 60


def _failures(gpus: int, wall_time: str, published: str) -> Point:
    """1 / (nodes * rate), in hours."""
    nodes = gpus // 8
    values = {"cluster.nodes": nodes, "run.wall_time": wall_time, "checkpoint.every": "1 min"}
    target = Target(f"MTTF, {gpus:,} GPUs (h)", "wall_h / failures", published, 24 / (nodes * 6.5e-3))
    return Point(values, (target,))


def _interval(minutes: float, published: str) -> Point:
    mtbf = _DAY_MIN / (2000 * 6.5e-3)
    target = Target(f"ETTR, a save every {minutes:g} min", "ettr", published, daly_efficiency(minutes, 0, mtbf, 5))
    return Point({"checkpoint.every": f"{minutes} min"}, (target,))


def _best_interval(per_1000_node_days: float, save_s: float, published: str) -> Point:
    """At Young's interval; saves stop the training."""
    save, mtbf = save_s / 60, _DAY_MIN / (1500 * per_1000_node_days / 1000)
    values = {
        "cluster.nodes": 1500,
        "failures.0.rate": f"{per_1000_node_days} per 1000 node-days",
        "checkpoint.every": "young",
        "checkpoint.stall": f"{save_s} s",
    }
    what = f"ETTR, {per_1000_node_days:g} per 1000 node-days, {save_s:g} s a save"
    return Point(values, (Target(what, "ettr", published, daly_efficiency(young(save, mtbf), save, mtbf, 5)),))


def _efficiency(save: float, mtbf: float, restart: float, interval: float, published: str) -> Point:
    """Minutes; 5,000 failures or so a run, so that the last segment, which none ends, weighs nothing."""
    values = {
        "run.wall_time": f"{5000 * mtbf} min",
        "model.step_time": f"{interval * 60 / 500} s",
        "failures.0.over": f"{mtbf} min",
        "checkpoint.stall": f"{save} min",
        "recovery.start_up": f"{restart} min",
    }
    what = f"ETTR, save {save:g}, MTBF {mtbf:g}, restart {restart:g}, every {interval:g} min"
    return Point(values, (Target(what, "ettr", published, daly_efficiency(interval, save, mtbf, restart)),))


# Of AIReSim: its 30 published runs and 30 more of the same program, pooled.
_AIRESIM_H, _AIRESIM_ERROR_H = 9875.7, 4.3
_AIRESIM_RATIO = 256 * 24 / _AIRESIM_H

# Of torchft: 5,145 of 6,249 steps, with the error of as many throws.
_SHARE = 5145 / 6249
_COMMITTED = Target(
    "share of steps committed",
    "steps / (steps + interruptions)",
    "0.823",
    _SHARE,
    math.sqrt(_SHARE * (1 - _SHARE) / 6249),
)

ROWS: tuple[Check, ...] = (
    Check("V1", _KOKOLIS, "kokolis", (_failures(16_384, "180 d", "1.8"), _failures(131_072, "30 d", "0.23"))),
    Check("V2", _KOKOLIS, "kokolis", (_interval(60, "0.7"), _interval(5, "0.93"))),
    Check(
        "V3",
        _KOKOLIS,
        "kokolis",
        (_best_interval(6.5, 10, "0.9"), _best_interval(1.0, 300, "0.9"), _best_interval(6.5, 300, "0.740")),
    ),
    Check(
        "V4",
        _DALY,
        "daly",
        (
            _efficiency(5, 108, 10, 29.61, "0.6616"),
            _efficiency(5, 180, 10, 39.16, "0.7402"),
            _efficiency(5, 1440, 10, 116.69, "0.9126"),
            _efficiency(1, 18, 3, 5.35, "0.5948"),
        ),
    ),
    Check(
        "V5",
        _AIRESIM,
        "airesim",
        (
            Point(
                {},
                (
                    Target("failures", "failures", "11,145.6", 11_175.5, 13.0),
                    Target("wall time (h)", "wall_h", "9,865.97", _AIRESIM_H, _AIRESIM_ERROR_H),
                    Target(
                        "effective training ratio",
                        "ettr",
                        "0.6228",
                        _AIRESIM_RATIO,
                        _AIRESIM_RATIO * _AIRESIM_ERROR_H / _AIRESIM_H,
                    ),
                ),
            ),
        ),
    ),
    Check("V6", _TORCHFT, "torchft", (Point({}, (_COMMITTED,)),)),
    Check(
        "V7",
        _INFINITEHBD,
        "infinitehbd",
        (
            Point(
                {},
                (
                    Target("nodes down, mean (%)", "down_mean_percent", "2.32", 2.32, decides="digits"),
                    Target("nodes down, 99th percentile (%)", "down_p99_percent", "7.75", 7.75, decides="digits"),
                    Target("faults in hardware (%)", "hardware_percent", "51.03", 51.03, decides="digits"),
                ),
            ),
        ),
        trace="infinitehbd-faults.json",
    ),
    Check("V11", _LLAMA, "llama3", (Point({}, (Target("ETTR", "ettr", "> 0.9", 0.9, decides="at least"),)),)),
)
"""All of them, in the order of the table."""
