"""What clustersim says of the same job: a preset, simulated; or a literal loader, played, where no preset exists."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.play import LOST_STEPS, Corpus, Ends, Job, Played, Usage
from literal import Attempt, Lineage, Parts, run
from literal import Corpus as LiteralCorpus

import clustersim as cs

RUNS = 30
"""Runs, each with orders of its own, that tell whether a figure is drawn, and its law."""


@dataclass(frozen=True)
class Views:
    """What the final model saw, against the ideal of each sample once an epoch."""

    seen: Mapping[int, int]  # times seen -> samples
    extra: int
    missing: int
    as_planned: int  # steps whose batch, as a multiset, is the one of the same job without a crash

    @property
    def net(self) -> int:
        return self.extra - self.missing

    def __str__(self) -> str:
        return f"{self.extra}/{self.missing} ({self.as_planned})"


class Refusal:
    """The loader refuses the restart, or the first read after it."""

    def __str__(self) -> str:
        return "refuses"


@dataclass(frozen=True)
class Law:
    """What the runs of a model saw; they differ where the damage is drawn."""

    runs: Sequence[Views]
    figures: tuple[str, ...] = ("net", "extra", "missing", "as_planned")  # what is compared

    def of(self, figure: str) -> tuple[float, float]:
        """The mean and the standard deviation of a figure."""
        values = [getattr(run, figure) for run in self.runs]
        mean = sum(values) / len(values)
        return mean, math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))

    def misses(self, theirs: Views) -> str:
        """What of theirs is not as the runs say, in a line; empty if all is."""
        for figure in self.figures:
            found, (mean, deviation) = getattr(theirs, figure), self.of(figure)
            if abs(found - mean) > 4 * deviation:
                expected = f"{mean:.0f} ± {deviation:.0f}" if deviation else f"{mean:.0f}"
                return f"{figure.replace('_', ' ')}: expected {expected}, found {found}"
        if all(run.seen == self.runs[0].seen for run in self.runs) and theirs.seen != self.runs[0].seen:
            return f"times seen: expected {self.runs[0].seen}, found {theirs.seen}"
        return ""

    def __str__(self) -> str:
        figures = [(round(mean), round(deviation)) for mean, deviation in map(self.of, ("extra", "missing"))]
        shown = "/".join(f"{mean}±{deviation}" if deviation else f"{mean}" for mean, deviation in figures)
        return f"{shown} ({self.of('as_planned')[0]:.0f})" if "as_planned" in self.figures else shown


Model = Callable[[Usage, Job], Mapping[Ends, Law | Refusal]]


def views(times: Sequence[int], corpus: Corpus, as_planned: int) -> Views:
    """The views of how often each sample was seen."""
    extra = sum(max(0, seen - corpus.epochs) for seen in times)
    missing = sum(max(0, corpus.epochs - seen) for seen in times)
    return Views(dict(sorted(Counter(times).items())), extra, missing, as_planned)


def of_batches(batches: Sequence[Sequence[int]], plan: Sequence[Sequence[int]], corpus: Corpus) -> Views:
    """What a model saw whose lineage has these batches, beside those of the same job without a crash."""
    pairs = zip(batches, plan, strict=False)
    as_planned = sum(Counter(batch) == Counter(planned) for batch, planned in pairs)
    seen = Counter(sample for batch in batches for sample in batch)
    return views([seen[sample] for sample in range(corpus.samples)], corpus, as_planned)


def of_played(played: Played, plan: Played, corpus: Corpus, ends: Ends) -> Views | Refusal:
    """What the final model of a library's job saw; `plan` is the same job without a crash."""
    if played.refused:
        return Refusal()
    steps = played.epochs_end if ends == "epochs" else corpus.steps
    return of_batches(played.batches[:steps], plan.batches, corpus)


def literal(order: str = "shuffle", **parts: Any) -> Model:
    """A composition as a literal loader, where no preset of it exists."""

    def model(usage: Usage, job: Job) -> Mapping[Ends, Law | Refusal]:
        size = job.corpus.samples, job.corpus.shards, order
        runs = [_lineages(Parts(**parts), LiteralCorpus(*size, seed), job) for seed in range(RUNS)]
        return {
            ends: _law([_of_lineage(lineage, plan, job.corpus, ends) for lineage, plan in runs]) for ends in usage.ends
        }

    return model


def _lineages(parts: Parts, reads: LiteralCorpus, job: Job) -> tuple[Lineage, Lineage]:
    """A literal job, and the same without a crash."""
    corpus, starts = job.corpus, (0, *job.history.checkpoints)
    stops = [checkpoint + LOST_STEPS for checkpoint in job.history.checkpoints]
    lives = [
        Attempt(ranks, start, stop)
        for ranks, start, stop in zip(job.history.ranks, starts, [*stops, None], strict=True)
    ]
    played, plan = (
        run(parts, reads, attempts, corpus.batch, corpus.epochs, corpus.steps)
        for attempts in (lives, [Attempt(job.history.ranks[0])])
    )
    return played, plan


def _of_lineage(lineage: Lineage, plan: Lineage, corpus: Corpus, ends: Ends) -> Views | Refusal:
    if lineage.refused:
        return Refusal()
    batches, planned = (
        [[sample for epoch, sample in rows if ends == "steps" or epoch < corpus.epochs] for rows in line.steps]
        for line in (lineage, plan)
    )
    if ends == "steps":
        batches = batches[: corpus.steps]
    return of_batches([batch for batch in batches if batch], planned, corpus)


def preset(name: str, *, order: str = "shuffle", **parts: Any) -> Model:
    """A preset, simulated; parts beside it override its own."""
    loader = {"preset": name, **parts}

    def model(usage: Usage, job: Job) -> Mapping[Ends, Law | Refusal]:
        return {
            ends: _law([_simulated(_scenario(loader, order, job, ends), job.corpus, seed) for seed in range(RUNS)])
            for ends in usage.ends
        }

    # The plan of a job that begins with fewer ranks than it gets is, in clustersim, one of all its ranks.
    return lambda usage, job: (model if job.history.ranks[0] == max(job.history.ranks) else counts(model))(usage, job)


def counts(model: Model) -> Model:
    """The same, silent on the steps: for a library whose order, after it comes back, is its own."""

    def silent(usage: Usage, job: Job) -> Mapping[Ends, Law | Refusal]:
        says = model(usage, job)
        return {
            ends: replace(law, figures=law.figures[:3]) if isinstance(law, Law) else law for ends, law in says.items()
        }

    return silent


def _law(runs: Sequence[Views | Refusal]) -> Law | Refusal:
    refusals = [run for run in runs if isinstance(run, Refusal)]
    return refusals[0] if refusals else Law([run for run in runs if isinstance(run, Views)])


def _simulated(scenario: cs.Scenario, corpus: Corpus, seed: int) -> Views | Refusal:
    ours = cs.simulate(scenario, seed=seed)
    if ours.history.outcome == "refused":
        return Refusal()
    return views(ours.counts.seen.tolist(), corpus, ours.identical_steps)


def _scenario(loader: dict[str, str], order: str, job: Job, ends: Ends) -> cs.Scenario:
    """The job in clustersim: a save after every few steps; a job that grows begins with a crash down to its ranks."""
    corpus, history = job.corpus, job.history
    every = math.gcd(*history.checkpoints) or 1
    crashes = [
        (checkpoint + min(LOST_STEPS, every - 1), ranks)
        for checkpoint, ranks in zip(history.checkpoints, history.ranks[1:], strict=True)
    ]
    if history.ranks[0] < max(history.ranks):
        crashes.insert(0, (0, history.ranks[0]))
    failure: dict[str, Any] = {"cause": "crash", "at_steps": [step for step, _ in crashes]}
    failure["data"] = [data for _, data in crashes]
    return cs.load_scenario(
        {
            "name": history.name,
            "run": {"epochs": corpus.epochs} if ends == "epochs" else {"steps": corpus.steps},
            "model": {"global_batch": corpus.batch, "step_time": "1 s"},
            "cluster": {"nodes": max(history.ranks), "gpus_per_node": 1},
            "failures": [failure] if crashes else [],
            "checkpoint": {"every": f"{every} steps"},
            "data": {"samples": corpus.samples, "shards": corpus.shards, "order": order},
            "loader": loader,
        }
    )
