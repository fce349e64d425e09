"""The report of what `clustersim validate --out` left."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from analysis.report import Report, Table, download
from clustersim.cli.report_parts import text
from clustersim.cli.validate import HEADS, NOTE, answer, cells, reasons
from clustersim.cli.words import plural
from clustersim.study.study import MANIFEST
from clustersim.study.validate import TABLE


def report_of_validation(directory: Path) -> Report:
    """The page of a directory of validations. Its scenarios are those of the studies in it, a directory a row.

    Raises:
        OSError: it holds no such table.
    """
    found = pd.read_parquet(directory / TABLE)
    rows = [[text(cell) for cell in cells(row)] for row in found.to_dict("records")]
    sources = dict(zip(found["row"], found["source"], strict=True))
    studies = {name: directory / name / MANIFEST for name in sources}
    manifests = {name: json.loads(path.read_text("utf-8")) for name, path in studies.items() if path.exists()}
    return Report(
        title="Published figures, ours beside each",
        what=f"{plural(len(sources), 'row')} of published results, simulated.",
        answer=[f"{answer(found)}.", *reasons(found)],
        plots=[],
        tables=[Table("Figures", HEADS, rows, " ".join(NOTE))],
        assumptions=list(sources.items()),
        scenario={name: manifest["scenario"] for name, manifest in manifests.items()},
        provenance={
            name: {key: manifest[key] for key in ("seed", "rule", "versions", "platform")}
            for name, manifest in manifests.items()
        },
        downloads=[download(TABLE.removesuffix(".parquet"), found)],
    )
