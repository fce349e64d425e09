"""One HTML page of a result that opens offline: answer, assumptions, tables that sort, interactive figures, downloads.

The page holds all that it shows; its content security policy forbids the browser to load anything. Texts are escaped,
so that a name is a name and never markup.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


class Cell(NamedTuple):
    """A cell of a table."""

    text: str
    value: float | str
    """What it sorts by: the figure itself, of which the text may show three digits."""


class Table(NamedTuple):
    """A table that sorts by any of its columns."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


class Plot(NamedTuple):
    """An interactive figure."""

    figure: Figure
    caption: str
    """What is drawn, and in which units."""
    told: str
    """What it shows, for those who do not see it."""


class Download(NamedTuple):
    """A table that the page offers as CSV."""

    name: str
    rows: int
    columns: int
    link: str
    """A data URI; empty if the table is too long to be put into a page."""


class Report(NamedTuple):
    """What a page says."""

    title: str
    what: str
    """What was simulated, in a line."""
    answer: Sequence[str]
    """Sentences, the answer first."""
    plots: Sequence[Plot]
    tables: Sequence[Table]
    assumptions: Sequence[tuple[str, str]]
    """Of what, and what is assumed."""
    scenario: Mapping[str, object]
    """The resolved scenario, in JSON values."""
    provenance: Mapping[str, object]
    downloads: Sequence[Download]


_MOST_BYTES = 4_000_000


def page(report: Report) -> str:
    """The page, as the text of an HTML file."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from plotly.offline import get_plotlyjs

    templates = Environment(
        loader=PackageLoader("analysis"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return templates.get_template("report.html").render(
        report=report,
        scenario=flat(report.scenario),
        provenance=flat(report.provenance),
        figures=[_in_script(plot.figure.to_json()) for plot in report.plots],
        plotly=get_plotlyjs(),
    )


def flat(values: Mapping[str, object], above: str = "") -> list[tuple[str, str]]:
    """The keys of a scenario as `--set` spells them, and their values."""
    rows: list[tuple[str, str]] = []
    for key, value in values.items():
        path = f"{above}{key}"
        if isinstance(value, Mapping):
            rows += flat(value, f"{path}.")
        elif isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
            for number, each in enumerate(value):
                rows += flat(each, f"{path}.{number}.")
        else:
            rows.append((path, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)))
    return rows


def download(name: str, table: pd.DataFrame) -> Download:
    """A table as a CSV file within the page; one of more than 4 MB is named only."""
    text = table.to_csv(index=False, lineterminator="\n").encode()
    link = f"data:text/csv;charset=utf-8;base64,{base64.b64encode(text).decode()}" if len(text) <= _MOST_BYTES else ""
    return Download(name, *table.shape, link)


def _in_script(text: str) -> str:
    """JSON that no parser of HTML takes for the end of its script."""
    return text.replace("<", "\\u003c")
