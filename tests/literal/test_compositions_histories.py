"""Random compositions x random histories: the literal loader, a count of each sample, and intervals, all three agree.

Where nothing but the order is random the counts are the same to the sample. Where a buffer, a reader or a restart draws
too, the literal loader draws other numbers: views are the same, and damage has the same mean. Intervals are the same as
the count of each sample or, where several permutations meet, have the same mean.
"""

from random import Random

import pytest

from clustersim.data.corpus import Corpus
from clustersim.data.orders import order_of
from literal.agreement import agree, off
from literal.compositions import BATCH, BY_SHARD, RANKS, composed, compositions, drawing

Z = 5.0
ORDERS = ["shuffle", "sequential", "shard-shuffle", "shuffle-once"]


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
    # With shards of which whole batches alone are read every epoch has one, or the run would end there.
    least = 2 * BATCH * parts.readers_per_rank if parts.last_batch == "drop" else BATCH
    if parts.partition in BY_SHARD:
        drawn = parts.partition == "shards" and parts.permutes == "epoch" and parts.dealt_to == "ranks"
        kinds = ["sequential", "shard-shuffle"] + ["with-replacement"] * drawn
        shards, kind = random.randint(readers, 40), random.choice(kinds)
        # Shards of which each reader permutes its own are of one length, so that its part is.
        even = parts.permutes == "part"
        samples = shards * random.randint(1, 5) if even else random.randint(max(shards, least), 150)
        return order_of(kind, Corpus(samples, shards), random.randrange(10**6), 0), rows
    samples = random.randint(BATCH, 150) // (parts.canonical or 1) * (parts.canonical or 1)
    kind = "shuffle" if parts.permutes == "part" else random.choice(ORDERS)
    return order_of(kind, Corpus(samples, random.randint(1, min(samples, 25))), random.randrange(10**6), 0), rows


def compare(found, histories, to_the_sample):
    everywhere = []
    for number, composition in enumerate(found):
        drawn = (history(Random(f"{number} {k}"), composition[1]) for k in range(histories))
        played = (agree(composition, *each, to_the_sample) for each in drawn)
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


@pytest.mark.parametrize("partition", ["strided", "contiguous"])
def test_readers_of_more_samples_than_an_epoch_has_pad_it_again_and_again(partition):
    made = composed({"partition": partition, "workers": 3, "last_batch": "pad"})
    rows = [(1, 0, 3, 4), (4, 1, 6, 7), (3, 5, 12, 12)]
    for samples in range(BATCH, 3 * BATCH):
        agree(made, order_of("shuffle", Corpus(samples, 1), samples, 0), rows, to_the_sample=True)
