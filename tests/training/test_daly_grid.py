"""Daly's complete model (2006) over a grid: failures strike during saves and restarts too."""

import math
import statistics

import numpy as np
import pytest
from scipy.stats import t as student

from clustersim import load_scenario
from clustersim.study.intervals import best_interval
from clustersim.theory import daly, daly_efficiency
from clustersim.training.compile import World

MTBF_S = 36_000
RESTART_S = 600
STEPS = 500  # from a save to the next
RUNS = 16
FAILURES = 1000  # a run, on average
SAVES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3)  # of the MTBF
LENGTHS = (0.5, 0.7, 1, 1.4, 2)  # of Daly's interval
GRID = [(save, length) for save in SAVES for length in LENGTHS]


class Point:
    """One save and one interval (s): the wall times (s) of all runs, and their mean by the model."""

    def __init__(self, save, length):
        self.interval_s = length * daly(save * MTBF_S, MTBF_S)
        save_s = save * MTBF_S
        self.segments = math.ceil(FAILURES / math.expm1((self.interval_s + save_s) / MTBF_S))
        scenario = load_scenario(
            {
                "name": "daly",
                "run": {"steps": self.segments * STEPS, "limit": "100 y"},
                "model": {"global_batch": 1, "step_time": f"{self.interval_s / STEPS} s"},
                "cluster": {"nodes": 1, "gpus_per_node": 1},
                "failures": [{"cause": "any", "count": 1, "over": f"{MTBF_S} s", "scope": "job"}],
                "checkpoint": {"every": f"{STEPS} steps", "stall": f"{save_s} s"},
                "recovery": {"start_up": f"{RESTART_S} s"},
                "data": {"samples": "1 T"},
            }
        )
        self.walls = np.array([World(scenario, 11, run).run().wall_ns / 1e9 for run in range(RUNS)])
        # T = M exp(R/M) (exp((tau + save)/M) - 1) is exact for one interval and its save; the last one ends in none.
        saved, last = (
            self.interval_s / daly_efficiency(self.interval_s, stall_s, MTBF_S, RESTART_S) for stall_s in (save_s, 0)
        )
        self.exact = (self.segments - 1) * saved + last

    def z_score(self):
        error = statistics.stdev(self.walls) / math.sqrt(RUNS)
        assert error < 0.02 * self.exact
        return (self.walls.mean() - self.exact) / error

    def ettr(self):
        return self.segments * self.interval_s / self.walls


def bound(points):
    """Bonferroni: one false alarm in a hundred such sets of points."""
    return student.ppf(1 - 0.01 / 2 / points, RUNS - 1)


@pytest.fixture(scope="module")
def grid():
    return {point: Point(*point) for point in GRID}


@pytest.mark.parametrize("corner", [GRID[0], GRID[-1]])
def test_corners_of_the_grid(corner):
    assert abs(Point(*corner).z_score()) < bound(2)


@pytest.mark.slow
def test_the_whole_grid(grid):
    assert len(grid) == 40
    assert {point: z for point, each in grid.items() if abs(z := each.z_score()) > bound(40)} == {}


@pytest.mark.slow
def test_the_best_interval_is_dalys(grid):
    """Daly's lies in the 95 % interval of at least six of eight: of right intervals, three miss once in 170 times."""
    right = 0
    for save in SAVES:
        points = [grid[save, length] for length in LENGTHS]
        best = best_interval(np.array([point.interval_s for point in points]), np.stack([p.ettr() for p in points]))
        right += best.ci95_low_s < daly(save * MTBF_S, MTBF_S) < best.ci95_high_s
        assert best.ci95_high_s < 1.08 * best.ci95_low_s
    assert right >= 6
