"""What it costs to read a stored study: 10^5 replications, whose ledger has more than 10^7 rows."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from measures.process import PEAK_MB

import clustersim as cs
from clustersim.study.study import TABLES, Study
from clustersim.study.study_store import StudyStore

REPLICATIONS = 100_000
_SIMULATED = 20
# A loader that damages, over a corpus that is passed three times: more than a hundred pairs of planned and seen a run.
_SCENARIO = {"loader.preset": "epoch", "data.documents": "5 B"}

_READ = """
import sys, time
import clustersim as cs
began = time.process_time()
study = cs.load_study(sys.argv[1])
{asked}
print(time.process_time() - began, {PEAK_MB})
"""


def grown(frame: pd.DataFrame, copies: int, replications: int) -> pd.DataFrame:
    """A table of a point with so many times its replications; what varies in it varies in the copies too."""
    whole = pd.concat([frame.assign(replication=frame["replication"] + copy * replications) for copy in range(copies)])
    draw = np.random.default_rng(0)
    for name in whole.select_dtypes("number").columns.difference(["point", "replication", "seed", "planned", "seen"]):
        values = whole[name].to_numpy()
        if values.min() < values.max():
            whole[name] = (values * draw.uniform(0.999, 1.001, len(values))).astype(values.dtype)
    return whole.reset_index(drop=True)


def write_study(directory: Path, replications: int) -> Study:
    """A study of so many replications through the writer of sweeps, made of some that were simulated."""
    made = cs.sweep(cs.load_scenario("llama3-405b", _SCENARIO), {}, replications=_SIMULATED, workers=1)
    table, ledger = (grown(frame, replications // _SIMULATED, _SIMULATED) for frame in (made.table, made.ledger))
    study = Study(made.manifest, table, ledger, made.points)
    with StudyStore(directory, made.manifest, resume=False) as store:
        store.finish(study)
    return study


def reading(directory: Path, asked: str) -> tuple[float, float]:
    """Seconds on a core, and MB at most, of a process that loads a study and asks for more."""
    command = [sys.executable, "-c", _READ.format(asked=asked, PEAK_MB=PEAK_MB), str(directory)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, peak_mb = map(float, done.stdout.split())
    return seconds, peak_mb


def stored_study():
    with TemporaryDirectory() as place:
        directory = Path(place) / "study"
        ledger_rows = len(write_study(directory, REPLICATIONS).ledger)
        for what, asked in (
            ("load, and one figure's mean", 'study.summary("ettr")'),
            ("load, and every figure's mean", "study.summary()"),
            (f"load, and its ledger of {ledger_rows / 1e6:.3g} M rows", "study.ledger"),
        ):
            seconds, peak_mb = reading(directory, asked)
            yield f"a study of {REPLICATIONS:,} replications: {what}", seconds, " s", None, False, f"{peak_mb:,.0f} MB"
        sizes = {name: (directory / f"{name}.parquet").stat().st_size / 1e6 for name in TABLES}
        told = ", ".join(f"{name} {size:.3g}" for name, size in sizes.items())
        yield "the same on disk", sum(sizes.values()), " MB", None, False, told


LONG = (stored_study,)
