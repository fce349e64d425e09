"""Whole processes: how much memory they take at most, and how long the help takes."""

import subprocess
import sys
from statistics import median
from time import perf_counter

from measures.timing import TURNS

_PEAK = "; import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
_LARGE = (
    "large = {'cluster.nodes': 131072, 'parallelism.data': 8192, 'model.global_batch': 131072,"
    " 'run.wall_time': '365 d', 'checkpoint.every': '10 min'}; "
)


def peak_mb(program):
    """The most memory that a Python program holds, in MB."""
    started = "import clustersim as cs; scenario = cs.load_scenario('llama3-405b'); "
    done = subprocess.run([sys.executable, "-c", started + program + _PEAK], capture_output=True, text=True, check=True)
    return float(done.stdout)


def memory():
    yield "peak memory of a Llama run", peak_mb("cs.simulate(scenario).summary()"), " MB", 200
    large = peak_mb(_LARGE + "cs.simulate(cs.load_scenario(scenario, large)).summary()")
    yield "peak memory of 131,072 nodes for a year", large, " MB", 500
    study = "cs.sweep(scenario, {'checkpoint.every': ['10 min']}, replications=1000, workers=1)"
    yield "peak memory of a study of 1,000 replications", peak_mb(study), " MB", 500


def seconds(*arguments):
    began = perf_counter()
    subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
    return perf_counter() - began


def start_up():
    helps, pydantics = [], []
    for _ in range(TURNS):
        helps.append(seconds("-m", "clustersim.cli.main", "--help"))
        pydantics.append(seconds("-c", "import pydantic"))
    yield "clustersim --help over import pydantic", median(helps) / median(pydantics), " times", 0.35 / 0.23


MEASURES = (memory, start_up)
