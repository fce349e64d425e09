"""The rules where their closed forms end: restarts that follow each other, edges of epochs, N that does not divide.

The literal loader is the judge: two and three restarts in one epoch, a checkpoint on an epoch's edge, 997 samples, and
1,000 in 25 shards.
"""

import pytest
from literal.agreement import agree, off
from literal.compositions import BATCH, EPOCHS, composed

from clustersim.data.corpus import Corpus
from clustersim.data.orders import order_of

OWN = {"partition": "strided", "missing_state": "rank-0"}
SHARDS = {"partition": "shards", "missing_state": "rank-0"}
RULES = {
    "1 a position": {},
    "1 a tail padded": {"last_batch": "pad"},
    "1 shared out": {"partition": "strided", "on_layout_change": "reshard"},
    "3 a position of each rank": OWN,
    "3 snapshots": {**OWN, "snapshot_every": 3},
    "3 an endless stream": {**OWN, "passes": "endless"},
    "3 shards": SHARDS,
    "4 the epoch restarted": {"saves": "epoch", "comes_back": "restart-epoch"},
    "5 the run restarted": {"saves": "nothing", "comes_back": "restart-run"},
    "6 a new order": {"comes_back": "reshuffle"},
    "6 a new order for good": {"comes_back": "reshuffle", "reshuffle_lasts": "for-good"},
    "6 the order of epoch 0": {"order_epoch": "first"},
    "7 fetched ahead": {"counted_at": "issued", "prefetch": 4},
    "7 fetched ahead of each rank": {**OWN, "counted_at": "issued", "prefetch": 4},
    "10 a queue": {"partition": "queue"},
    "10 a queue that skips": {"partition": "queue", "unfinished_shard": "skip"},
    "11 divided anew": {"partition": "contiguous", "last_batch": "drop", "on_layout_change": "redivide"},
    "12 the loop counts on": {"saves": "epoch", "comes_back": "restart-epoch", "loop_counter": "kept"},
    "13 counted twice": {"saves": "steps", "miscount": "doubled"},
    "13 one rank's count for all": {"miscount": "rank-as-global"},
    "14 shards drawn at random": SHARDS,
    "14 drawn anew": {**SHARDS, "saves": "epoch", "comes_back": "reshuffle-epoch"},
    "15 padded to ranks": {"partition": "strided", "uneven": "pad"},
    "15 dropped": {"partition": "strided", "uneven": "drop", "last_batch": "drop"},
    "15 runs": {"partition": "contiguous"},
    "15 runs that stay dealt": {"partition": "contiguous", "dealt_to": "first-ranks"},
    "16 of the old epoch": {"saves": "epoch", "comes_back": "restart-epoch", "epoch_edge": "old"},
    "16 finished": {"epoch_edge": "finished"},
    "17 applied again": {"comes_back": "reapply"},
    "17 ranks without a state": {"partition": "strided"},
    "17 refused": {"on_layout_change": "refuse"},
    "17 the epoch read again": {**OWN, "past_end": "restart-epoch", "epoch_edge": "old"},
}
DRAWN = {
    "6 parts permuted alone": {"partition": "contiguous", "permutes": "part"},
    "8 a lost buffer": {**SHARDS, "buffer": 64},
    "8 half flushed": {**SHARDS, "buffer": 64, "buffer_kind": "half-flush"},
    "8 a window": {**SHARDS, "buffer": 64, "buffer_kind": "window"},
    "9 a saved buffer": {**SHARDS, "buffer": 64, "buffer_saved": True},
}
# Samples, shards.
CORPORA = [(960, 24), (997, 25), (1000, 25)]
# Ranks at first and after each restart; the steps that they come from, of epochs of S (negative: from its end).
RESTARTS = {
    "two in one epoch": ([4, 4, 4], [(0, 10), (0, 30)]),
    "two, other ranks": ([4, 3, 2], [(1, 10), (1, 30)]),
    "three in one epoch": ([4, 2, 6, 3], [(0, 7), (0, 8), (0, 41)]),
    "on the edge": ([4, 4], [(1, 0)]),
    "on the edge, other ranks": ([4, 3], [(1, 0)]),
    "about the edge": ([2, 4, 1, 4], [(0, -1), (1, 0), (1, 1)]),
}


def lives(restarts, samples):
    """(ranks, start, stop, read) of each life, the last one to the middle of the last epoch."""
    ranks, places = restarts
    steps = samples // BATCH
    starts = [0, *(epoch * steps + (into if into >= 0 else steps + into) for epoch, into in places)]
    stops = [start + 2 for start in starts[1:]] + [EPOCHS * steps - steps // 2]
    return [(r, start, stop, stop + 1) for r, start, stop in zip(ranks, starts, stops, strict=True)]


def order_for(rule, samples, shards, seed=0):
    partition = (RULES | DRAWN)[rule].get("partition", "global")
    kind = "shard-shuffle" if partition in ("shards", "queue") else "shuffle"
    return order_of("with-replacement" if "drawn" in rule else kind, Corpus(samples, shards), seed, 0)


@pytest.mark.parametrize(("rule", "restarts"), [(rule, where) for rule in RULES for where in RESTARTS])
def test_the_same_views_of_each_sample(rule, restarts):
    made = composed(RULES[rule])
    for samples, shards in CORPORA:
        agree(made, order_for(rule, samples, shards), lives(RESTARTS[restarts], samples), to_the_sample=True)


@pytest.mark.parametrize(
    ("rule", "restarts"), [(rule, where) for rule in DRAWN for where in ("two, other ranks", "about the edge")]
)
def test_the_same_damage_in_the_mean(rule, restarts):
    made, found = composed(DRAWN[rule]), []
    for samples, shards in [(960, 24), (1000, 25)]:
        rows = lives(RESTARTS[restarts], samples)
        for seed in range(10):
            off_by = agree(made, order_for(rule, samples, shards, seed), rows, to_the_sample=False)
            found.append(off_by.ravel().tolist())
    for figure in zip(*found, strict=True):
        assert abs(off(figure)) < 4.5
