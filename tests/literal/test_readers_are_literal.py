"""Loaders whose readers each read a part of their own, against the literal loader: the same samples step by step."""

from itertools import pairwise
from random import Random

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from measured.clustersim_model import loader_keys

import literal
from clustersim.data.corpus import Corpus
from clustersim.data.orders import order_of
from clustersim.history import History, Refused
from clustersim.loaders.follow import Follower
from clustersim.loaders.parts import Parts
from clustersim.loaders.returning import ReaderLoader
from clustersim.scenario.reading import Loader
from literal.legs import leg_of

BATCH = 12
RANKS = [1, 2, 3, 4, 6]
# What the literal loader and the engine both know, and what no random number of theirs decides.
OTHER = {
    "workers": [2, 3],
    "uneven": ["pad", "drop"],
    "last_batch": ["drop", "pad"],
    "passes": ["repeat"],
    "saves": ["steps", "epoch", "nothing"],
    "snapshot_every": [3],
    "prefetch": [1, 2],
    "miscount": ["doubled"],
    "counted_in": [4, 5],
    "taken_for": [1, 5, 7],
    "comes_back": ["restart-epoch", "next-epoch", "restart-run", "reshuffle"],
    "reshuffle_lasts": ["for-good"],
    "order_epoch": ["first"],
    "epoch_edge": ["old", "finished"],
    "loop_counter": ["kept"],
    "on_layout_change": ["reshard", "refuse"],
    "missing_state": ["rank-0"],
    "past_end": ["restart-epoch", "refuse"],
}
PARTITIONS = ["global", "strided", "contiguous", "shards", "contiguous-shards"]
WORKERS = {"strided": "strided", "shards": "shards", "contiguous": "side-by-side", "contiguous-shards": "side-by-side"}
EPOCHS = 3


def same_meaning(parts):
    """Whether the engine gives these parts together the meaning that the literal loader gives them."""
    shards = "shards" in parts.partition
    return not (
        (parts.last_batch == "pad" and shards)  # there is no order of samples that is filled up
        or (parts.last_batch == "drop" and parts.workers > 1)  # whether a worker that is passed over has read its rest
        or (parts.loop_counter == "kept" and (shards or parts.workers > 1))  # an epoch's steps: N / B, or what there is
    )


def compositions(count):
    """Literal compositions, each with the same as the engine's parts, of those that a scenario may say."""
    random, found = Random(0), []
    while len(found) < count:
        partition = random.choice(PARTITIONS)
        chosen = {name: random.choice(OTHER[name]) for name in random.sample(sorted(OTHER), random.randrange(6))}
        if chosen.get("prefetch"):
            chosen["counted_at"] = "issued"
        if chosen.get("workers") and partition != "global":
            chosen["worker_split"] = WORKERS[partition]
        stated = literal.Parts(partition=partition, **chosen)
        if not same_meaning(stated):
            continue
        try:
            said = Loader.model_validate(loader_keys(stated, EPOCHS) | {"last_batch": stated.last_batch})
        except ValueError:
            continue
        lasts = said.reshuffle_lasts or "epoch"
        found.append((stated, Parts(**said.model_dump(exclude={"preset", "reshuffle_lasts"}), reshuffle_lasts=lasts)))
    return found


@st.composite
def lives(draw):
    """(ranks, start, stop, read) of each life of a job; a restart may go back behind the start of the life before."""
    rows, start = [], 0
    for _ in range(draw(st.integers(1, 5))):
        stop = start + draw(st.integers(0, 9))
        rows.append((draw(st.sampled_from(RANKS)), start, stop, stop + draw(st.integers(0, 1))))
        start = draw(st.integers(max(0, start - 3), stop))
    return rows


def deliver(loader, rows):
    """The steps of the final model, each a list of sample ids; the lives that came about; whether one was refused."""
    follower, history, lived = Follower(loader), History(), []
    refused = False
    for ranks, start, stop, read in rows:
        if lived and start > lived[-1][2]:
            break
        has = follower.begin(start, ranks)
        if isinstance(has, Refused):
            refused = True
            break
        last = stop if has is None else min(stop, start + has)
        lived.append((ranks, start, last, read if last == stop and (has is None or has > stop - start) else last))
        follower.end(*lived[-1][2:])
    for number, row in enumerate(lived):
        kept = lived[number + 1][1] if number + 1 < len(lived) else row[2]
        history.legs.append(leg_of(number, *row, kept))
    steps = {}
    for row, stretch in zip(lived, follower.reads(history).kept, strict=True):
        for step in range(stretch.step, stretch.step + stretch.steps):
            steps[step] = np.concatenate(loader.batch_at(stretch, step, row[0])).tolist()
    return [steps[step] for step in sorted(steps)], lived, refused


def shards_of(order, corpus):
    """(family, epoch) -> the shards in reading order, as lists of sample ids; one list where there are no shards."""

    def shards(family, epoch):
        ids = order.samples_at(family, epoch, np.arange(corpus.samples)).tolist()
        if not hasattr(order, "block_begins"):
            return [ids]
        begins = order.block_begins(family, epoch).tolist()
        return [ids[a:b] for a, b in pairwise(begins)]

    return shards


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(
    st.sampled_from(compositions(1000)),
    st.sampled_from(["shuffle", "sequential", "shard-shuffle"]),
    st.integers(1, 150),
    st.integers(1, 25),
    lives(),
)
def test_readers_deliver_what_the_literal_loader_does(composed, kind, samples, shards, rows):
    stated, parts = composed
    corpus = Corpus(samples, min(shards, samples))
    assume("shards" not in parts.partition or (kind != "shuffle"))
    readers = max(ranks for ranks, *_ in rows) * stated.workers
    assume("shards" not in parts.partition or corpus.shards >= readers)
    order = order_of(kind, corpus, 0, 0)
    loader = ReaderLoader(order, BATCH, parts, None, rows[0][0])
    steps, lived, refused = deliver(loader, rows)

    asked = literal.Corpus(samples, order=shards_of(order, corpus))
    attempts = [literal.Attempt(*row) for row in rows[: len(lived) + refused]]
    attempts[: len(lived)] = [literal.Attempt(*row) for row in lived]
    line = literal.run(stated, asked, attempts, BATCH, EPOCHS, 0)
    assert (line.refused is not None) == refused
    if not refused:
        assert [[x for _, x in step] for step in line.steps] == steps
