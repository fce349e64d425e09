"""The figures of a run, with units in their names: what tables of studies hold a column of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clustersim.account import Ledger
from clustersim.history import HOUR_NS
from clustersim.loaders.documents import views_in_units
from clustersim.loaders.wandering import CAUSE

if TYPE_CHECKING:
    from clustersim.run import Run

Figure = int | float | None

CORPUS_FIGURES = ("planned_views", "extra_views", "missing_views", "never_seen_samples")
"""The figures that a mixture has of each corpus, too."""


def corpus_figure(name: str, corpus: str) -> str:
    """What a figure of one corpus of a mixture is called."""
    return f"{name}.{corpus}"


def summary(run: Run) -> dict[str, Figure]:
    """Every figure of the run, with units in the names; None where the scenario does not say enough."""
    return {
        **data_figures(run),
        **_clock_figures(run),
        **_poison_figures(run),
        **_feed_figures(run),
        **_cost_figures(run),
    }


def data_figures(run: Run) -> dict[str, Figure]:
    """The figures that the data decides, not the clock."""
    ledger, ideal = run.account, run.account_ideal
    return {
        "planned_views": ledger.planned_views,
        "lineage_views": ledger.views,
        "discarded_views": run.discarded_views,
        "extra_views": ledger.extra,
        "missing_views": ledger.missing,
        "never_seen_samples": ledger.never,
        "extra_views_ideal": ideal.extra,
        "missing_views_ideal": ideal.missing,
        **_document_figures(run, ledger),
        **_corpus_figures(run, ledger),
        "identical_steps_share": run.identical_steps / run.steps if run.steps else 1.0,
        "steps": run.steps,
        "rolled_back_steps": run.rolled_back_steps,
    }


def _corpus_figures(run: Run, ledger: Ledger) -> dict[str, Figure]:
    """The figures of each corpus of a mixture, the corpus's name behind the figure's; nothing without a mixture."""
    cells = ledger.by_cell()
    columns = dict(zip(CORPUS_FIGURES, (cells.planned_views, cells.extra, cells.missing, cells.never), strict=True))
    return {
        corpus_figure(name, corpus.name): int(column[number])
        for number, corpus in enumerate(run.scenario.data.corpora or ())
        for name, column in columns.items()
    }


def _document_figures(run: Run, ledger: Ledger) -> dict[str, Figure]:
    """Extra and missing views in documents and tokens, and documents that were seen in part or never."""
    figures = views_in_units(ledger, run.scenario, run.lost_carries)
    if run.documents is not None:
        figures |= {
            "documents_seen_in_part": run.documents.seen_in_part,
            "documents_never_seen": run.documents.never_seen,
        }
    return figures


def _clock_figures(run: Run) -> dict[str, Figure]:
    history = run.history
    return {
        "interruptions": sum(recovery.interruptions for recovery in history.recoveries),
        "failures": sum(happening.kind == "failure" for happening in history.happenings),
        "restarts": sum(not leg.goes_on for leg in history.legs[:-1]),
        "from_scratch": sum(happening.kind == "from scratch" for happening in history.happenings),
        "checkpoints": sum(leg.saves[0] for leg in history.legs) + history.final_save,
        "wall_h": history.wall_ns / HOUR_NS,
        "ettr": run.time_ns["useful"] / history.wall_ns if history.wall_ns else 1.0,
        "gpu_hours": history.node_ns * run.scenario.cluster.gpus_per_node / HOUR_NS,
        "node_days": run.node_days,
        "data_parallel_min": min(leg.data for leg in history.legs),
    }


def _poison_figures(run: Run) -> dict[str, Figure]:
    """How often poison crashed the job, at how many steps, and how often something was done; nothing if none."""
    if run.poison is None:
        return {}
    steps = [leg.stop for leg in run.history.legs if leg.ended_by == CAUSE]
    return {
        "poison_crashes": len(steps),
        "poison_steps": len(set(steps)),
        "poison_acted": len(run.poison.acted_at),
    }


def _feed_figures(run: Run) -> dict[str, Figure]:
    sizes = run.scenario.sizes
    return {
        "step_s": sizes.full_step_ns / 1e9,
        "feed_tokens_per_s": sizes.tokens_per_s,
        "feed_bytes_per_s": sizes.bytes_per_s,
    }


def _cost_figures(run: Run) -> dict[str, Figure]:
    """What the run used and costs; nothing where the scenario has no prices."""
    prices = run.scenario.cost
    return {} if prices is None else {**run.used._asdict(), "cost": prices.of(run.used)}
