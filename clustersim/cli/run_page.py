"""The result of a run for people: the answer first, then what it rests on, then the figures."""

from collections.abc import Callable, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from clustersim.cli.assumptions import assumptions
from clustersim.cli.outcome import unfinished
from clustersim.cli.output import table
from clustersim.cli.words import count, duration, hours, plural, share, size
from clustersim.figures import CORPUS_FIGURES, Figure, corpus_figure
from clustersim.forecast import forecast
from clustersim.study.result import Result
from clustersim.study.spread import Spread

_LEDGER_ROWS = 12
_Words = Callable[[float], str]


FIGURES: dict[str, tuple[str, _Words]] = {
    "planned_views": ("planned views", count),
    "lineage_views": ("views of the final model", count),
    "extra_views": ("extra views", count),
    "missing_views": ("missing views", count),
    "never_seen_samples": ("samples planned and never seen", count),
    "extra_views_ideal": ("extra views against whole epochs", count),
    "missing_views_ideal": ("missing views against whole epochs", count),
    "extra_documents": ("extra documents", count),
    "missing_documents": ("missing documents", count),
    "extra_tokens": ("extra tokens", count),
    "missing_tokens": ("missing tokens", count),
    "documents_seen_in_part": ("documents seen in part", count),
    "documents_never_seen": ("documents planned and never seen", count),
    "carry_tokens_lost": ("tokens that packers held and lost", count),
    "identical_steps_share": ("steps with the planned batch", share),
    "discarded_views": ("views in steps rolled back", count),
    "steps": ("steps of the final model", count),
    "rolled_back_steps": ("steps rolled back", count),
    "interruptions": ("interruptions", count),
    "failures": ("failures, spares' included", count),
    "restarts": ("restarts", count),
    "from_scratch": ("restarts at step 0, as no checkpoint was left", count),
    "checkpoints": ("durable checkpoints", count),
    "poison_crashes": ("crashes by poison", count),
    "poison_steps": ("steps that it crashed", count),
    "poison_acted": ("times that something was done about it", count),
    "data_parallel_min": ("fewest replicas", count),
    "wall_h": ("wall time", hours),
    "ettr": ("useful share of it (ETTR)", share),
    "gpu_hours": ("GPU hours held", count),
    "node_days": ("node-days held", count),
    "step_s": ("step at full degree", duration),
    "feed_tokens_per_s": ("tokens a second", count),
    "feed_bytes_per_s": ("bytes a second", size),
    "busy_gpu_hours": ("GPU hours in training", count),
    "idle_gpu_hours": ("GPU hours held without training", count),
    "spare_gpu_hours": ("GPU hours of spares and in repair", count),
    "repairs": ("repairs", count),
    "checkpoint_tb_months": ("TB-months of stored checkpoints", count),
    "cost": ("cost", count),
}
"""Each figure's words and unit, in the order in which they are shown; others are shown by their name."""


def run_page(result: Result) -> list[RenderableType]:
    """The parts of the page, from top to bottom."""
    several = result.replications > 1
    spreads = result.spreads if several else None
    head = f"{result.scenario.name} (seed {result.seed}, {plural(result.replications, 'replication')})"
    ideal_alike = all(
        row[f"{kind}_views"] == row[f"{kind}_views_ideal"] for row in result.summaries for kind in ("extra", "missing")
    )
    return [
        Text(head, style="bold"),
        "",
        *answer(result),
        "",
        Text("What is assumed", style="bold"),
        assumptions(result.scenario, forecast(result.scenario)),
        "",
        _figures(result.summaries[0], spreads, hidden_ideal=ideal_alike),
        "",
        *_split(result),
        _times(result),
        "",
        *_corpora(result),
        *_ledger(result),
        "",
        exactness(result),
    ]


def answer(result: Result) -> list[str]:
    """The answer in a few sentences, with an interval around each figure where there are several replications.

    That a run did not finish comes first: what follows holds until then.
    """
    said, alone = _in_words(result), result.replications == 1
    ended = [f"{'The run ' if alone else ''}{line}." for line in unfinished(result)]
    saw = "The final model saw"
    if ended:
        saw = f"{'Until then' if alone else 'As far as each came,'} the final model saw"
    totals = {name: sum(row[name] or 0 for row in result.summaries) for name in result.summaries[0]}
    if totals.get("carry_tokens_lost"):
        documents = f"{said('documents_seen_in_part', 'document')} seen in part, {said('documents_never_seen')} never"
        lost = f"Packers lost {said('carry_tokens_lost', 'token')} of documents at restarts"
        data = f"{lost}, and read as many from further on: {documents}."
    elif not totals["extra_views"] and not totals["missing_views"]:
        data = f"{saw} exactly what it would have seen without failures: nothing twice, nothing missed."
    else:
        # Views beyond the plan push as many others out, where a run ends after its steps or its time.
        alike = all(row["extra_views"] == row["missing_views"] for row in result.summaries)
        data = (
            f"{saw} {said('extra_views', 'view')} more than planned, "
            f"{share(totals['extra_views'] / totals['planned_views'])} of the plan, "
            f"and missed {'as many' if alike else said('missing_views')}; "
            f"{said('never_seen_samples', 'planned sample')} it never saw."
        )
    clock = (
        f"Of {said('wall_h')} it trained usefully for {said('ettr')}: "
        f"{said('interruptions', 'interruption')}, {said('rolled_back_steps', 'step')} rolled back."
    )
    scratch = poison = None
    if totals.get("poison_crashes"):
        poison = (
            f"Poison crashed it {said('poison_crashes', 'time')}, at {said('poison_steps', 'step')}, and "
            f"{said('poison_acted', 'time')} often enough at one of them that something was done."
        )
    if totals["from_scratch"]:
        scratch = f"No checkpoint was left at {said('from_scratch', 'restart')}: training began anew at step 0."
    several = None if alone else "In brackets: 95 % intervals of the means."
    return [line for line in (*ended, data, clock, poison, scratch, several) if line]


def _in_words(result: Result) -> Callable[..., str]:
    """How a figure and its noun are said within a sentence: the number, or the mean with its 95 % interval."""
    spreads = result.spreads if result.replications > 1 else None

    def said(name: str, noun: str = "") -> str:
        words = FIGURES[name][1]
        if spreads is None:
            value = result.summaries[0][name] or 0
            return plural(value, noun) if noun else words(value)
        spread = spreads[name]
        # The figures of the answer are never None.
        assert spread is not None
        mean, low, high = (words(spread[part]) for part in ("mean", "ci95_low", "ci95_high"))
        number = mean if low == high else f"{mean} [{low} to {high}]"
        if not noun:
            return number
        return f"{number} {noun if number == '1' else noun + 's'}"

    return said


def _figures(first: dict[str, Figure], spreads: dict[str, Spread | None] | None, hidden_ideal: bool) -> Table:
    """One row a figure; those that the scenario does not give are left out."""
    head = ("Figures", "") if spreads is None else ("Figures", "mean", "95 % interval of it", "P5", "P50", "P95")
    rows = table(*head)
    for name in [*FIGURES, *(name for name in first if name not in FIGURES and not is_of_corpus(name))]:
        value = first.get(name)
        if value is None or (hidden_ideal and name.endswith("_ideal")):
            continue
        label, words = FIGURES.get(name, (name, count))
        spread = None if spreads is None else spreads[name]
        rows.add_row(label, *([words(value)] if spread is None else _spread(spread, words)))
    return rows


SPLIT_HEADS = ("Half of the 95 % interval of a mean", "by simulation", "by uncertain rates")
"""What stands above the rows of `split_rows`."""


def split_rows(result: Result) -> list[tuple[str, _Words, Sequence[float]]]:
    """How unsure means are for either reason: a figure's name, how it is said, its halves; none with known rates."""
    split = result.splits
    if split is None:
        return []
    return [
        (label, words, split[name])
        for name, (label, words) in FIGURES.items()
        if name in split and any(split[name]) and not name.endswith("_ideal")
    ]


def _split(result: Result) -> list[RenderableType]:
    shown = split_rows(result)
    rows = table(*SPLIT_HEADS)
    for label, words, halves in shown:
        rows.add_row(label, *map(words, halves))
    return [rows, ""] if shown else []


def _spread(spread: Spread, words: _Words) -> list[str]:
    if spread["ci95_low"] == spread["ci95_high"]:
        return [words(spread["mean"])]  # the same in all of them
    interval = f"{words(spread['ci95_low'])} to {words(spread['ci95_high'])}"
    return [words(spread["mean"]), interval, *(words(spread[name]) for name in ("p05", "p50", "p95"))]


def _times(result: Result) -> Table:
    """Where the wall time went; means over replications."""
    several = result.replications > 1
    rows = table("Where the time went", "mean" if several else "", "share", *(("P5", "P95") if several else ()))
    spreads = result.times_spread_h if several else {}
    means = {name: sum(row[name] for row in result.times_h) / result.replications for name in result.times_h[0]}
    wall = sum(means.values())
    for name, mean in means.items():
        if mean:
            spread = spreads.get(name)
            quantiles = [] if spread is None else [hours(spread["p05"]), hours(spread["p95"])]
            rows.add_row(name.replace("_", " "), hours(mean), share(mean / wall), *quantiles)
    return rows


def is_of_corpus(name: str) -> bool:
    """Whether a figure is of one corpus of a mixture: those have a table of their own."""
    return name.startswith(tuple(f"{figure}." for figure in CORPUS_FIGURES))


CORPUS_COLUMNS = ("samples", "epochs planned", "extra views", "missing views", "never seen")
"""What `corpus_rows` says of a corpus behind its name."""


def corpus_rows(result: Result) -> list[tuple[str, list[float]]]:
    """Of each corpus of a mixture its name and its figures, means over replications, in `CORPUS_COLUMNS`."""
    rows = []
    for corpus in result.scenario.data.corpora or ():
        names = [corpus_figure(name, corpus.name) for name in CORPUS_FIGURES]
        planned, *damage = (sum(row[name] or 0 for row in result.summaries) / result.replications for name in names)
        rows.append((corpus.name, [corpus.samples, planned / corpus.samples, *damage]))
    return rows


def _corpora(result: Result) -> list[RenderableType]:
    """One row a corpus of a mixture; nothing without one."""
    if result.scenario.data.corpora is None:
        return []
    rows = table("Corpora" if result.replications == 1 else "Corpora, means", *CORPUS_COLUMNS)
    for name, figures in corpus_rows(result):
        rows.add_row(name, *(count(figure) for figure in figures))
    return [rows, ""]


def _ledger(result: Result) -> list[RenderableType]:
    """The most frequent rows of the ledger, and a word about the others."""
    several = result.replications > 1
    rows = table("planned", "seen", "samples, mean" if several else "samples", "share", "", left=0)
    rows.columns[-1].justify = "left"
    shown, left_out = frequent(result, _LEDGER_ROWS)
    total = sum(row["samples"] for row in result.ledger)
    for row in shown:
        rows.add_row(
            *(count(row[name]) for name in ("planned", "seen", "samples")),
            share(row["samples"] / total),
            fate(int(row["planned"]), int(row["seen"])),
        )
    parts: list[RenderableType] = [Text("Ledger: samples by how often they were planned and seen", style="bold"), rows]
    return [*parts, f"{left_out} left out; --json has them all."] if left_out else parts


def frequent(result: Result, most: int) -> tuple[list[dict[str, int | float]], str]:
    """The most frequent rows of the ledger in its order, and how many rarer ones with how many samples there are.

    The text is empty where there are none.
    """
    ledger = result.ledger
    chosen = sorted(ledger, key=lambda row: -row["samples"])[:most]
    rarer = [row for row in ledger if row not in chosen]
    samples = count(sum(row["samples"] for row in rarer))
    told = f"{plural(len(rarer), 'rarer row')} with {samples} samples" if rarer else ""
    return [row for row in ledger if row in chosen], told


def fate(planned: int, seen: int) -> str:
    """What became of a sample, in words."""
    if seen == planned:
        return "as planned"
    if seen == 0:
        return "never seen"
    return f"{seen - planned} more" if seen > planned else f"{planned - seen} fewer"


def exactness(result: Result) -> str:
    """How the loader was asked, and what its counts are exact in."""
    asked = "asked while the run went on, as it may end it"
    followed = "followed over its history"
    counts = "exact for the orders of this seed."
    if not result.all_by_identity:
        counts = (
            "a draw from the law of the shuffled orders: too many samples to go through one by one, so a sample's own "
            "count may differ (`clustersim sample`)."
        )
    return f"The loader was {asked if result.loader_acts_on_time else followed}. The counts are {counts}"
