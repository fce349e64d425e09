"""One run: what happened, what was read, and every figure and table that follows from the two."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from operator import index
from typing import TYPE_CHECKING, Literal

import numpy as np

from clustersim import figures
from clustersim.account import Counts, Draws, Ledger, Spaces, same_batches
from clustersim.data.carries import Carries
from clustersim.figures import Figure
from clustersim.history import HOUR_NS, History
from clustersim.loaders.accounts import CorpusReads, reads_of
from clustersim.loaders.documents import (
    Documents,
    documents_of,
    expected_documents,
    knows_documents,
    knows_their_law,
    lost_in,
)
from clustersim.loaders.follow import Reads
from clustersim.loaders.parts import Delivered, Loader
from clustersim.loaders.taken_out import found_in, poison_of
from clustersim.loaders.wandering import Found
from clustersim.scenario import Scenario
from clustersim.scenario.checkpoint import MAIN_TIER
from clustersim.scenario.cost import Used
from clustersim.training.buckets import time_buckets
from clustersim.training.used import stored_hours, used

if TYPE_CHECKING:
    import pandas as pd

IDENTITY_MAX = 2_000_000
"""With `run.account = "auto"` runs of at most so many views and samples are counted sample by sample."""

POISON_MAX = 40_000_000
"""The same where poison takes samples out: in each epoch the same ones, which the law of the orders does not know."""


@dataclass(frozen=True)
class Run:
    """A finished run. Tables are pandas DataFrames, made when asked for; times in their names' units.

    Counts are exact for the run's own orders if `exact` is "identity", and a draw from the law of the orders if it is
    "distribution" (two or more independent permutations were read unevenly, in a run too large to go through by
    sample).
    """

    scenario: Scenario
    seed: int
    replication: int
    history: History
    reads: Reads
    loader: Loader

    # --- what was read

    @cached_property
    def corpora(self) -> list[CorpusReads]:
        """What was read of each corpus of a mixture; of the one corpus, if there is no mixture."""
        drawn_by, ranks = (self.seed, self.replication), self.scenario.sizes.data
        names = [corpus.name for corpus in self.scenario.data.corpora or ()] or [""]
        batches = self.scenario.sizes.batches
        found = reads_of(self.loader, self.reads, ranks, self.planned_steps, batches, drawn_by, names)
        if self.poison is None:
            return found
        poison = poison_of(self.scenario, self.seed, self.replication).samples
        return [replace(each, taken_out=self.poison.taken_out, poison=poison) for each in found]

    @property
    def _only(self) -> CorpusReads:
        """What was read of the one corpus."""
        if len(self.corpora) > 1:
            raise ValueError("each corpus of a mixture has its own orders and draws: ask one of run.corpora")
        return self.corpora[0]

    @property
    def spaces(self) -> Spaces:
        """The orders of the samples. Raises ValueError for a mixture."""
        return self._only.loader.spaces

    @cached_property
    def steps(self) -> int:
        """Steps of the lineage: those that the final model is made of."""
        return self.history.legs[-1].kept

    @cached_property
    def planned_steps(self) -> int:
        """Steps of the same run without failures: as many, or all its epochs; an unfinished run is held to its part."""
        end = self.loader.steps_left(self.loader.start(self.scenario.sizes.data), 0)
        if end is None:
            return self.steps
        if self.scenario.sizes.epochs is not None and self.history.outcome == "done":
            return end
        return min(self.steps, end)

    @property
    def planned_draws(self) -> Draws:
        """What the same run reads without failures; after a batch ramp its steps are single samples.

        Raises ValueError for a mixture.
        """
        return self._only.planned_draws

    @property
    def seen_draws(self) -> Draws:
        """What the lineage read, likewise."""
        return self._only.seen_draws

    @cached_property
    def poison(self) -> Found | None:
        """What poison did, and what was done about it; None if there is none."""
        return found_in(self.history, self.scenario, self.loader, self.seed, self.replication)

    @cached_property
    def lost_carries(self) -> Carries | None:
        """What restarts lost of the documents that packers held; None where nothing can be lost."""
        return lost_in(self.history, self.scenario, self.seed, self.replication)

    @cached_property
    def documents(self) -> Documents | None:
        """What was missed of documents: exactly if their lengths are given, or on average by their law; else None."""
        if knows_documents(self.scenario):
            return documents_of(self.counts, self.scenario)
        return expected_documents(self.account, self.scenario) if knows_their_law(self.scenario) else None

    @cached_property
    def by_identity(self) -> bool:
        """Whether views are counted sample by sample."""
        mode = self.scenario.run.account
        if any(each.lawless for each in self.corpora):
            return True
        most = IDENTITY_MAX if self.scenario.poison is None else POISON_MAX
        return mode == "identity" or (mode == "auto" and self._is_within(most))

    def _is_within(self, most: int) -> bool:
        """Whether neither samples nor views are more than so many."""
        sizes = self.scenario.sizes
        return max(sizes.samples, sizes.batches.before(max(self.steps, self.planned_steps))) <= most

    @cached_property
    def counts(self) -> Counts:
        """Planned and seen views of each sample, int64[N] each; N integers of memory, whatever the account's mode."""
        return Counts.concat([each.counts for each in self.corpora])

    @cached_property
    def ledgers(self) -> list[Ledger]:
        """The ledger of each corpus, in arrays, with a cell for each shard where the order deals out shards."""
        return [each.ledger(self.by_identity) for each in self.corpora]

    @cached_property
    def account(self) -> Ledger:
        """The ledger in arrays, with a cell for each shard where the order deals out shards, or for each corpus."""
        return Ledger.concat(self.ledgers)

    @cached_property
    def account_ideal(self) -> Ledger:
        """The ledger against the ideal: every sample once an epoch; the plan itself unless the run ends by epochs.

        Positions that the scenario skips are no part of the ideal either.
        """
        if self.history.outcome != "done":
            return self.account
        return Ledger.concat(
            [self._ideal(each, ledger) for each, ledger in zip(self.corpora, self.ledgers, strict=True)]
        )

    def _ideal(self, corpus: CorpusReads, ledger: Ledger) -> Ledger:
        """The ledger of a corpus against the ideal, by that against the plan."""
        epochs, data = self.scenario.sizes.epochs, self.scenario.data
        views = corpus.ticks.samples_before(self.planned_steps)
        if epochs is not None and data.corpora is None:
            views = epochs * corpus.loader.spaces.size
            views -= data.count_skipped(views)
        if ledger.planned_views == views and not corpus.loader.repeats_samples:
            return ledger
        return corpus.ledger_against(views, self.by_identity)

    @property
    def exact(self) -> Literal["identity", "distribution"]:
        """What the counts are exact in."""
        return self.account.exact

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 (hexadecimal) of the history and of the ledger: two runs that share both are the same run."""
        return {"history": self.history.digest, "ledger": self.account.digest}

    def batch(self, step: int, rank: int | None = None) -> np.ndarray:
        """The samples of a step of the lineage, int64[batch], in the order of the ranks; or those of one rank.

        Raises:
            ValueError: the lineage has no such step, or the leg that trained it no such rank.
        """
        step = index(step)
        for stretch, leg in zip(self.reads.kept, self.history.legs, strict=True):
            if stretch.step <= step < stretch.step + stretch.steps:
                by_rank = self.loader.batch_at(stretch, step, leg.data)
                if rank is None:
                    return np.concatenate(by_rank)
                if not 0 <= rank < leg.data:
                    raise ValueError(f"no rank {rank}: step {step} was trained by ranks 0 to {leg.data - 1}")
                return by_rank[rank]
        raise ValueError(f"no step {step}: the lineage has steps 0 to {self.steps - 1}")

    def corpus_of(self, sample: int) -> CorpusReads:
        """What was read of the corpus that a sample, as numbered through all of them, is of."""
        return next(each for each in reversed(self.corpora) if sample >= each.first)

    def sample(self, sample: int, limit: int = 10_000) -> pd.DataFrame:
        """The steps that read a sample, in the order of reading.

        Columns: leg, step, epoch, offset, fate: "kept" (the final model saw it), "rolled back", or "in flight" (read,
        but the step was broken off).

        Raises:
            ValueError: there is no such sample, or it was read more than `limit` times.
        """
        from clustersim import tables

        return tables.sample(self, index(sample), index(limit))

    # --- figures

    @cached_property
    def _time_buckets(self) -> tuple[dict[str, int], dict[str, int]]:
        return time_buckets(self.history, self.scenario.sizes.full_step_ns)

    @property
    def time_ns(self) -> dict[str, int]:
        """The wall time by bucket; they sum to `history.wall_ns` exactly."""
        return self._time_buckets[0]

    @property
    def node_time_ns(self) -> dict[str, int]:
        """The time of the nodes held, by bucket; they sum to `history.node_ns` exactly."""
        return self._time_buckets[1]

    @property
    def time_h(self) -> dict[str, float]:
        """The wall time by bucket, in hours."""
        return {bucket: ns / HOUR_NS for bucket, ns in self.time_ns.items()}

    def summary(self) -> dict[str, Figure]:
        """Every figure of the run, with units in the names; None where the scenario does not say enough."""
        return figures.summary(self)

    def _repr_html_(self) -> str:
        """Every figure that the run has, in notebooks."""
        import pandas as pd

        told = {name: f"{figure:,}" for name, figure in self.summary().items() if figure is not None}
        head = f"{escape(self.scenario.name)}: replication {self.replication}, seed {self.seed}, {self.history.outcome}"
        return f"<p>{head}</p>{pd.Series(told, name='value').to_frame().to_html()}"

    @cached_property
    def identical_steps(self) -> int:
        """Steps of the lineage whose batch is the planned one: of samples that packers make, none after a loss."""
        if self.lost_carries is None or not self.lost_carries.tokens.any():
            return self._with_planned_samples
        return min(self._with_planned_samples, int(self.lost_carries.step[self.lost_carries.tokens > 0][0]))

    @cached_property
    def _with_planned_samples(self) -> int:
        """Steps of the lineage whose batch, as a multiset, is the planned one.

        By the samples themselves where at most `IDENTITY_MAX` views are counted sample by sample; else by positions and
        orders, which leaves out that two orders may hold the same batch by chance (in a shard order in some 1 / shards
        of the steps).
        """
        if self.by_identity and self._is_within(IDENTITY_MAX):
            planned = [each.numbered(each.planned_draws) for each in self.corpora]
            seen = [each.numbered(each.seen_draws) for each in self.corpora]
            return same_batches(_joined(planned), _joined(seen))
        as_planned = self.loader.steps_as_planned(self.reads.kept, self.planned_steps)
        if self.poison is None:
            return as_planned
        changed = {low // self.scenario.sizes.batch for low, _ in self.poison.taken_out}
        kept = [stretch for stretch in self.reads.kept if stretch.steps]  # they follow each other
        for step in changed:
            if step < self.steps:
                stretch = kept[bisect_right(kept, step, key=lambda stretch: stretch.step) - 1]
                as_planned -= self._as_planned(stretch, step + 1) - self._as_planned(stretch, step)
        return as_planned

    def _as_planned(self, stretch: Delivered, below: int) -> int:
        """Steps of a stretch, below one, that read the positions of the plan in its order."""
        return self.loader.steps_as_planned(self._only.loader.below([stretch], below), self.planned_steps)

    @cached_property
    def rolled_back_steps(self) -> int:
        """Steps that were trained and are not in the lineage."""
        return sum(leg.stop - stop for leg, stop in zip(self.history.legs, self.history.lineage_stops(), strict=True))

    @cached_property
    def discarded_views(self) -> int:
        """Samples of the steps that were trained and are not in the lineage."""
        before, stops = self.scenario.sizes.batches.before, self.history.lineage_stops()
        return sum(before(leg.stop) - before(stop) for leg, stop in zip(self.history.legs, stops, strict=True))

    @cached_property
    def node_days(self) -> float:
        """Node-days that the job held."""
        return self.history.node_ns / (24 * HOUR_NS)

    @cached_property
    def used(self) -> Used:
        """What the run used of the cluster."""
        scenario, history = self.scenario, self.history
        size, cluster = scenario.sizes.checkpoint_bytes, scenario.cluster
        stored_h = 0.0
        if size:
            saved = self.checkpoints
            # A tier is part of the cluster: its storage is not paid for.
            durable_h = saved.loc[saved["tier"] == MAIN_TIER, "durable_h"].tolist()
            stored_h = stored_hours(durable_h, history.wall_ns / HOUR_NS, scenario.checkpoint.keep)
        return used(history, cluster.own_nodes, cluster.gpus_per_node, size, stored_h)

    # --- tables

    @cached_property
    def ledger(self) -> pd.DataFrame:
        """How many samples (of which corpus) were planned and seen how often: planned, seen, samples; it sums to N."""
        from clustersim import tables

        return tables.ledger(self)

    @cached_property
    def by_corpus(self) -> pd.DataFrame:
        """One row a corpus of a mixture, or one of all samples: what was planned and seen of it."""
        from clustersim import tables

        return tables.by_corpus(self)

    @cached_property
    def shards(self) -> pd.DataFrame:
        """One row a shard, where the order deals out shards; else one row of all samples (of each corpus)."""
        from clustersim import tables

        return tables.shards(self)

    @cached_property
    def legs(self) -> pd.DataFrame:
        """One row a leg: its steps, layout, times and how it ended."""
        from clustersim import tables

        return tables.legs(self)

    @cached_property
    def events(self) -> pd.DataFrame:
        """One row a failure or a completed repair, in order of time."""
        from clustersim import tables

        return tables.events(self)

    @cached_property
    def checkpoints(self) -> pd.DataFrame:
        """One row a durable checkpoint."""
        from clustersim import tables

        return tables.checkpoints(self)

    @cached_property
    def carries(self) -> pd.DataFrame:
        """One row a restart of the lineage that lost what packers held of documents."""
        from clustersim import tables

        return tables.carries(self)

    @cached_property
    def time(self) -> pd.DataFrame:
        """The wall time by bucket: bucket, hours, share, node_hours."""
        from clustersim import tables

        return tables.time(self)

    @cached_property
    def damage(self) -> pd.DataFrame:
        """One row a restart: what it cost, and extra and missing views so far. All rows come from one joint draw."""
        from clustersim import tables

        return tables.damage(self)

    @cached_property
    def damage_by_corpus(self) -> pd.DataFrame:
        """`damage`, one row a restart and corpus of a mixture."""
        from clustersim import tables

        return tables.damage_by_corpus(self)


def _joined(reads: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Steps and samples of all corpora, one after the other."""
    step, sample = (np.concatenate(column) for column in zip(*reads, strict=True))
    return step, sample
