"""The restarts of a real run, read from a CSV file.

| column | |
|---|---|
| step_reached | steps that were done when the run stopped: with 47, steps 0 to 46 |
| step_restarted_from | the step that the next leg began with; empty in a last row, which is the run's end |
| data | the replicas from there on; the scenario's all along if there is no such column |
| interrupted_h, restarted_h | when it stopped, and when it trained again, in hours since the start; may be left out |
"""

import csv
from collections.abc import Iterator, Sequence
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from clustersim.scenario.errors import ScenarioError, closest, problem, show

_NEEDED = ("step_reached", "step_restarted_from")
_COLUMNS = (*_NEEDED, "data", "interrupted_h", "restarted_h")
MOST_STEPS = 10**12
"""More than any run has."""

# Such times fit 64 bits of nanoseconds.
_MOST_HOURS = 10**6


class Restart(NamedTuple):
    """One row: the run stopped, and began anew."""

    step_reached: int
    step_restarted_from: int | None
    """None: it did not begin anew, this is its end."""
    data: int | None
    interrupted_h: float | None
    restarted_h: float | None


class Restarts(NamedTuple):
    """The rows of a file, in the order in which they happened."""

    source: str
    """The file, as errors show it."""
    rows: tuple[Restart, ...]

    def wrong(self, number: int, column: str, expected: str, found: str) -> ScenarioError:
        """The error that says what is wrong with a row, numbered from 1 without the heading."""
        return problem(self.source, f"row {number}, {column}", expected, found)


def read_restarts(path: str | PathLike[str]) -> Restarts:
    """Read a file of restarts.

    Raises:
        ScenarioError: it cannot be read, is no such file, or its rows cannot have happened.
    """
    file = Path(path)
    try:
        lines = list(csv.reader(file.read_text("utf-8-sig").splitlines(), strict=True))
    except OSError as error:
        raise problem(str(path), "", "a CSV file of restarts", f"an error ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise problem(str(path), "", "text in UTF-8", f"another byte at {error.start}") from None
    except csv.Error as error:
        raise problem(str(path), "", "a CSV file of restarts", f"an error ({error})") from None
    heading = [name.strip() for name in lines[0]] if lines else []
    _check_heading(str(path), heading)
    rows = [line for line in lines[1:] if any(value.strip() for value in line)]
    if not rows:
        raise problem(str(path), "", "a row for each restart", "none")
    found = Restarts(str(path), ())
    found = found._replace(rows=tuple(_row(found, number, heading, line) for number, line in enumerate(rows, 1)))
    _check_order(found)
    return found


def _check_heading(source: str, heading: Sequence[str]) -> None:
    for place, name in enumerate(heading):
        if name not in _COLUMNS:
            nearest = closest(name, _COLUMNS)
            expected = "a known column" if nearest else f"columns of {', '.join(_COLUMNS)}"
            raise problem(source, f"column {place + 1}", expected, show(name), nearest)
        if name in heading[:place]:
            raise problem(source, f"column {place + 1}", "each column once", f"{show(name)} again")
    for name in _NEEDED:
        if name not in heading:
            raise problem(source, "", f"a column {name}", f"{', '.join(heading) or 'nothing'}")


def _row(found: Restarts, number: int, heading: Sequence[str], line: Sequence[str]) -> Restart:
    if len(line) != len(heading):
        raise problem(found.source, f"row {number}", f"{len(heading)} values, as the heading has", str(len(line)))
    told = {name: value.strip() for name, value in zip(heading, line, strict=True)}

    def whole(column: str, least: int, most: int) -> int | None:
        text = told.get(column, "")
        if not text:
            return None
        # Python refuses to read thousands of digits.
        readable = text.isascii() and text.isdigit() and len(text) <= 100
        if not readable or not least <= int(text) <= most:
            raise found.wrong(number, column, f"a whole number from {least} to {most}", show(text))
        return int(text)

    def hours(column: str) -> float | None:
        text = told.get(column, "")
        try:
            value = float(text) if text else None
        except ValueError:
            value = -1.0
        if value is not None and not 0 <= value <= _MOST_HOURS:
            raise found.wrong(number, column, "hours since the start", show(text))
        return value

    reached = whole("step_reached", 0, MOST_STEPS)
    if reached is None:
        raise found.wrong(number, "step_reached", f"a whole number from 0 to {MOST_STEPS}", "nothing")
    times = hours("interrupted_h"), hours("restarted_h")
    return Restart(reached, whole("step_restarted_from", 0, MOST_STEPS), whole("data", 1, MOST_STEPS), *times)


def _check_order(found: Restarts) -> None:
    """Refuse rows that cannot have happened one after the other."""
    last = len(found.rows)
    for number, row in enumerate(found.rows, 1):
        if row.step_restarted_from is None:
            if number < last:
                raise found.wrong(number, "step_restarted_from", "a step; it may be empty in the last row", "nothing")
        elif row.step_restarted_from > row.step_reached:
            expected = f"a step of at most {row.step_reached}, which the run had reached"
            raise found.wrong(number, "step_restarted_from", expected, str(row.step_restarted_from))
    for number, (before, row) in enumerate(pairwise(found.rows), 2):
        assert before.step_restarted_from is not None
        if row.step_reached < before.step_restarted_from:
            expected = f"a step of at least {before.step_restarted_from}, from which the leg began"
            raise found.wrong(number, "step_reached", expected, str(row.step_reached))
    for (one, _, earlier), (number, column, later) in pairwise(_times(found.rows)):
        if later < earlier:
            raise found.wrong(number, column, f"a time after {earlier:g} h (row {one})", f"{later:g}")


def _times(rows: Sequence[Restart]) -> Iterator[tuple[int, str, float]]:
    """The times that are told, as row, column, hours."""
    for number, row in enumerate(rows, 1):
        for column in ("interrupted_h", "restarted_h"):
            value = getattr(row, column)
            if value is not None:
                yield number, column, value
