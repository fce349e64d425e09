"""The report of what `clustersim run --out` left."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from analysis import damage, plots
from analysis.report import Plot, Report, Table, download
from clustersim.cli.report_parts import assumed, number, text
from clustersim.cli.run_page import (
    CORPUS_COLUMNS,
    FIGURES,
    SPLIT_HEADS,
    answer,
    corpus_rows,
    exactness,
    fate,
    frequent,
    is_of_corpus,
    split_rows,
)
from clustersim.cli.words import count, hours, plural, share
from clustersim.study.provenance import provenance
from clustersim.study.result import Result

_TABLES = ("summary", "ledger", "time", "damage", "legs", "events", "checkpoints")
_SPREAD = {"mean": "mean", "ci95_low": "95 % from", "ci95_high": "to", "p05": "P5", "p50": "P50", "p95": "P95"}
_SPREAD_NOTE = "95 %: the interval of the mean by Student's t. P5, P50, P95: of the replications."
_LEDGER_ROWS = 30


def report_of_run(directory: Path) -> Report:
    """The page of a run's directory.

    Raises:
        OSError: it holds no such tables.
        ScenarioError: its scenario is not one of this version.
    """
    result = Result.load(directory)
    made_by = provenance(result.scenario, result.seed, result.replications)
    scenario = made_by.pop("scenario")
    return Report(
        title=result.scenario.name,
        what=f"A run with seed {result.seed}, {plural(result.replications, 'replication')}.",
        answer=answer(result),
        plots=_plots(result, damage.load(directory)),
        tables=[_figures(result), *_splits(result), _times(result), *_corpora(result), _ledger(result)],
        assumptions=assumed(result.scenario),
        scenario=scenario,
        provenance=made_by,
        downloads=[download(name, pd.read_parquet(directory / name)) for name in _TABLES],
    )


def _plots(result: Result, stored: damage.Stored) -> list[Plot]:
    ledger, summary = pd.DataFrame(result.ledger), stored.summary
    alike = ledger.loc[ledger["planned"] == ledger["seen"], "samples"].sum() / ledger["samples"].sum()
    extra, missing = (count(summary[name].mean()) for name in plots.KINDS)
    drawn = [
        Plot(
            plots.ledger(ledger),
            "Samples by how much more or less often than planned the final model saw them.",
            f"Bars of samples: {share(alike)} of them were seen as often as planned.",
        ),
        Plot(
            plots.time(_mean_hours(result).to_frame().T.assign(label="")),
            "Where the wall time went, in % of it.",
            f"One bar of the wall time: {share(summary['ettr'].mean())} of it useful.",
        ),
    ]
    if not stored.damage[list(plots.KINDS)].any(axis=None):
        return drawn
    return [
        Plot(
            plots.damage_over_time(damage.accumulated(stored), result.replications),
            "Views beyond the plan and views that are missing from it, up to a day, mean over replications.",
            f"Lines over time that end at {extra} extra and {missing} missing views.",
        ),
        Plot(
            plots.damage_by_cause(damage.by_cause(stored)),
            "What the restarts of each cause added, mean of a run and its 95 % interval; in brackets, how many.",
            "Bars of extra and missing views, one pair a cause; the table by cause is in damage.csv.",
        ),
        *drawn,
    ]


def _figures(result: Result) -> Table:
    """One row a figure; those that the scenario does not give are left out."""
    known = [name for name, value in result.summaries[0].items() if value is not None and not is_of_corpus(name)]
    labels = {name: FIGURES.get(name, (name, count)) for name in known}
    if result.replications == 1:
        rows = [[text(label), number(result.summaries[0][name] or 0, words)] for name, (label, words) in labels.items()]
        return Table("Figures", ("figure", "value"), rows)
    spreads = ((label, words, result.spreads[name]) for name, (label, words) in labels.items())
    rows = [
        [text(label), *(number(spread[part], words) for part in _SPREAD)]
        for label, words, spread in spreads
        if spread is not None
    ]
    return Table(f"Figures of {result.replications} replications", ("figure", *_SPREAD.values()), rows, _SPREAD_NOTE)


def _mean_hours(result: Result) -> pd.Series:
    return pd.DataFrame(result.times_h).mean()


def _times(result: Result) -> Table:
    """One row a bucket that has any time; of several replications its spread."""
    means, caption = _mean_hours(result), "Where the time went"
    used = {str(bucket): mean for bucket, mean in means.items() if mean}
    names = {bucket: text(bucket.replace("_", " ")) for bucket in used}
    shares = {bucket: number(mean / means.sum(), share) for bucket, mean in used.items()}
    if result.replications == 1:
        rows = [[names[bucket], number(mean, hours), shares[bucket]] for bucket, mean in used.items()]
        return Table(caption, ("bucket", "time", "share"), rows)
    spreads = result.times_spread_h
    rows = [
        [names[bucket], shares[bucket], *(number(spread[part], hours) for part in _SPREAD)]
        for bucket in used
        if (spread := spreads[bucket]) is not None
    ]
    return Table(caption, ("bucket", "share", *_SPREAD.values()), rows, _SPREAD_NOTE)


def _splits(result: Result) -> list[Table]:
    """How unsure means are for either reason; no table where all rates are known."""
    shown = split_rows(result)
    rows = [[text(label), *(number(half, words) for half in halves)] for label, words, halves in shown]
    return [Table(SPLIT_HEADS[0], ("figure", *SPLIT_HEADS[1:]), rows)] if rows else []


def _corpora(result: Result) -> list[Table]:
    """One row a corpus of a mixture."""
    if result.scenario.data.corpora is None:
        return []
    rows = [[text(name), *(number(figure, count) for figure in figures)] for name, figures in corpus_rows(result)]
    note = "Means over the replications." if result.replications > 1 else ""
    return [Table("Corpora", ("corpus", *CORPUS_COLUMNS), rows, note)]


def _ledger(result: Result) -> Table:
    total = sum(row["samples"] for row in result.ledger)
    shown, left_out = frequent(result, _LEDGER_ROWS)
    rows = [
        [
            *(number(row[name], count) for name in ("planned", "seen", "samples")),
            number(row["samples"] / total, share),
            text(fate(int(row["planned"]), int(row["seen"]))),
        ]
        for row in shown
    ]
    heads = ("planned", "seen", "samples, mean" if result.replications > 1 else "samples", "share", "fate")
    note = (f"{left_out} left out; ledger.csv has them all. " if left_out else "") + exactness(result)
    return Table("Ledger: samples by how often they were planned and seen", heads, rows, note)
