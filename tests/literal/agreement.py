"""The literal loader, a count of each sample and intervals over one history: whether they agree, and how far off."""

import math
import statistics

import numpy as np

import literal
from clustersim import streams
from clustersim.account import count_identity, damage_dealt, damage_identity
from clustersim.data.orders import WithReplacement
from clustersim.loaders.follow import plan
from clustersim.loaders.parts import count_reads
from clustersim.loaders.returning import ReaderLoader
from literal.compositions import BATCH, EPOCHS
from literal.engine import draws_of, live, shards_of


def literally(stated, order, rows):
    """Views of each sample, int64[N], by the literal loader; None if it refuses."""
    seed = order.drawn_by[0]
    if isinstance(order, WithReplacement):
        corpus = literal.Corpus(order.size, order="with-replacement", draws=draws_of(order))
    elif (stated.partition, stated.permutes) == ("contiguous", "part"):  # it is the parts that are shuffled
        corpus = literal.Corpus(order.size, order="sequential", seed=seed)
    else:
        corpus = literal.Corpus(order.size, order=shards_of(order, order.size), seed=seed)
    line = literal.run(stated, corpus, [literal.Attempt(*row) for row in rows], BATCH, EPOCHS, 0)
    return None if line.refused else np.array(line.counts(order.size))


def damage(planned, seen):
    """Extra and missing views, and samples never seen."""
    more = seen - planned
    return np.array([more.clip(min=0).sum(), (-more).clip(min=0).sum(), (seen == 0).sum()])


def of_ledger(ledger):
    table = ledger.table
    return damage(table.planned.repeat(table.samples), table.seen.repeat(table.samples))


def agree(composition, order, rows, to_the_sample):
    """How far the count of each sample is off the literal loader's damage, and intervals off that count: int64[2, 3].

    None if the loader refuses a restart, as the literal one does.
    """
    stated, parts = composition
    loader = ReaderLoader(order, BATCH, parts, None, rows[0][0])
    reads, lived, refused = live(loader, rows)
    seen = literally(stated, order, lived + rows[len(lived) : len(lived) + bool(refused)])
    assert (seen is None) == bool(refused)
    if refused:
        return None
    planned = plan(loader, rows[0][0], lived[-1][2])
    counts = count_identity(loader.spaces, loader.draws(planned)[0], loader.draws(reads.kept)[0])
    in_plan = planned[0].steps
    sound = literally(stated, order, [(rows[0][0], 0, in_plan, in_plan)])
    assert (counts.planned.sum(), counts.seen.sum()) == (sound.sum(), seen.sum())
    if to_the_sample:
        assert (counts.planned.tolist(), counts.seen.tolist()) == (sound.tolist(), seen.tolist())
    ours = damage(counts.planned, counts.seen)
    if loader.spaces_to_count.law == "other":  # it is counted sample by sample only
        return np.array([ours - damage(sound, seen), 0 * ours])
    rng = streams.generator(order.drawn_by[0], 0, "account")
    ledger = count_reads(loader.spaces_to_count, loader.reads_to_count(planned, reads.kept), rng)
    if ledger.exact == "identity":
        by_sample = counts.ledger().table
        assert [column.tolist() for column in ledger.table] == [column.tolist() for column in by_sample]
    cuts = np.unique([stop for _, _, stop, _ in lived] + [in_plan])
    dealt = loader.reads_to_count(planned, reads.kept, cuts)
    if dealt.planned_dealt:
        by_sample = damage_identity(loader.spaces, loader.draws(planned)[0], loader.draws(reads.kept)[0], cuts)
        by_shard = damage_dealt(order, dealt.planned_dealt, dealt.seen_dealt, len(cuts))
        assert [by_shard.extra.tolist(), by_shard.missing.tolist()] == [column.tolist() for column in by_sample[:2]]
    return np.array([ours - damage(sound, seen), of_ledger(ledger) - ours])


def off(differences):
    """The sum of independent differences in standard errors of it; 0 where there is none."""
    if not any(differences):
        return 0.0
    return sum(differences) / (statistics.stdev(differences) * math.sqrt(len(differences)))
