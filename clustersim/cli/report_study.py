"""The report of what `clustersim sweep`, `intervals`, `loaders` and `capacity` store with --out."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analysis import plots
from analysis.intervals import damages
from analysis.report import Plot, Report, Table, download
from clustersim.cli import capacity as capacity_page
from clustersim.cli import intervals as intervals_page
from clustersim.cli import loaders as loaders_page
from clustersim.cli import report_sweep, sweep_page
from clustersim.cli.report_parts import MEANS, assumed, loader, mean, number, records, refused, text, varied
from clustersim.cli.words import count, duration, hours, plural, share
from clustersim.scenario import load_scenario
from clustersim.study import capacity, intervals, league
from clustersim.study.plot import StudyPlots
from clustersim.study.study import Study, load_study


class _Told(NamedTuple):
    """What one kind of study says."""

    what: str
    answer: str
    plots: list[Plot]
    tables: list[Table]


def report_of_study(directory: Path) -> Report:
    """The page of a study's directory; its kind is told by the table that lies beside those of every study.

    Raises:
        OSError: it holds no study.
        ScenarioError: its scenario is not one of this version.
    """
    study = load_study(directory)
    scenario = load_scenario(study.manifest["scenario"])
    name = next((name for name in _KINDS if (directory / name).exists()), "")
    told = _KINDS[name](study, directory) if name else _sweep(study)
    unfinished = int((study.table["outcome"] != "done").sum())
    lines = [f"{unfinished} of {len(study.table)} runs did not finish, and count as far as they came."]
    made_by = {key: study.manifest[key] for key in ("seed", "rule", "versions", "platform")}
    return Report(
        title=scenario.name,
        what=f"{told.what}, {plural(len(study.table), 'run')}, seed {study.manifest['seed']}.",
        answer=[told.answer, *(lines if unfinished else [])],
        plots=told.plots,
        tables=told.tables,
        assumptions=[*varied(study.manifest["design"]), *assumed(scenario)],
        scenario=scenario.resolved(),
        provenance={"digest": scenario.digest, **made_by},
        downloads=[
            download(table, pd.read_parquet(directory / f"{table}.parquet"))
            for table in (*([name.removesuffix(".parquet")] if name else []), "points", "table", "ledger")
        ],
    )


def _sweep(study: Study) -> _Told:
    what = f"A study of {plural(len(study.points), 'point')}"
    return _Told(what, sweep_page.answer(study), report_sweep.drawn(study), report_sweep.tables(study))


def _intervals(study: Study, directory: Path) -> _Told:
    found = intervals.of_study(study)
    loaders = damages(found.table)
    rows = [
        [
            text(row["interval"]),
            number(row["interval_s"], duration),
            mean(row, "ettr", share),
            number(row["rolled_back_steps"], count),
            *(mean(row, column, share) for column in loaders.values()),
        ]
        for row in records(found.table)
    ]
    note = f"{MEANS.format('interval')} Under a loader: its extra and missing views for each planned view."
    heads = ("every", "training", "ETTR", "steps rolled back", *loaders)
    answer = intervals_page.answer(found)
    drawn = Plot(
        StudyPlots(study).intervals(),
        "Above, the useful share of the wall time (%); below, extra and missing views for each planned view (%); both "
        "with 95 % intervals, by minutes of training between saves.",
        answer,
    )
    what = f"{plural(len(rows), 'checkpoint interval')} under {plural(len(loaders), 'loader')}"
    return _Told(what, answer, [drawn], [Table("Checkpoint intervals", heads, rows, note)])


def _loaders(study: Study, directory: Path) -> _Told:
    table = pd.read_parquet(directory / league.TABLE)
    ran = records(table[table["refused"] == ""])
    shown = (head for head, _ in loaders_page.SHOWN.values())
    found = league.League(table, study)
    resume = ["resume"] if loaders_page.knows_resume(found) else []
    heads = ("preset", "order", *shown, *loaders_page.RATES.values(), *resume, *loaders_page.CHANGES.values())
    rows = [
        [
            *loader(row),
            *([number(row["resume_s"], duration)] if resume else []),
            *(text(row[change]) for change in loaders_page.CHANGES),
        ]
        for row in ran
    ]
    note = " ".join([MEANS.format("preset"), loaders_page.RANKS, *([loaders_page.RESUME] if resume else [])])
    league_table = Table("Loaders, the least damage first", heads, rows, note)
    tables = [league_table, *refused(records(table), "Presets that were not run")]
    answer = loaders_page.answer(found)
    drawn = Plot(plots.loaders(table), "Extra and missing views of each preset, in views, with 95 % intervals.", answer)
    return _Told(f"{plural(len(ran), 'loader preset')}", answer, [drawn], tables)


def _capacity(study: Study, directory: Path) -> _Told:
    found = capacity.load_capacity(directory)
    by = hours(found.by_h)
    names = [name for name in capacity_page.PLAN if name in found.table]
    money = "cost" if found.priced else "GPU hours paid"
    rows = [
        [
            *(number(row[name], count) for name in names),
            number(row["on_time"], share),
            *(number(row[f"on_time_ci95_{end}"], share) for end in ("low", "high")),
            *(number(row[name], lambda value: hours(value) if value < math.inf else "later") for name in _DATES),
            number(row["waiting_share"], share),
            number(row["short_closed_form"], share),
            number(row["gpu_hours"], count),
            mean(row, "cost", count),
            text("recommended" if row["recommended"] else ""),
        ]
        for row in records(found.table)
    ]
    shown = (capacity_page.PLAN[name][0] for name in names)
    heads = (*shown, f"by {by}", "95 % from", "to", *_DATES.values(), "short", "closed form", "GPU hours", money, "")
    answer = capacity_page.answer(found, by)
    drawn = Plot(
        StudyPlots(study).capacity(by, found.confidence),
        f"Share of the runs that finished by {by} (%), against the {money} of a run; means with 95 % intervals, the "
        "confidence that was asked for as a line.",
        answer,
    )
    unit = "in the currency of the prices" if found.priced else "hours of all GPUs, as the scenario has no prices"
    note = (
        f"{MEANS.format('plan')} Later: than a run was simulated. Short: share of the time spent waiting for nodes. "
        f"Closed form: of it, more nodes down than spares, in the long run. {money.capitalize()}: {unit}."
    )
    return _Told(plural(len(rows), "plan"), answer, [drawn], [Table("Plans", heads, rows, note)])


_DATES = {"p50_h": "half by", "p95_h": "95 % by"}


_KINDS: dict[str, Callable[[Study, Path], _Told]] = {
    capacity.TABLE: _capacity,
    intervals.TABLE: _intervals,
    league.TABLE: _loaders,
}
