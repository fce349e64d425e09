"""Random compositions x random histories: the literal loader, a count of each sample, and intervals, all three agree.

Where nothing but the order is random the counts are the same to the sample. Where a buffer, a reader or a restart draws
too, the literal loader draws other numbers: views are the same, and damage has the same mean. Intervals are the same as
the count of each sample or, where several permutations meet, have the same mean.
"""

import math
import statistics
from random import Random

import numpy as np
import pytest

import literal
from clustersim import streams
from clustersim.account import count_identity
from clustersim.data.corpus import Corpus
from clustersim.data.orders import order_of
from clustersim.loaders.follow import plan
from clustersim.loaders.parts import count_reads
from clustersim.loaders.returning import ReaderLoader
from literal.engine import composed, live, shards_of
from literal.test_readers_are_literal import (
    BATCH,
    EPOCHS,
    PARTITIONS,
    RANKS,
    WORKERS,
    compositions,
    same_meaning,
)

Z = 5.0
ORDERS = ["shuffle", "sequential", "shard-shuffle", "shuffle-once"]
# What draws by itself, and what is stated beside it.
DRAWS = {"buffer": [4, 15, 40], "permutes": ["part"], "comes_back": ["remainder"]}
BESIDE = {
    "workers": [2],
    "last_batch": ["drop"],
    "saves": ["epoch", "steps"],
    "buffer_kind": ["half-flush", "window"],
    "buffer_saved": [True],
    "buffer_seed": ["never"],
    "epoch_edge": ["old"],
    "on_layout_change": ["reshard", "refuse"],
    "missing_state": ["rank-0"],
}


def drawing(count):
    """As `compositions`, of those that draw random numbers of their own."""
    random, found = Random(1), []
    while len(found) < count:
        part = random.choice(sorted(DRAWS))
        chosen = {name: random.choice(BESIDE[name]) for name in random.sample(sorted(BESIDE), random.randrange(5))}
        chosen |= {part: random.choice(DRAWS[part]), "partition": random.choice(PARTITIONS)}
        if "workers" in chosen and chosen["partition"] in WORKERS:
            chosen["worker_split"] = WORKERS[chosen["partition"]]
        made = composed(chosen, EPOCHS)
        if made is not None and same_meaning(made[0]) and not _says_nothing(made[0]):
            found.append(made)
    return found


def _says_nothing(stated):
    """A saved buffer whose position says all, or of which equal shares say nothing."""
    return stated.buffer_saved and (stated.buffer_kind == "window" or stated.on_layout_change == "reshard")


def lives(random):
    """(ranks, start, stop, read) of one to five lives of a job; a restart may go back behind the start of a life."""
    rows, start = [], 0
    for _ in range(random.randint(1, 5)):
        stop = start + random.randint(0, 9)
        rows.append((random.choice(RANKS), start, stop, stop + random.randint(0, 1)))
        start = random.randint(max(0, start - 3), stop)
    return rows


def history(random, parts):
    """An order over a corpus, and lives, that go together with the parts."""
    rows = lives(random)
    readers = max(ranks for ranks, *_ in rows) * parts.readers_per_rank
    if "shards" in parts.partition:
        shards, kind = random.randint(readers, 40), random.choice(["sequential", "shard-shuffle"])
        # Shards of which each reader permutes its own are of one length, so that its part is.
        even = parts.permutes == "part"
        samples = shards * random.randint(1, 5) if even else random.randint(max(shards, BATCH), 150)
        return order_of(kind, Corpus(samples, shards), random.randrange(10**6), 0), rows
    samples = random.randint(BATCH, 150)
    kind = "shuffle" if parts.permutes == "part" else random.choice(ORDERS)
    return order_of(kind, Corpus(samples, random.randint(1, min(samples, 25))), random.randrange(10**6), 0), rows


def literally(stated, order, rows):
    """Views of each sample, int64[N], by the literal loader; None if it refuses."""
    shards = shards_of(order, order.size)
    if (stated.partition, stated.permutes) == ("contiguous", "part"):  # it is the parts that are shuffled
        shards = "sequential"
    corpus = literal.Corpus(order.size, order=shards, seed=order.drawn_by[0])
    line = literal.run(stated, corpus, [literal.Attempt(*row) for row in rows], BATCH, EPOCHS, 0)
    return None if line.refused else np.array(line.counts(order.size))


def damage(planned, seen):
    """Extra and missing views, and samples never seen."""
    more = seen - planned
    return np.array([more.clip(min=0).sum(), (-more).clip(min=0).sum(), (seen == 0).sum()])


def of_ledger(ledger):
    table = ledger.table
    return damage(table.planned.repeat(table.samples), table.seen.repeat(table.samples))


def agree(composition, random, to_the_sample):
    """How far the count of each sample is off the literal loader's damage, and intervals off that count: int64[2, 3].

    None if the loader refuses a restart, as the literal one does.
    """
    stated, parts = composition
    order, rows = history(random, parts)
    loader = ReaderLoader(order, BATCH, parts, None, rows[0][0])
    reads, lived, refused = live(loader, rows)
    seen = literally(stated, order, lived + rows[len(lived) : len(lived) + refused])
    assert (seen is None) == refused
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
    rng = streams.generator(random.randrange(10**6), 0, "account")
    ledger = count_reads(loader.spaces_to_count, loader.reads_to_count(planned, reads.kept), rng)
    if ledger.exact == "identity":
        by_sample = counts.ledger().table
        assert [column.tolist() for column in ledger.table] == [column.tolist() for column in by_sample]
    return np.array([ours - damage(sound, seen), of_ledger(ledger) - ours])


def off(differences):
    """The sum of independent differences in standard errors of it; 0 where there is none."""
    if not any(differences):
        return 0.0
    return sum(differences) / (statistics.stdev(differences) * math.sqrt(len(differences)))


def compare(found, histories, to_the_sample):
    everywhere = []
    for number, composition in enumerate(found):
        played = (agree(composition, Random(f"{number} {k}"), to_the_sample) for k in range(histories))
        here = [each.ravel().tolist() for each in played if each is not None]
        everywhere += here
        for figure in zip(*here, strict=True):
            assert abs(off(figure)) < Z, composition
    for figure in zip(*everywhere, strict=True):
        assert abs(off(figure)) < Z


LONG = pytest.mark.slow


@pytest.mark.parametrize(("count", "histories"), [(16, 10), pytest.param(150, 50, marks=LONG)])
def test_compositions_that_only_read_are_counted_alike_to_the_sample(count, histories):
    compare(compositions(count), histories, to_the_sample=True)


@pytest.mark.parametrize(("count", "histories"), [(4, 10), pytest.param(50, 50, marks=LONG)])
def test_compositions_that_draw_are_counted_alike_in_the_mean(count, histories):
    compare(drawing(count), histories, to_the_sample=False)
