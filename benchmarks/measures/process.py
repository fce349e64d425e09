"""Whole processes: how much memory they take at most, and how long the help takes."""

import os
import subprocess
import sys
from time import perf_counter

from measures.timing import medians_s

PEAK_MB = "int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) / 1024"
"""What a Python program prints of the most memory that it held; its `ru_maxrss` would be that of what started it."""

_LARGE = (
    "large = {'cluster.nodes': 131072, 'parallelism.data': 8192, 'model.global_batch': 131072,"
    " 'run.wall_time': '365 d', 'checkpoint.every': '10 min'}; "
)


def peak_mb(program):
    """The most memory that a Python program holds, in MB."""
    whole = f"import clustersim as cs; scenario = cs.load_scenario('llama3-405b'); {program}; print({PEAK_MB})"
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, check=True)
    return float(done.stdout)


def memory():
    yield "peak memory of a Llama run", peak_mb("cs.simulate(scenario).summary()"), " MB", 200
    large = peak_mb(_LARGE + "cs.simulate(cs.load_scenario(scenario, large)).summary()")
    yield "peak memory of 131,072 nodes for a year", large, " MB", 500
    study = "cs.sweep(scenario, {'checkpoint.every': ['10 min']}, replications=1000, workers=1)"
    yield "peak memory of a study of 1,000 replications", peak_mb(study), " MB", 500


def started(*arguments):
    """Starts Python on these as an installed package starts: its modules are compiled already, after the first time."""
    with_compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return lambda: subprocess.run([sys.executable, *arguments], capture_output=True, check=True, env=with_compiled)


def start_up():
    helps, imports = medians_s(
        started("-m", "clustersim", "--help"), started("-c", "import pydantic"), clock=perf_counter
    )
    told = f"{helps:.2f} s, {imports:.2f} s"
    yield "`clustersim --help` over `import pydantic`", helps / imports, " times", 0.35 / 0.23, False, told


MEASURES = (start_up,)
LONG = (memory,)
