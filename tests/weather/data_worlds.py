"""Random worlds by what they read: a corpus, a mixture, packed documents, growing batches, poison; and how."""

from dataclasses import replace
from typing import NamedTuple

import literal
import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from literal.compositions import EPOCHS, compositions, drawing
from literal.engine import shards_of
from measured.clustersim_model import loader_keys
from worlds import scenarios

from clustersim import Scenario, ScenarioError, load_scenario
from clustersim.simulation import orders_for

BATCH = 60  # what every degree of `worlds.scenarios` divides
_BY_PARTS = [stated for stated, _ in compositions(1000)]
_DRAWING = [stated for stated, _ in drawing(1000)]
_ENDS = [{"wall_time": "2 h"}, {"steps": 90, "limit": "1 d"}]
_BY_EPOCHS = {"epochs": EPOCHS, "limit": "1 d"}
_SHUFFLED = ["shuffle", "shuffle-once", "shard-shuffle"]
# How a loader whose batches span epochs saves and comes back.
_WAYS = [
    *(("samples", back) for back in ("exact", "reshuffle", "restart-epoch", "next-epoch")),
    *(("epoch", back) for back in ("restart-epoch", "next-epoch")),
    *(("nothing", back) for back in ("restart-run", "continue")),
    ("steps", "exact"),
]
_BESIDE_POISON = [("samples", "exact"), ("samples", "reshuffle")]


class Life(NamedTuple):
    """A life of a job, from the leg that begins it to the next time that its loader comes back.

    In place it comes back from no checkpoint: other ranks go on with what the survivors know.
    """

    leg: int
    ranks: int
    start: int
    stop: int
    read: int
    in_place: bool = False


class DataWorld(NamedTuple):
    """A scenario, and its loader's parts as the literal one knows them."""

    scenario: Scenario
    stated: literal.Parts

    @property
    def draws(self):
        """Whether a buffer, a reader or a restart draws too, so that the literal loader agrees in its law only."""
        return self.stated.buffer > 0 or self.stated.permutes == "part" or self.stated.comes_back == "remainder"

    def reads(self, lives, steps):
        """What the literal loader delivers in the first so many steps of the lineage of some lives, list of lists."""
        sizes, corpora = self.scenario.sizes, self.scenario.data.corpora
        orders = orders_for(self.scenario, self.scenario.run.seed)
        made = [self._corpus(order, [life.leg for life in lives]) for order in orders]
        asked = made[0] if corpora is None else literal.Mixed(tuple(made), tuple(each.weight for each in corpora))
        attempts = [literal.Attempt(*life[1:]) for life in lives]
        line = literal.run(self.stated, asked, attempts, sizes.batch, EPOCHS, 0)
        assert line.refused is None
        samples = [[sample for _, sample in step] for step in line.steps[:steps]]
        if corpora is None:
            return samples
        firsts = np.cumsum([0, *(each.size for each in orders)]).tolist()
        return [[firsts[corpus] + x for corpus, x in step] for step in samples]

    def _corpus(self, order, legs):
        """A corpus in an order that is reshuffled for each leg that begins a life."""
        seed, shards = order.drawn_by[0], shards_of(order, order.size)
        if (self.stated.partition, self.stated.permutes) == ("contiguous", "part"):  # it is the parts that are shuffled
            return literal.Corpus(order.size, order="sequential", seed=seed)
        return literal.Corpus(order.size, order=lambda life, epoch: shards(legs[life], epoch), seed=seed)


@st.composite
def _by_parts(draw, of):
    """A loader that counts batches, over one corpus."""
    stated = draw(st.sampled_from(of))
    orders = ["sequential", "shard-shuffle"] if "shards" in stated.partition else ["sequential", *_SHUFFLED]
    samples, shards = draw(st.integers(BATCH, 10 * BATCH)), draw(st.integers(15, 40))
    if stated.permutes == "part" and "shards" in stated.partition:
        samples += -samples % shards  # how many a worker reads, and a run of whole epochs, is then no matter of chance
    data = {"samples": samples, "shards": shards, "order": draw(st.sampled_from(orders))}
    return stated, {"run": draw(st.sampled_from([*_ENDS, _BY_EPOCHS])), "data": data}


@st.composite
def _spanning(draw, poisoned=False):
    """A loader whose batches span epochs, over one corpus: of samples, or of packed documents."""
    saves, back = draw(st.sampled_from(_BESIDE_POISON if poisoned else _WAYS))
    to_a_position, by_state = (
        back in ("exact", "reshuffle") and saves != "steps",
        back not in ("restart-run", "continue"),
    )
    stated = literal.Parts(
        last_batch="span",
        saves=saves,
        comes_back=back,
        reshuffle_lasts=draw(st.sampled_from(["epoch", "for-good"])) if back == "reshuffle" else "epoch",
        order_epoch="first"
        if (saves, back) == ("samples", "exact") and not poisoned and draw(st.booleans())
        else "own",
        epoch_edge=draw(st.sampled_from(["new", "old", "finished"])) if to_a_position else "new",
        state_ahead=draw(st.sampled_from([0, 0, 0, -3, -1, 2])) if by_state and not poisoned else 0,
        on_layout_change=draw(st.sampled_from(["keep-local", "keep-local", "refuse"])),
    )
    order = draw(st.sampled_from(_SHUFFLED if back == "reshuffle" else ["sequential", *_SHUFFLED]))
    said = {"run": draw(st.sampled_from([*_ENDS, _BY_EPOCHS])), "data": {"order": order, "shards": 12}}
    if draw(st.booleans()):
        return stated, {**said, "data": {**said["data"], "samples": draw(st.integers(BATCH, 10 * BATCH))}}
    packed = {"documents": draw(st.integers(200, 900)), "tokens_per_document": 100}
    spread = draw(st.sampled_from([{}, {"document_sigma": 1.1}]))
    packing = draw(st.sampled_from(["none", "concat", "whole"]))
    return stated, {**said, "data": {**said["data"], **packed, **spread, "packing": packing}}


@st.composite
def _growing(draw):
    """Batches that grow, of one corpus."""
    stated, said = draw(_spanning())
    sizes = sorted(draw(st.sets(st.integers(5, BATCH - 1), min_size=1, max_size=3)))
    until = sorted(draw(st.sets(st.integers(1, 2000), min_size=len(sizes), max_size=len(sizes))))
    stages = [{"global_batch": size, "until_samples": end} for size, end in zip(sizes, until, strict=True)]
    return replace(stated, ramp=tuple(zip(until, sizes, strict=True))), {**said, "model.batch_ramp": stages}


@st.composite
def _mixed(draw):
    """Two or three corpora: position by position, also of growing batches, or a share of every batch."""
    stated, said = draw(st.one_of(_spanning(), _growing(), _by_parts(_BY_PARTS)))
    number, order = draw(st.integers(2, 3)), said["data"]["order"]
    singly = stated.last_batch == "span"
    weights = draw(st.lists(st.integers(1, 9 if singly else 2), min_size=number, max_size=number))
    corpora = [
        {
            "name": f"corpus {k}",
            "samples": draw(st.integers(1 if singly else 2 * BATCH, 8 * BATCH)),
            "shards": 1 if singly else 20,
            "weight": weight,
        }
        for k, weight in enumerate(weights)
    ]
    batch = BATCH if singly else BATCH * sum(weights)
    return stated, {
        **said,
        "run": draw(st.sampled_from(_ENDS)),
        "data": {"corpora": corpora, "order": order},
        "model.global_batch": batch,
    }


@st.composite
def _poisoned(draw):
    """Samples that kill, where it is known at which step each is read."""
    stated, said = draw(_spanning(poisoned=True))
    least = said["data"].get("samples", 200)
    together = draw(st.sampled_from([1, 1, 2]))
    acts = ["skip-batch", "quarantine"] + ["bisect"] * (together == 1)
    poison = {
        "samples": sorted(draw(st.sets(st.integers(0, least - 1), min_size=1, max_size=4 * together))),
        "together": together,
        "retries": draw(st.integers(0, 2)),
        "act": draw(st.sampled_from(acts)),
    }
    return stated, {**said, "poison": poison}


_READ = {
    "by parts": _by_parts(_BY_PARTS),
    "drawing": _by_parts(_DRAWING),
    "spanning": _spanning(),
    "growing": _growing(),
    "mixed": _mixed(),
    "poisoned": _poisoned(),
}
_STORED = {"storage": {"preset": "nvme"}, "data.bytes_per_sample": "3 kB"}


@st.composite
def data_worlds(draw):
    """A scenario of any weather whose loader the literal one knows, on a store of its own now and then."""
    stated, said = draw(_READ[draw(st.sampled_from(list(_READ)))])
    keys = loader_keys(stated, EPOCHS)
    if stated.last_batch == "span":
        keys["saves"] = stated.saves  # as they are, steps of the run
    stored = draw(st.sampled_from([{}, {}, {}, _STORED]))
    said = {"model.global_batch": BATCH, "model.sequence_length": 64, **said, "loader": keys, **stored}
    said["run"] = {**said["run"], "seed": draw(st.integers(0, 2**40)), "account": "interval"}
    try:
        return DataWorld(load_scenario(draw(scenarios()), said), stated)
    except ScenarioError:  # what the loader's parts ask of the rest
        assume(False)
