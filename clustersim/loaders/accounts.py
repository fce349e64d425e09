"""The account of one corpus: what a loader was to read of it and read of it, and how often its samples were seen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustersim import streams
from clustersim.account import (
    Counts,
    Damage,
    Draws,
    Ledger,
    Sparse,
    Story,
    count_apart,
    count_identity,
    damage,
    damage_dealt,
    damage_identity,
    expand,
    story,
)
from clustersim.account.spaces import in_blocks
from clustersim.data.skips import Skips
from clustersim.loaders.draws import draws_of
from clustersim.loaders.follow import Reads, plan
from clustersim.loaders.mixture import MixtureLoader, Steps, Ticks
from clustersim.loaders.parts import CorpusLoader, Delivered, Loader, Stretch, ToCount, count_reads
from clustersim.loaders.returning import ReaderLoader
from clustersim.loaders.sequence import SequenceLoader
from clustersim.loaders.taken_out import without
from clustersim.scenario.batches import Batches

Ints = NDArray[np.int64]

_MOST_COUNTED = 2**24  # samples that have a count each
_COUNTED_MEANWHILE = 10  # views, while a leg is counted by law for a half of the ticks that are asked for


@dataclass(frozen=True)
class CorpusReads:
    """What was to be read of one corpus and what was, in the ticks of its loader."""

    loader: CorpusLoader
    ticks: Ticks
    first: int
    """What the number of its first sample is, as samples are numbered through all corpora."""
    ranks: int
    planned_steps: int
    """Steps of the run without failures."""
    reads: Reads
    """Of all corpora."""
    drawn_by: tuple[int, int]
    """The seed and the replication."""
    name: str = ""
    """Of the corpus in a mixture."""
    corpus: int | None = None
    """Which corpus of a mixture it is; None if there is no mixture."""
    taken_out: tuple[tuple[int, int], ...] = ()
    """Runs of positions that a policy for poison takes out of the steps."""
    poison: tuple[int, ...] = ()
    """The samples on account of which."""

    @cached_property
    def kept(self) -> list[Delivered]:
        """What the lineage read of it, leg by leg."""
        return self._own(self.reads.kept)

    def _own(self, delivered: list[Any]) -> list[Delivered]:
        return delivered if self.corpus is None else [each.stretches[self.corpus] for each in delivered]

    @cached_property
    def planned(self) -> list[Delivered]:
        """What is read without failures."""
        return plan(self.loader, self.ranks, self.ticks.before(self.planned_steps))

    @cached_property
    def planned_draws(self) -> Draws:
        """What is read without failures, for the account."""
        return self.loader.draws(self.planned)[0]

    @cached_property
    def seen_draws(self) -> Draws:
        """What the lineage read, for the account."""
        return self._trained(self.loader.draws(self.kept)[0])

    def _trained(self, draws: Draws) -> Draws:
        return without(draws, self.loader.spaces.size, self.taken_out) if self.taken_out else draws

    @cached_property
    def to_count(self) -> ToCount:
        """What plan and lineage read, in orders that can be counted by their law."""
        reads = self.loader.reads_to_count(self.planned, self.kept)
        return reads._replace(seen=self._trained(reads.seen))

    @property
    def lawless(self) -> bool:
        """Whether no law tells how its orders depend on each other, so that samples are counted one by one."""
        return self.loader.spaces_to_count.law == "other"

    @cached_property
    def counts(self) -> Counts:
        """Planned and seen views of each sample, int64[N] each; N integers of memory."""
        return count_identity(self.loader.spaces, self.planned_draws, self.seen_draws)

    def ledger(self, by_identity: bool) -> Ledger:
        """The ledger, with a cell for each shard where the order deals out shards."""
        return self.counts.ledger() if by_identity else self._count(self.to_count)

    @property
    def _follows_poison(self) -> bool:
        """Whether poison has to be counted apart: what is taken out of several orders on its account is no chance."""
        loader = self.loader
        known = bool(self.taken_out) and len(self.poison) < loader.spaces.size
        return known and loader.spaces_to_count.law == "uniform" and not loader.tells_the_end_only

    def _count(self, reads: ToCount) -> Ledger:
        if self._follows_poison:
            samples = np.array(self.poison, dtype=np.int64)
            return count_apart(self.loader.spaces_to_count, reads.planned, reads.seen, samples, self._rng())
        return count_reads(self.loader.spaces_to_count, reads, self._rng())

    def _rng(self) -> np.random.Generator:
        return streams.generator(*self.drawn_by, "account", *([self.name] if self.name else []))

    def ledger_against(self, views: int, by_identity: bool) -> Ledger:
        """The ledger against the first `views` positions of the run's own order that are not skipped."""
        spaces, size = self.loader.spaces, self.loader.spaces.size
        if isinstance(self.loader, SequenceLoader) and (skipped := self.loader.skipped):
            ideal = draws_of([Stretch(0, views, 0, 0, 0, 0)], size, 1, Skips(skipped))[0]
            if by_identity:
                return count_identity(spaces, ideal, self.seen_draws).ledger()
            return self._count(self.to_count._replace(planned=ideal))
        whole, rest = divmod(views, size)
        if by_identity:
            planned = np.full(size, whole)
            planned[self.loader.first_samples(whole, rest)] += 1
            return replace(self.counts, planned=planned).ledger()
        rows = [(0, 0, whole, 0, size, 0, 0, 1)] if whole else []
        rows += [(0, whole, 1, 0, rest, 0, 0, 1)] if rest else []
        ideal = Draws(*np.array(rows, dtype=np.int64).reshape(-1, 8).T.copy())
        return self._count(self.to_count._replace(planned=ideal, planned_some=Sparse.empty(), planned_dealt=()))

    def damage(self, steps: Ints, by_identity: bool) -> Damage:
        """Extra and missing views before each step (never falling; the last one lies beyond all reads)."""
        ticks = self.ticks.before_all(steps)
        if by_identity:
            return damage_identity(self.loader.spaces, self.planned_draws, self.seen_draws, ticks)
        if self.loader.tells_the_end_only:
            return self._damage_at_once(ticks) or self._damage_one_by_one(ticks)
        return self._damage_by_law(ticks)

    def _damage_by_law(self, ticks: Ints) -> Damage:
        """Damage before each tick in orders whose law the account knows."""
        spaces, reads = self.loader.spaces, self.to_count
        if reads.planned_dealt or reads.seen_dealt:
            assert in_blocks(spaces)
            cut = self.loader.reads_to_count(self.planned, self.kept, ticks)
            return damage_dealt(spaces, cut.planned_dealt, cut.seen_dealt, len(ticks))
        found = damage(spaces, reads.planned, reads.seen, ticks, self._rng())
        if self._follows_poison:
            ledger = self._count(reads)
            found.extra[-1], found.missing[-1] = ledger.extra, ledger.missing
        return found

    def _damage_at_once(self, ticks: Ints) -> Damage | None:
        """Damage before each tick, if it can be told of all at once; the last is that of the ledger."""
        if isinstance(self.loader, ReaderLoader):
            found = self.loader.damage_behind(self.planned, self.kept, ticks, self._rng())
        elif self._is_sooner_counted(len(ticks)):
            found = damage_identity(self.loader.spaces, self.planned_draws, self.seen_draws, ticks)
        else:
            return None
        if found is not None:
            ledger = self._count(self.to_count)
            found.extra[-1], found.missing[-1] = ledger.extra, ledger.missing
            if ledger.exact == "distribution":
                found = found._replace(exact="distribution")
        return found

    def _is_sooner_counted(self, ticks: int) -> bool:
        """Whether to count all views takes less time than to count by law what the legs before each tick read."""
        views = self.planned_draws.views() + self.seen_draws.views()
        return self.loader.spaces.size <= _MOST_COUNTED and views <= _COUNTED_MEANWHILE * len(self.kept) * ticks

    def _damage_one_by_one(self, ticks: Ints) -> Damage:
        """Damage before each tick, counted for itself: where what was read is known in all, not tick by tick."""
        loader = self.loader
        extra, missing, exact = [], [], True
        for end in ticks.tolist():
            planned = plan(loader, self.ranks, min(end, self.ticks.before(self.planned_steps)))
            ledger = self._count(loader.reads_to_count(planned, loader.below(self.kept, end)))
            extra.append(ledger.extra)
            missing.append(ledger.missing)
            exact &= ledger.exact == "identity"
        return Damage(np.array(extra), np.array(missing), "identity" if exact else "distribution")

    def numbered(self, draws: Draws) -> tuple[Ints, Ints]:
        """Step and sample of each read, as samples are numbered through all corpora, int64[views] both."""
        tick, sample = expand(self.loader.spaces, draws)
        return self.ticks.step_of(tick), self.first + sample

    def planned_views(self, sample: int) -> int:
        """How often a sample of it is planned."""
        return len(story(self.loader.spaces, self.planned_draws, sample - self.first).row)

    def story(self, sample: int, kept: bool, limit: int) -> tuple[Story, Ints]:
        """Every read of a sample of it, kept or discarded, and the leg of each, int64[reads].

        Raises:
            ValueError: it was read more than `limit` times.
        """
        draws, owner = self.loader.draws(self.kept if kept else self._own(self.reads.discarded))
        found = story(self.loader.spaces, draws, sample - self.first, limit)
        return found._replace(step=self.ticks.step_of(found.step)), owner[found.row]


def reads_of(
    loader: Loader,
    reads: Reads,
    ranks: int,
    planned_steps: int,
    batches: Batches,
    drawn_by: tuple[int, int],
    names: Sequence[str],
) -> list[CorpusReads]:
    """A run's reads, corpus by corpus.

    Args:
        loader: what read.
        reads: what it read.
        ranks: of the first leg.
        planned_steps: steps of the run without failures.
        batches: the samples of each step.
        drawn_by: the seed and the replication.
        names: of the corpora of a mixture; one that is empty, if there is none.
    """
    if not isinstance(loader, MixtureLoader):
        assert isinstance(loader, SequenceLoader | ReaderLoader)
        return [CorpusReads(loader, Steps(batches), 0, ranks, planned_steps, reads, drawn_by)]
    return [
        CorpusReads(
            each,
            loader.ticks[corpus],
            int(loader.firsts[corpus]),
            ranks,
            planned_steps,
            reads,
            drawn_by,
            name,
            corpus,
        )
        for corpus, (each, name) in enumerate(zip(loader.loaders, names, strict=True))
    ]
