"""Failures that happened: a trace of faults, as its file tells them, and the rules by which they are read."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import model_validator

from clustersim.scenario.errors import show, wrong
from clustersim.scenario.laws import DurationOrLaw
from clustersim.scenario.part import Part
from clustersim.scenario.quantities import DURATION
from clustersim.scenario.units import Duration, Name, PositiveCount, PositiveDuration

if TYPE_CHECKING:
    import pandas as pd

_KINDS = ("csv", "json", "parquet")


class Columns(Part):
    """Which column of a trace says what; a dotted name reaches into the nested records of a JSON file."""

    time: Name
    """When a fault starts, or when an event is."""
    node: Name
    """The node, by whatever name."""
    end: Name | None = None
    """When it ends, in files of one row a fault; empty: not before the trace does."""
    event: Name | None = None
    """Whether it starts or ends, in files of one row an event."""
    cause: Name | None = None
    """Its cause."""

    @model_validator(mode="after")
    def _check(self) -> "Columns":
        if (self.end is None) == (self.event is None):
            found = "neither" if self.end is None else "both"
            raise wrong("either end (one row a fault) or event (one row an event)", found, key="event")
        return self


class Traced(Part):
    """Failures and repairs as a trace tells them, in the order of time."""

    cause: Name
    """Its name, unique in the scenario; the trace's own causes are added to it."""
    trace: Name
    """A CSV, JSON or Parquet file, seen from the directory of the scenario's."""
    sha256: Name | None = None
    """Of the file's bytes; filled in, and if stated the file must have it."""
    columns: Columns
    """Which column says what."""
    unit: Literal["ns", "us", "ms", "s", "min", "h", "d", "w", "y"]
    """Of the times in the file."""
    starts: Name | None = None
    """With columns.event: the word there for the start of a fault."""
    ends: Name | None = None
    """With columns.event: the word for the end of one."""
    nodes: PositiveCount
    """On which it was taken, those without a fault included; as many as the cluster has."""
    length: PositiveDuration
    """For how long, from `offset` on."""
    offset: Duration = 0
    """The time in the file at which the run begins; what ended before is left out."""
    at_end: Literal["stop", "repeat"] = "stop"
    """After its length nothing fails any more, or it begins again."""
    overlaps: Literal["refuse", "merge"] = "refuse"
    """Faults of one node that overlap are an error, or one fault of the first one's cause."""
    zero_length: Literal["keep", "drop"] = "keep"
    """Faults that end as they start interrupt the job, or are left out."""
    assign: Literal["shuffle", "order"] = "shuffle"
    """A node of the trace is any node of the cluster, drawn for each replication; or in the order of the first rows."""
    detection: DurationOrLaw = 0
    """From the failure until it is noticed."""

    @model_validator(mode="before")
    @classmethod
    def _breaks_nodes(cls, values: object) -> object:
        for key in ("kind", "slows"):
            if isinstance(values, Mapping) and key in values:
                raise wrong("no such key beside trace, whose faults take their nodes out of the job", "both", key=key)
        return values

    @model_validator(mode="after")
    def _check(self) -> "Traced":
        if self.trace.rpartition(".")[2].lower() not in _KINDS:
            raise wrong("a file that ends in .csv, .json or .parquet", show(self.trace), key="trace")
        for key in ("starts", "ends"):
            if (getattr(self, key) is None) != (self.columns.event is None):
                expected = f"columns.event beside {key}" if self.columns.event is None else "the word in columns.event"
                raise wrong(expected, show(getattr(self, key)), key=key)
        return self


class Fault(NamedTuple):
    """One fault: [start_ns, end_ns) since the run's begin, a node of the trace by the order of the first rows."""

    start_ns: int
    end_ns: int
    node: int
    cause: str  # empty without a column of causes


class TraceError(ValueError):
    """A trace that cannot be read: the key that it concerns, what was expected, and what was found in which row."""

    def __init__(self, key: str, expected: str, found: str) -> None:
        super().__init__(f"{key}: expected {expected}, found {found}")
        self.key, self.expected, self.found = key, expected, found


class _Row(NamedTuple):
    number: int  # from 1, without the heading
    start_ns: int
    end_ns: int | None  # None: open
    node: int
    cause: str


def read_faults(directory: Path, traced: Traced) -> tuple[Fault, ...]:
    """The faults of a trace within its length, by their start. Raises TraceError."""
    rows = _rows(_table(directory / traced.trace, traced), traced)
    end_ns = traced.length
    faults = []
    for row in sorted(_merged(rows, traced), key=lambda row: (row.start_ns, row.number)):
        until = end_ns if row.end_ns is None else row.end_ns
        if row.start_ns > end_ns:
            raise TraceError("length", f"a time that covers row {row.number}", "a shorter one")
        if row.start_ns < 0 >= until or (traced.zero_length == "drop" and until == row.start_ns):
            continue
        faults.append(Fault(max(0, row.start_ns), min(until, end_ns), row.node, row.cause))
    return tuple(faults)


def _table(path: Path, traced: Traced) -> "pd.DataFrame":
    import json

    import pandas as pd
    import pyarrow.parquet as pq

    try:
        if path.suffix.lower() == ".json":
            table = pd.json_normalize(json.loads(path.read_text("utf-8")))
        elif path.suffix.lower() == ".csv":
            table = _csv(path)
        else:
            table = pq.read_table(path).to_pandas(ignore_metadata=True)
    except TraceError:
        raise
    except Exception as error:  # what a library makes of bytes that are no table is any of them
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise TraceError("trace", "a table of faults", f"an error ({reason[:80]})") from None
    for key, column in traced.columns.model_dump(exclude_none=True).items():
        if column not in table.columns:
            raise TraceError(f"columns.{key}", f"a column of {traced.trace}", show(column))
    if table.empty:
        raise TraceError("trace", "a row for each fault or event", "none")
    return table


def _csv(path: Path) -> "pd.DataFrame":
    """Every value as it is written, an empty one as None. A row that was cut short is not taken for one with an end.

    Raises TraceError, what reading raises, and csv.Error.
    """
    import csv

    import pandas as pd

    with open(path, encoding="utf-8-sig", newline="") as file:
        heading, *lines = [line for line in csv.reader(file, strict=True) if line] or [[]]
    for number, line in enumerate(lines, 1):
        if len(line) != len(heading):
            raise TraceError("trace", f"{len(heading)} values in row {number}, as the heading has", str(len(line)))
    for name in heading:
        if heading.count(name) > 1:
            raise TraceError("trace", "each column once", f"{show(name)} again")
    return pd.DataFrame([[value or None for value in line] for line in lines], columns=heading, dtype=object)


def _rows(table: "pd.DataFrame", traced: Traced) -> list[_Row]:
    """One row a fault, in the order of the file, which must be that of time."""
    from pandas.api.types import is_scalar

    columns = traced.columns
    numbers: dict[object, int] = {}
    rows: list[_Row] = []
    open_rows: dict[int, list[int]] = {}  # node -> indices of its open faults, the oldest first
    causes = table[columns.cause] if columns.cause else [""] * len(table)
    told = table[columns.end or columns.event]
    last_ns = None
    for number, (time, node, word, cause) in enumerate(
        zip(table[columns.time], table[columns.node], told, causes, strict=True), 1
    ):
        for key, value in (("node", node), ("end" if columns.end else "event", word), ("cause", cause)):
            if not is_scalar(value):
                raise TraceError(f"columns.{key}", "single values", f"{show(value)} in row {number}")
        if _is_missing(node):
            raise TraceError("columns.node", "the name of a node", f"nothing in row {number}")
        at_ns = _time(time, traced, "time", number)
        if last_ns is not None and at_ns < last_ns:
            raise TraceError("trace", "times in order", f"row {number} before the one above")
        last_ns = at_ns
        named = "" if _is_missing(cause) else str(cause)
        index = numbers.setdefault(node, len(numbers))
        if index >= traced.nodes:
            raise TraceError("nodes", f"at least the {index + 1} nodes named until row {number}", str(traced.nodes))
        if columns.end is not None:
            end_ns = None if _is_missing(word) else _time(word, traced, "end", number)
            if end_ns is not None and end_ns < at_ns:
                raise TraceError("trace", "an end after its start", f"row {number} that ends before it starts")
            rows.append(_Row(number, at_ns, end_ns, index, named))
        elif word == traced.starts:
            open_rows.setdefault(index, []).append(len(rows))
            rows.append(_Row(number, at_ns, None, index, named))
        elif word != traced.ends:
            expected = f'"{traced.starts}" or "{traced.ends}" in column {columns.event}'
            raise TraceError("trace", expected, f"{show(word)} in row {number}")
        elif not open_rows.get(index):
            raise TraceError("trace", "a start before each end", f"row {number} that ends a fault that did not start")
        else:
            first = open_rows[index].pop(0)
            rows[first] = rows[first]._replace(end_ns=at_ns)
    return rows


def _is_missing(value: object) -> bool:
    """Whether a file says nothing there: an empty value, null, or NaN, which is how tables of numbers hold those."""
    import pandas as pd

    return bool(pd.isna(value))  # type: ignore[call-overload]


def _time(value: object, traced: Traced, key: str, number: int) -> int:
    """A time of the file, in nanoseconds since the run's begin."""
    try:
        if isinstance(value, bool):
            raise TypeError
        since = round(float(value) * DURATION.factors[traced.unit]) - traced.offset  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise TraceError(f"columns.{key}", "numbers", f"{show(value)} in row {number}") from None
    return since


def _merged(rows: Iterable[_Row], traced: Traced) -> list[_Row]:
    """The faults with those of one node that overlap made one, or refused."""
    last: dict[int, int] = {}  # node -> index of its last fault
    merged: list[_Row] = []
    for row in rows:
        index = last.get(row.node)
        before = None if index is None else merged[index]
        if index is None or before is None or (before.end_ns is not None and before.end_ns <= row.start_ns):
            last[row.node] = len(merged)
            merged.append(row)
        elif traced.overlaps == "refuse":
            found = f"row {row.number} within row {before.number}"
            raise TraceError("overlaps", '"merge", or faults of one node apart', found)
        else:
            end_ns = None if None in (before.end_ns, row.end_ns) else max(before.end_ns or 0, row.end_ns or 0)
            merged[index] = before._replace(end_ns=end_ns)
    return merged
