"""What a study of many replications takes, planned from what few of them take here: `python benchmarks/study_plan.py`.

`--part 2000` runs so many on a Dask cluster of this machine and puts what they took beside what is planned for them;
`--into docs/performance.md` puts the plan where it stands there.
"""

import argparse
import math
import multiprocessing
import pickle
import resource
import tracemalloc
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, sleep
from typing import NamedTuple

from pasted import number, paste

import clustersim as cs
from clustersim.scenario import Scenario
from clustersim.study.dask_engine import OnDask
from clustersim.study.drive import BATCH
from clustersim.study.engines import engine_of
from clustersim.study.gathered import Gathered
from clustersim.study.study import TABLES
from clustersim.study.study_store import json_lines
from clustersim.study.work import Row, Task, work

_REPLICATIONS = 60
_TASKS = 500
# Rows that are put into tables: enough that those that wait for it are few.
_COPIES = 10_000
_PART_WORKERS = 2
_WATCHED_S = 8.0


class Costs(NamedTuple):
    """What was measured, on average: seconds on a core, and bytes."""

    replication_s: float
    """Of a worker, for a replication."""
    row_s: float
    """Of the process that sweeps, for a replication's row: unpickled, written, and put into the tables."""
    task_s: float
    """Of the same process, which Dask's scheduler runs in, for a task."""
    line_bytes: float
    """On disk for a replication, while the study goes on."""
    stored_bytes: float
    """On disk for a replication, when it is done."""
    held_bytes: float
    """In memory for a replication, when the tables are made."""
    watch: float
    """Of the same process, while it has a cluster: its share of a core with no worker."""
    watch_worker: float
    """The same for each worker more."""
    idle_mb: float
    """In memory of a process that has a cluster and has computed nothing."""

    @property
    def replications_per_task(self) -> int:
        """How many a worker does until it hands back."""
        return min(BATCH, math.ceil(OnDask.patience_s / self.replication_s))


def measured(
    scenario: Scenario, replications: int = _REPLICATIONS, tasks: int = _TASKS, watched_s: float = _WATCHED_S
) -> Costs:
    """The costs of a scenario's replications, of tasks and of a cluster, from so many of them and for so long."""
    task_s, one, idle_mb = _on_dask(scenario, 1, tasks, watched_s)
    _, four, _ = _on_dask(scenario, 4, tasks, watched_s)
    watch_worker = max(0.0, four - one) / 3
    asked = Task(((0, scenario),), 0, replications, None, math.inf)
    work(asked._replace(stop=1))  # imports what it takes
    began = process_time()
    rows = work(asked).rows
    replication_s = (process_time() - began) / replications
    line_bytes = len(json_lines(rows)) / replications
    stored_bytes = _stored_bytes(scenario, replications)
    return Costs(
        replication_s,
        _row_s(rows),
        task_s,
        line_bytes,
        stored_bytes,
        _held_bytes(rows),
        max(0.0, one - watch_worker),
        watch_worker,
        idle_mb,
    )


def _many(rows: Sequence[Row]) -> list[Row]:
    return [{**rows[number % len(rows)], "replication": number} for number in range(_COPIES)]


def _row_s(rows: Sequence[Row]) -> float:
    """What the process that sweeps does with a row."""
    sent = pickle.dumps(_many(rows))
    began = process_time()
    came = pickle.loads(sent)
    json_lines(came)
    gathered = Gathered()
    gathered.add(came)
    gathered.table(), gathered.ledger()
    return (process_time() - began) / _COPIES


def _held_bytes(rows: Sequence[Row]) -> float:
    """The most memory for a row while the tables are made."""
    sent = [pickle.dumps(row) for row in _many(rows)]
    tracemalloc.start()
    gathered = Gathered()
    for row in sent:
        gathered.add([pickle.loads(row)])
    _tables = gathered.table(), gathered.ledger()  # both are held
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / _COPIES


def _on_dask(scenario: Scenario, workers: int, tasks: int, watched_s: float) -> tuple[float, float, float]:
    """What this process does on a cluster: seconds a task that does nothing, its share of a core without tasks; MB."""
    nothing = Task(((0, scenario),), 0, 1, None, 0.0)
    with engine_of("dask", workers, None) as engine:
        engine.executor.submit(len, nothing).result()
        began = process_time()
        for future in [engine.executor.submit(len, nothing) for _ in range(tasks)]:
            future.result()
        task_s = (process_time() - began) / tasks
        began, began_s = perf_counter(), process_time()
        sleep(watched_s)
        return task_s, (process_time() - began_s) / (perf_counter() - began), _memory_mb("VmRSS")


def _memory_mb(which: str) -> float:
    """The memory of this process as Linux tells it: VmRSS now, VmHWM at most."""
    return int(Path("/proc/self/status").read_text().split(f"{which}:")[1].split()[0]) / 1024


def _stored_bytes(scenario: Scenario, replications: int) -> float:
    """What a replication adds to the tables of a study."""
    sizes = []
    for count in (replications // 2, replications):
        with TemporaryDirectory() as place:
            cs.sweep(scenario, {}, count, workers=1, out=Path(place) / "study")
            sizes.append(_size(Path(place) / "study"))
    return (sizes[1] - sizes[0]) / (replications - replications // 2)


def _size(directory: Path) -> int:
    return sum((directory / f"{name}.parquet").stat().st_size for name in TABLES)


class Line(NamedTuple):
    """One line of a plan."""

    what: str
    value: float
    unit: str


def planned(costs: Costs, replications: int, workers: int) -> list[Line]:
    """What a study of so many replications on so many workers takes."""
    busy_s = replications * costs.replication_s
    tasks = math.ceil(replications / costs.replications_per_task)
    # Of a core, while the study goes on: the process that sweeps, for each worker and in all.
    each = (tasks * costs.task_s + replications * costs.row_s) / busy_s + costs.watch_worker
    load = costs.watch + workers * each
    return [
        Line("cores of the workers", busy_s / 3600, "core-h"),
        Line("tasks for Dask", tasks, ""),
        Line("core of the process that sweeps", load * busy_s / workers, "s"),
        Line("of it, for tasks", tasks * costs.task_s, "s"),
        Line("its memory", costs.idle_mb + replications * costs.held_bytes / 1e6, "MB"),
        Line("disk, while it goes on", replications * costs.line_bytes / 1e6, "MB"),
        Line("disk, when it is done", replications * costs.stored_bytes / 1e6, "MB"),
        Line("time", max(1.0, load) * busy_s / workers, "s"),
        Line("workers that one such process keeps busy", (1 - costs.watch) / each, ""),
    ]


def part(scenario: Scenario, replications: int, workers: int) -> dict[str, float]:
    """What so many replications take on a local Dask cluster, by the names of a plan's lines.

    It runs in a process of its own, so that its memory and its children are of this study alone.
    """
    with TemporaryDirectory() as place:
        directory, lines_bytes = Path(place) / "study", [0]

        def look(done: float) -> None:
            lines_bytes.append((directory / "rows.jsonl").stat().st_size)

        began, began_s = perf_counter(), process_time()
        cs.sweep(scenario, {}, replications, engine="dask", workers=workers, out=directory, progress=look)
        took_s, swept_s = perf_counter() - began, process_time() - began_s
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return {
            "cores of the workers": (children.ru_utime + children.ru_stime) / 3600,
            "core of the process that sweeps": swept_s,
            "its memory": _memory_mb("VmHWM"),
            "disk, while it goes on": max(lines_bytes) / 1e6,
            "disk, when it is done": _size(directory) / 1e6,
            "time": took_s,
        }


def page(costs: Costs, replications: int, workers: int, found: dict[str, float], of: int) -> str:
    """The plan in Markdown, beside it that of a part and what the part took, if one was run."""
    head = [f"{replications:,} replications, {workers:,} workers"]
    columns = [{line.what: line for line in planned(costs, replications, workers)}]
    if found:
        head += [f"{of:,} replications, {_PART_WORKERS} workers", "these ran and took"]
        columns.append({line.what: line for line in planned(costs, of, _PART_WORKERS)})
        columns.append({what: Line(what, value, columns[0][what].unit) for what, value in found.items()})
    lines = [f"| what | {' | '.join(head)} |", "|---|" + "---|" * len(head)]
    for what in columns[0]:
        cells = [f"{number(column[what].value)} {column[what].unit}" if what in column else "" for column in columns]
        lines.append(f"| {what} | {' | '.join(cell.strip() for cell in cells)} |")
    each = (
        f"Measured, a replication: {1e3 * costs.replication_s:.3g} ms of a worker, {1e3 * costs.row_s:.2g} ms of the "
        f"process that sweeps. A task of up to {costs.replications_per_task} of them: {1e3 * costs.task_s:.2g} ms of "
        f"Dask's scheduler and client. These two without a task: {costs.watch:.1%} of a core, and "
        f"{costs.watch_worker:.2%} more for each worker."
    )
    return "\n".join([*lines, "", each])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, plan, run the part, print."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("scenario", nargs="?", default="llama3-405b", help="a scenario file, or a shipped one's name")
    asked.add_argument("--replications", type=int, default=100_000, metavar="N", help="of the study that is planned")
    asked.add_argument("--workers", type=int, default=64, metavar="N", help="that it runs on")
    asked.add_argument("--part", type=int, default=0, metavar="N", help="run so many on a local Dask cluster")
    asked.add_argument("--into", type=Path, metavar="PAGE", help="put the plan into a page that has a place for it")
    options = asked.parse_args(arguments)
    scenario = cs.load_scenario(options.scenario)
    costs, found = measured(scenario), {}
    if options.part:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
            found = alone.submit(part, scenario, options.part, _PART_WORKERS).result()
    shown = page(costs, options.replications, options.workers, found, options.part)
    print(shown)
    if options.into:
        paste(options.into, "plan", shown)


if __name__ == "__main__":
    main()
