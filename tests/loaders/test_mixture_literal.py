"""Batches that grow and corpora that are mixed, against a literal loader over random crash histories."""

from collections import Counter

import literal
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from literal.compositions import EPOCHS, compositions
from literal.compositions import RANKS as READERS
from literal.engine import live, shards_of, steps_of
from literal.lives import lives

from clustersim.data.corpus import Corpus
from clustersim.data.orders import order_of
from clustersim.data.skips import Skips
from clustersim.history import Refused
from clustersim.loaders.accounts import reads_of
from clustersim.loaders.mixture import SingleLoader, shares_of
from clustersim.loaders.parts import Parts
from clustersim.scenario.batches import Batches
from clustersim.scenario.blend import Blend

RANKS = [1, 2, 3]
# What a loader with one position of all ranks may be composed of.
TO_A_POSITION = [("samples", "exact", "epoch"), ("samples", "reshuffle", "epoch"), ("samples", "reshuffle", "for-good")]
TO_AN_EPOCH = [(saves, back, "epoch") for saves in ("samples", "epoch") for back in ("restart-epoch", "next-epoch")]
COMPOSITIONS = [
    *(Parts(*way, edge) for way in TO_A_POSITION for edge in ("new", "old", "finished")),
    *(Parts(*way, edge) for way in TO_AN_EPOCH for edge in ("new", "old")),
    *(Parts(*way, on_layout_change="refuse") for way in (*TO_A_POSITION, *TO_AN_EPOCH)),
    *(Parts("nothing", comes_back) for comes_back in ("restart-run", "continue", "refuse")),
    Parts("samples", "exact", order_epoch="first"),
    *(Parts("steps", "exact", on_layout_change=change) for change in ("reshard", "refuse")),
    *(
        Parts("samples", "exact", epoch_edge=edge, state_ahead=ahead)
        for edge in ("new", "old")
        for ahead in (-3, -1, 2)
    ),
    *(Parts("epoch", "restart-epoch", state_ahead=ahead) for ahead in (-2, 1)),
]


@st.composite
def ramps(draw):
    """A full batch of at least as many samples as ranks, and stages of smaller ones: (until, batch)."""
    sizes = sorted(draw(st.sets(st.integers(max(RANKS), 12), min_size=1, max_size=4)))
    until = sorted(draw(st.sets(st.integers(1, 150), min_size=len(sizes) - 1, max_size=len(sizes) - 1)))
    return Batches(sizes[-1], tuple(zip(until, sizes, strict=False)))


@st.composite
def mixtures(draw):
    """(samples, kind of order, weight) of one to four corpora."""
    corpus = st.tuples(
        st.integers(1, 60),
        st.sampled_from(["shuffle", "shuffle-once", "shard-shuffle", "sequential"]),
        st.integers(1, 9),
    )
    return draw(st.one_of(st.just([(40, "shuffle", 1)]), st.lists(corpus, min_size=1, max_size=4)))


@st.composite
def skips(draw):
    """Runs [from, to) of positions that no step reads, rising and apart; often none."""
    cuts = sorted(draw(st.one_of(st.just(set()), st.sets(st.integers(0, 200), max_size=6))))
    return list(zip(cuts[::2], cuts[1::2], strict=False))


# For each of at most four corpora the epochs after which it ends the run.
ENDS = st.one_of(st.just([None] * 4), st.lists(st.none() | st.integers(1, 8), min_size=4, max_size=4))


@settings(max_examples=600, deadline=None, derandomize=True)
@given(st.sampled_from(COMPOSITIONS), mixtures(), ramps(), lives(RANKS), ENDS, skips())
def test_the_model_is_made_of_the_same_batches(parts, mixture, batches, rows, ends, skipped):
    assume(parts.comes_back != "reshuffle" or all(kind != "sequential" for _, kind, _ in mixture))
    orders = [order_of(kind, Corpus(size, min(size, 5)), seed, 0) for seed, (size, kind, _) in enumerate(mixture)]
    weights = [weight for *_, weight in mixture]
    ends = ends[: len(mixture)] if len(mixture) > 1 else [None]
    loader = SingleLoader(orders, parts, Blend(weights), batches, ends, Skips(skipped))
    reads, lived, refused = live(loader, rows)

    passed_over = tuple(position for run in skipped for position in range(*run))
    stated = literal.Parts(
        last_batch="span",
        saves=parts.saves,
        comes_back=parts.comes_back,
        reshuffle_lasts=parts.reshuffle_lasts,
        epoch_edge=parts.epoch_edge,
        order_epoch=parts.order_epoch,
        state_ahead=parts.state_ahead,
        on_layout_change={"reshard": "keep-local"}.get(parts.on_layout_change, parts.on_layout_change),
        ramp=batches.ramp,
        skip=passed_over,
    )
    corpora = [literal.Corpus(order.size, order=shards_of(order, order.size)) for order in orders]
    # A ramp over one corpus needs no turns: the plain literal loader knows it.
    asked = corpora[0] if len(corpora) == 1 else literal.Mixed(tuple(corpora), tuple(weights), tuple(ends))

    def number(sample):
        return sample if len(corpora) == 1 else int(loader.firsts[sample[0]]) + sample[1]

    def play(stated, rows):
        line = literal.run(stated, asked, [literal.Attempt(*row) for row in rows], batches.full, 0, 0)
        return line.refused, [[number(sample) for _, sample in step] for step in line.steps]

    # As long as they may last: where a corpus ends the run, both have to find it.
    why, model = play(stated, rows[: len(lived) + bool(refused)])
    assert (why is not None) == bool(refused)
    if refused:
        return
    assert steps_of(loader, reads, lived) == model
    assert [len(step) for step in model] == np.diff([batches.before(k) for k in range(len(model) + 1)]).tolist()

    sound = play(
        literal.Parts(last_batch="span", ramp=batches.ramp, skip=passed_over), [(1, 0, len(model), len(model))]
    )[1]
    left = loader.steps_left(loader.start(1), 0)
    assert len(sound) == (len(model) if left is None else min(left, len(model)))
    accounts = reads_of(loader, reads, rows[0][0], len(sound), batches, (0, 0), [str(k) for k in range(len(orders))])
    for side, steps in (("seen", model), ("planned", sound)):
        views = Counter(sample for step in steps for sample in step)
        counted = [getattr(each.counts, side) for each in accounts]
        np.testing.assert_array_equal(np.concatenate(counted), [views[x] for x in range(loader.firsts[-1])])
        read = [each.numbered(getattr(each, f"{side}_draws")) for each in accounts]
        by_step = sorted(zip(*(np.concatenate(column).tolist() for column in zip(*read, strict=True)), strict=True))
        assert by_step == sorted((step, sample) for step, batch in enumerate(steps) for sample in batch)

    as_planned = sum(sorted(a) == sorted(b) for a, b in zip(model, sound, strict=False))
    by_position = loader.steps_as_planned(reads.kept, len(sound))
    assert by_position <= as_planned
    as_saved = (parts.saves == "samples" or not batches.ramp) and not parts.state_ahead
    if parts.comes_back == "exact" and parts.epoch_edge != "finished" and parts.order_epoch == "own" and as_saved:
        assert by_position == as_planned == len(model)


@st.composite
def lives_of_readers(draw):
    """As `lives`, on ranks that divide the batches."""
    first, *others = draw(lives(RANKS))
    ranks = st.sampled_from(READERS)
    return [(draw(ranks), *life[1:]) for life in (first, *others)]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.sampled_from(compositions(400)),
    st.lists(
        st.tuples(
            st.sampled_from(["shuffle", "sequential", "shard-shuffle"]), st.integers(24, 150), st.integers(1, 25),
            st.sampled_from([1, 2]),
        ),
        min_size=2, max_size=3,
    ),
    lives_of_readers(), ENDS,
)  # fmt: skip
def test_loaders_that_count_batches_deliver_their_share_of_each(made, mixture, rows, ends):
    stated, parts = made
    ends = ends[: len(mixture)] if stated.passes == "epoch" else [None] * len(mixture)
    by_shard, readers = "shards" in parts.partition, max(ranks for ranks, *_ in rows) * stated.workers
    # Their samples have to divide as their corpus is cut, which corpora of any size do not.
    assume(parts.partition != "queue" and not parts.canonical)
    assume(not by_shard or all(kind != "shuffle" and shards >= readers for kind, _, shards, _ in mixture))
    orders = [order_of(kind, Corpus(size, shards), seed, 0) for seed, (kind, size, shards, _) in enumerate(mixture)]
    weights = [weight for *_, weight in mixture]
    loader = shares_of(orders, parts, [12 * weight for weight in weights], ends, rows[0][0])
    reads, lived, refused = live(loader, rows)

    corpora = tuple(literal.Corpus(order.size, order=shards_of(order, order.size)) for order in orders)
    asked, batch = literal.Mixed(corpora, tuple(weights), tuple(ends)), 12 * sum(weights)

    def play(rows):
        line = literal.run(stated, asked, [literal.Attempt(*row) for row in rows], batch, EPOCHS, 0)
        return line.refused, [[int(loader.firsts[k]) + x for _, (k, x) in step] for step in line.steps]

    why, model = play(rows[: len(lived) + bool(refused)] if any(ends) else lived + rows[len(lived) :][: bool(refused)])
    assert (why is not None) == bool(refused)
    if refused:
        return
    assert list(map(sorted, steps_of(loader, reads, lived))) == list(map(sorted, model))
    sound = play([(rows[0][0], 0, len(model), len(model))])[1]
    accounts = reads_of(loader, reads, rows[0][0], len(sound), Batches(batch), (0, 0), [str(k) for k in weights])
    views = Counter(sample for step in model for sample in step)
    seen = np.concatenate([each.counts.seen for each in accounts])
    np.testing.assert_array_equal(seen, [views[x] for x in range(loader.firsts[-1])])

    as_planned = sum(sorted(a) == sorted(b) for a, b in zip(model, sound, strict=False))
    assert loader.steps_as_planned(reads.kept, len(sound)) <= as_planned


@pytest.mark.parametrize(
    ("weights", "positions"), [((1,), 5), ((3, 1), 20), ((67, 15, 9, 5, 4), 350), ((50, 7, 7), 200)]
)
def test_every_prefix_of_a_blend_holds_each_corpus_to_within_one_of_its_share(weights, positions):
    blend, prefixes = Blend(weights), np.arange(positions)
    counts = np.array([blend.before(corpus, prefixes) for corpus in range(len(weights))])
    np.testing.assert_array_equal(counts.sum(axis=0), prefixes)
    for corpus, weight in enumerate(weights):
        exact = prefixes * weight
        assert (counts[corpus] >= exact // sum(weights)).all()
        assert (counts[corpus] <= -(-exact // sum(weights))).all()
        own = np.flatnonzero(blend.corpus_at(prefixes) == corpus)
        np.testing.assert_array_equal(blend.position_of(corpus, np.arange(len(own))), own)


@given(ramps(), st.integers(0, 300))
def test_a_count_of_samples_and_its_inverse(batches, samples):
    before = np.array([batches.before(step) for step in range(samples + 2)])
    np.testing.assert_array_equal(batches.before_all(np.arange(samples + 2)), before)
    assert batches.step_of(np.array([samples]))[0] == np.searchsorted(before, samples, side="right") - 1
    assert batches.within(samples) == np.flatnonzero(before <= samples)[-1]
    if samples:
        assert batches.reaching(samples) == np.flatnonzero(before >= samples)[0]


def test_a_loader_that_ends_by_epochs_ends_with_the_last_whole_batch_of_today():
    order = order_of("shuffle", Corpus(100, 1), 0, 0)
    loader = SingleLoader([order], Parts("samples", "exact"), Blend([1]), Batches(30, ((50, 20),)), [2])
    # 20 + 20 + 20 and 4 times 30 of 200; from step 3 on, at sample 60, the same.
    assert loader.steps_left(loader.start(2), 0) == 7
    at = loader.advance(loader.start(2), 0, 3).position
    assert loader.steps_left(at, 3) == 4
    # It went back to the epoch's start: of 200 samples 6 batches of 30.
    assert loader.steps_left(loader.start(2), 3) == 6
    assert not isinstance(loader.resume(loader.save(at), at, 3, 1), Refused)
