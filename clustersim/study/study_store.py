"""A study on disk, which may be interrupted at any instant and gone on with.

    study.json       what is simulated: written first
    rows.jsonl       the rows of finished replications as they come, one JSON object a line, until they are in tables
    table.parquet, ledger.parquet, points.parquet    what `Study` has, written when the sweep ends, however it ends

A row is one appended line, so a replication is there whole or, with its line cut short, not at all. Parquet cannot be
appended to, and a file a result would be a hundred times the size.
"""

import fcntl
import json
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from clustersim.scenario.errors import show
from clustersim.study.gathered import Gathered
from clustersim.study.points import key_columns
from clustersim.study.store import METADATA_KEY, DirectoryRefused, make_directory, write_whole
from clustersim.study.study import MANIFEST, TABLES, Study
from clustersim.study.work import Row

_ROWS = "rows.jsonl"
_LOCK = ".lock"
# What has no part in what a row is: a study may go on under another rule, and on another machine.
_FREE = ("rule", "platform")


class StudyStore:
    """The directory of one study, held against other processes until it is closed. A context manager."""

    def __init__(self, directory: Path, manifest: Mapping[str, Any], resume: bool) -> None:
        """Make the directory, take an empty one, or with `resume` one that holds this study.

        Raises:
            DirectoryRefused: it holds something else, is held by another process, or cannot be made.
        """
        entries = make_directory(directory)
        if not os.path.exists(directory / MANIFEST) and set(entries) - {_LOCK, f".{MANIFEST}.part"}:
            found = f'"{directory}" with {len(entries)} {"entry" if len(entries) == 1 else "entries"}'
            raise DirectoryRefused(f"expected a new or an empty directory, or a study, found {found}")
        self._directory = directory
        self._manifest = manifest
        self._lock = _locked(directory)
        try:
            self._claim(resume)
            self._rows = os.open(directory / _ROWS, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except BaseException:
            os.close(self._lock)
            raise

    def __enter__(self) -> "StudyStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._rows)
        # The kernel lets go of the lock with the file, also of a process that was killed.
        os.close(self._lock)

    def _claim(self, resume: bool) -> None:
        """See that the directory's study is this one, or make it so."""
        path = self._directory / MANIFEST
        if path.exists():
            if not resume:
                raise DirectoryRefused(f'expected a new or an empty directory, found a study in "{self._directory}"')
            stored = json.loads(path.read_text("utf-8"))
            for part, here in self._manifest.items():
                if part not in _FREE and (told := _difference(part, stored.get(part), here)):
                    raise DirectoryRefused(f'expected the study that "{self._directory}" holds, with {told}')
            if stored == self._manifest:
                return
        text = json.dumps(self._manifest, indent=2, allow_nan=False) + "\n"
        write_whole(path, lambda temporary: temporary.write_text(text, "utf-8"))

    def keep(self, rows: Sequence[Row]) -> None:
        """Store the rows of finished replications.

        Raises:
            OSError: they cannot be written; nothing of them stays.
        """
        text = json_lines(rows)
        before = os.fstat(self._rows).st_size
        try:
            while text:
                text = text[os.write(self._rows, text) :]
        except OSError as error:
            os.ftruncate(self._rows, before)
            error.filename = str(self._directory / _ROWS)
            raise

    def load(self, gathered: Gathered) -> None:
        """Take in every finished replication that is stored."""
        if (self._directory / "table.parquet").exists():
            table, ledger = (pd.read_parquet(self._directory / f"{name}.parquet") for name in ("table", "ledger"))
            table = table.drop(columns=list(key_columns(self._manifest["design"]["points"])))
            keys = ["point", "replication"]
            # The ledger is written first: what it has beyond the table is in the rows still.
            gathered.load(table, ledger.merge(table[keys], on=keys))
        whole = 0
        with open(self._directory / _ROWS, "rb") as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                row = json.loads(line)
                if not gathered.has(row["point"], row["replication"]):
                    gathered.add([row])
        # A line that was cut short is no row; the next one begins in its place.
        os.ftruncate(self._rows, whole)

    def finish(self, study: Study) -> None:
        """Write the tables, which hold every row that was kept; none if there is no row.

        Raises:
            OSError: they cannot be written; the rows stay.
        """
        if study.table.empty:
            return
        metadata = {METADATA_KEY: json.dumps(self._manifest, sort_keys=True).encode()}
        for name in TABLES:
            table = pa.Table.from_pandas(getattr(study, name), preserve_index=False)
            table = table.replace_schema_metadata({**table.schema.metadata, **metadata})
            write_whole(self._directory / f"{name}.parquet", partial(pq.write_table, table))
        os.unlink(self._directory / _ROWS)


def json_lines(rows: Sequence[Row]) -> bytes:
    """Rows as they are stored while a study goes on: a line each. Raises ValueError for NaN, which JSON lacks."""
    return "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows).encode()


def _locked(directory: Path) -> int:
    """The open lock file of a directory that no other process holds."""
    try:
        lock = os.open(directory / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise DirectoryRefused(f'expected a directory to write in, found "{directory}" ({error.strerror})') from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.read(lock, 100).decode(errors="replace").strip()
        os.close(lock)
        raise DirectoryRefused(
            f'expected a study that no other process writes, found "{directory}" in use by process {holder}'
        ) from None
    try:
        os.ftruncate(lock, 0)
        os.write(lock, f"{os.getpid()}\n".encode())
    except OSError as error:
        os.close(lock)
        error.filename = str(directory / _LOCK)
        raise
    return lock


def _difference(path: str, there: Any, here: Any) -> str | None:
    """The first place where two JSON values differ, and how; None if they do not."""
    if there == here:
        return None
    if isinstance(there, Mapping) and isinstance(here, Mapping):
        both = ((key, there.get(key), here.get(key)) for key in dict.fromkeys([*there, *here]))
    elif isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        both = ((str(index), *pair) for index, pair in enumerate(zip(there, here, strict=True)))
    else:
        if isinstance(there, list) and isinstance(here, list):
            return f"{len(there)} entries in {path}, found {len(here)}"
        return f"{path} = {show(there)}, found {show(here)}"
    return next(filter(None, (_difference(f"{path}.{key}", old, new) for key, old, new in both)))
