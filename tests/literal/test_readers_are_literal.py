"""Loaders whose readers each read a part of their own, against the literal loader: the same samples step by step."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import literal
from clustersim.data.corpus import Corpus
from clustersim.data.orders import order_of
from clustersim.loaders.returning import ReaderLoader
from literal.compositions import BATCH, BY_SHARD, EPOCHS, RANKS, composed, compositions
from literal.engine import live, shards_of, steps_of
from literal.lives import lives


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(
    st.sampled_from(compositions(1000)),
    st.sampled_from(["shuffle", "sequential", "shard-shuffle"]),
    st.integers(1, 150),
    st.integers(1, 25),
    lives(RANKS),
)
def test_readers_deliver_what_the_literal_loader_does(made, kind, samples, shards, rows):
    stated, parts = made
    corpus = Corpus(samples, min(shards, samples))
    assume(parts.partition not in BY_SHARD or (kind != "shuffle"))
    readers = max(ranks for ranks, *_ in rows) * stated.workers
    assume(parts.partition not in BY_SHARD or corpus.shards >= readers)
    assume(samples % (parts.canonical or 1) == 0)
    deliver_the_same(made, kind, corpus, rows)


# Lives of compositions that have not every history in common with the literal loader.
AT_AN_EPOCHS_START = [
    ({"partition": "contiguous", "last_batch": "drop", "on_layout_change": "redivide"}, [(4, 0, 85), (3, 83, 99)]),
    ({"comes_back": "reapply"}, [(2, 0, 81), (4, 79, 82), (1, 80, 99), (1, 93, 180)]),
]


@pytest.mark.parametrize(("chosen", "lives"), AT_AN_EPOCHS_START)
def test_nothing_is_divided_or_passed_over_at_the_start_of_an_epoch(chosen, lives):
    rows = [(ranks, start, stop, stop) for ranks, start, stop in lives]
    deliver_the_same(composed(chosen), "shuffle", Corpus(997 if "partition" in chosen else 960, 1), rows)


def deliver_the_same(made, kind, corpus, rows):
    stated, parts = made
    order, samples = order_of(kind, corpus, 0, 0), corpus.samples
    loader = ReaderLoader(order, BATCH, parts, None, rows[0][0])
    reads, lived, refused = live(loader, rows)

    asked = literal.Corpus(samples, order=shards_of(order, samples))
    attempts = [literal.Attempt(*row) for row in rows[: len(lived) + bool(refused)]]
    attempts[: len(lived)] = [literal.Attempt(*row) for row in lived]
    line = literal.run(stated, asked, attempts, BATCH, EPOCHS, 0)
    assert (line.refused is not None) == bool(refused)
    if not refused:
        assert [[x for _, x in step] for step in line.steps] == steps_of(loader, reads, lived)
