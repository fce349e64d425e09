"""Results on disk: Parquet files of each finished replication, and one JSON of them all."""

import contextlib
import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from clustersim.figures import Figure
from clustersim.run import Run
from clustersim.scenario import Scenario
from clustersim.scenario.errors import problem
from clustersim.study.perfetto import write_trace

TABLES = ("ledger", "legs", "events", "checkpoints", "time", "damage", "shards")
"""The tables of a run that are stored beside its summary; each a folder with a file a replication."""

TRACE = "trace.json"
"""The course of replication 0, for ui.perfetto.dev."""

_TEXTS = ("bucket", "cause", "corpus", "ended_by", "exact", "fate", "kind", "outcome", "reason", "tier", "where")
_FLAGS = ("in_lineage",)
METADATA_KEY = b"clustersim"
"""Where a Parquet file's schema says what made it."""

# Each is a row of a table that is made in memory.
_MOST_CHECKPOINTS = 5 * 10**6


class DirectoryRefused(ValueError):  # noqa: N818  # what happened, as the caller tells it
    """The directory to store in cannot be used. Its text is one line."""


class Store:
    """A directory that takes in replications as they finish.

    `pandas.read_parquet(directory / "legs")` reads the legs of all of them; every table has a column `replication`.
    Each file appears whole or not at all, and those of one replication together: `summary` comes last. Replication 0
    leaves its course as trace.json too, for ui.perfetto.dev.
    """

    def __init__(self, directory: Path, provenance: Mapping[str, Any]) -> None:
        """Make the directory, or take an empty one.

        Args:
            directory: where to store.
            provenance: JSON values, kept in each file's schema under the key "clustersim".

        Raises:
            DirectoryRefused: it holds something already, or cannot be made.
        """
        entries = len(make_directory(directory))
        if entries:
            found = f'"{directory}" with {entries} {"entry" if entries == 1 else "entries"}'
            raise DirectoryRefused(f"expected a new or an empty directory, found {found}")
        self._directory = directory
        self._metadata = {METADATA_KEY: json.dumps(provenance, sort_keys=True).encode()}

    def add(self, run: Run) -> None:
        """Store a finished replication.

        Raises:
            OSError: it cannot be written; nothing of it stays, and those before it do.
        """
        figures = run.summary()
        frames = {name: getattr(run, name) for name in TABLES}
        if run.lost_carries is not None:
            frames["carries"] = run.carries
        frames["summary"] = pd.DataFrame(
            {
                "seed": [run.seed],
                "outcome": [run.history.outcome],
                "reason": [run.history.reason],
                "exact": [run.exact],
                **{name: [figure] for name, figure in figures.items()},
            }
        )
        types = {name: _type_of_figure(figure) for name, figure in figures.items()}
        written: list[Path] = []
        try:
            if run.replication == 0:
                written.append(self._directory / TRACE)
                write_whole(written[-1], partial(write_trace, run))
            for name, frame in frames.items():
                # The run's own frame stays as it is.
                frame = frame.copy(deep=False)
                frame.insert(0, "replication", run.replication)
                path = self._directory / name / f"{run.replication:05}.parquet"
                written.append(path)
                path.parent.mkdir(exist_ok=True)
                table = self._table(frame, types if name == "summary" else {})
                write_whole(path, partial(pq.write_table, table))
        except BaseException:
            for path in written:
                path.unlink(missing_ok=True)
                # The folders stay where earlier replications lie in them, and go where there are none: what is empty
                # can be stored in again.
                if path.parent != self._directory:
                    with contextlib.suppress(OSError):
                        path.parent.rmdir()
            raise

    def finish(self, text: str) -> None:
        """Write run.json, last of all: the result of the replications that were added.

        Raises:
            OSError: it cannot be written; the tables stay.
        """
        write_whole(self._directory / "run.json", lambda temporary: temporary.write_text(text + "\n", "utf-8"))

    def _table(self, frame: pd.DataFrame, types: Mapping[str, pa.DataType]) -> pa.Table:
        """The frame with the same schema for each replication, an empty one included, so that they read as one."""
        schema = pa.schema([(column, types.get(column) or _type_of_column(column)) for column in frame.columns])
        table = pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
        return table.replace_schema_metadata({**table.schema.metadata, **self._metadata})


def check_storable(scenario: Scenario) -> None:
    """Refuse a scenario whose runs may leave a longer table of checkpoints than memory holds. Raises ScenarioError."""
    sizes, checkpoint = scenario.sizes, scenario.checkpoint
    step_ns = sizes.full_step_ns
    everies = {"checkpoint.every": sizes.steps_between_saves(step_ns)}
    everies |= {f"checkpoint.tiers.{i}.every": tier.every.steps_of(step_ns) for i, tier in enumerate(checkpoint.tiers)}
    for (key, steps), medium in zip(everies.items(), (checkpoint, *checkpoint.tiers), strict=True):
        write_ns = medium.write_ns(sizes.checkpoint_bytes, sizes.nodes(sizes.data))
        saves = sizes.limit_ns // max(steps * step_ns + medium.stall, write_ns)
        if sizes.steps is not None:
            saves = min(saves, sizes.steps // steps)
        if saves > _MOST_CHECKPOINTS:
            expected = f"at most {_MOST_CHECKPOINTS:.0e} saves in a run whose tables are stored"
            raise problem(scenario.source, key, expected, f"{saves:.3g}")


def make_directory(directory: Path) -> list[str]:
    """Make a directory if there is none, and list what it holds.

    Raises:
        DirectoryRefused: it cannot be made.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return os.listdir(directory)
    except OSError as error:
        raise DirectoryRefused(
            f"expected a directory that can be made, found an error ({error.strerror}: {directory})"
        ) from None


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file under a temporary name and rename it, so that it is there whole or not at all.

    Args:
        path: the file.
        write: writes it to the path that it is given.

    Raises:
        OSError: it cannot be written.
    """
    # Readers of Parquet folders pass over names that begin with a dot.
    temporary = path.with_name(f".{path.name}.part")
    try:
        write(temporary)
        os.replace(temporary, path)
    except BaseException as error:
        if isinstance(error, OSError):
            error.filename = str(path)
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _type_of_column(column: str) -> pa.DataType:
    """The type of a table's column, by its name: hours, seconds and shares are floats, the rest whole numbers."""
    if column in _TEXTS:
        return pa.string()
    if column in _FLAGS:
        return pa.bool_()
    return pa.float64() if column.endswith(("_h", "_s", "hours", "share")) else pa.int64()


def _type_of_figure(figure: Figure) -> pa.DataType:
    return pa.int64() if isinstance(figure, int) else pa.float64()
