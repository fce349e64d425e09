"""What packers lose at restarts: its law against packers that are cut anywhere, and its account in a run."""

import numpy as np
import pytest

from clustersim import load_scenario, simulate
from clustersim.data.carries import GivenDocuments, carry_law, lose_carries
from clustersim.data.packing import carry_after, held_between, lengths_of, mean_carry, pack, seen_with_restarts
from clustersim.scenario import ScenarioError
from clustersim.scenario.packing import count_whole, whole_per_document
from clustersim.streams import Hashed

JOB = {
    "run": {"steps": 40},
    "model": {"global_batch": 16, "sequence_length": 2048, "step_time": "1 s"},
    "cluster": {"nodes": 4, "gpus_per_node": 1},
    "failures": [{"cause": "crash", "at_steps": [13, 14, 27]}],
    "checkpoint": {"every": "5 steps"},
    "data": {
        "documents": 100_000,
        "tokens_per_document": 700,
        "packing": "concat",
        "document_sigma": 1.0,
        "shards": 64,
        "order": "shard-shuffle",
    },
    "loader": {
        "partition": "shards",
        "readers_per_rank": 2,
        "saves": "samples",
        "comes_back": "exact",
        "carry": "lost",
    },
}


def drawn(law, count):
    stream, each = Hashed(0, 0, "test"), np.arange(count)
    return law.draw(stream.uniforms(each, 0), stream.uniforms(each, 1))


def data_of(**changes):
    return load_scenario({**JOB, "data": {**JOB["data"], **changes}}).data


@pytest.mark.parametrize("sigma", [None, 0.5, 1.2])
def test_what_a_cut_leaves_of_a_document_is_as_a_packer_leaves_it(sigma):
    """Mean and spread of 40,000 draws against a packer that is cut after each of many samples."""
    lengths = lengths_of(700, sigma or 0, 60_000, 1, 0)
    carries = np.array([carry_after(lengths[:20_000], 2048 + 1, sample).tokens for sample in range(1, 6000, 6)])
    tokens, whole = drawn(carry_law(data_of(document_sigma=sigma), 2048, 0, 0), 40_000)
    assert not whole.any()
    assert abs(tokens.mean() - mean_carry(lengths)) < 4 * tokens.std() / 200 + 0.02 * mean_carry(lengths)
    assert abs(tokens.mean() - carries.mean()) < 4 * carries.std() / np.sqrt(len(carries))
    quantiles = (0.1, 0.25, 0.5, 0.75, 0.9)
    for share, mark in zip(quantiles, np.quantile(carries, quantiles), strict=True):
        assert abs((tokens <= mark).mean() - share) < 4 * np.sqrt(share * (1 - share) / len(carries))


def test_given_lengths_are_cut_in_proportion_to_them():
    lengths = [1, 9, 90, 900]
    tokens, _ = drawn(GivenDocuments(np.array(lengths)), 50_000)
    every = [left for length in lengths for left in range(length)]  # each token of the corpus may be the last one out
    assert tokens.max() < 900
    assert abs(tokens.mean() - np.mean(every)) < 4 * np.std(every) / np.sqrt(50_000)
    assert abs((tokens < 90).mean() - np.mean(np.array(every) < 90)) < 4 * 0.4 / np.sqrt(50_000)


def literally_held(lengths, sequence):
    """After each sample but the last: tokens of the document that did not fit, and whether all of it is held."""
    held, room = [], sequence
    for length in lengths:
        left = length
        while left:
            piece = min(left, sequence)
            if piece > room:
                if room:  # a full sample went out before this document was pulled
                    held.append((left, left == length))
                room = sequence
            room -= piece
            left -= piece
            if room == 0:
                held.append((left, False))
    return held


@pytest.mark.parametrize("sequence", [7, 16, 100])
def test_what_is_held_of_documents_that_are_packed_whole(sequence):
    lengths = lengths_of(12, 1.0, 200, 2, 0)
    packed = pack(lengths, sequence, "whole")
    held = held_between(packed, sequence)
    expected = literally_held(lengths.tolist(), sequence)
    assert list(zip(held.tokens.tolist(), held.whole.tolist(), strict=True)) == expected[: packed.samples - 1]
    for samples in range(1, packed.samples):
        assert carry_after(lengths, sequence, samples, "whole").tokens == expected[samples - 1][0]


def test_a_run_loses_a_carry_of_each_packer_at_each_restart_of_the_lineage():
    """Crashes in steps 13 and 14 come back to step 10, once in the lineage; that in step 27 to step 25."""
    run = simulate(load_scenario(JOB))
    assert run.carries[["step", "packers"]].to_numpy().tolist() == [[10, 8], [25, 8]]
    figures = run.summary()
    lost = int(run.carries["lost_tokens"].sum())
    assert figures["carry_tokens_lost"] == figures["missing_tokens"] == figures["extra_tokens"] == lost > 0
    assert figures["missing_documents"] == lost / 700
    assert (figures["documents_never_seen"], figures["documents_seen_in_part"]) == (0, 16)
    assert figures["missing_views"] == figures["extra_views"] == 0
    assert figures["identical_steps_share"] == 10 / 40


def test_a_leg_that_leaves_nothing_leaves_no_cut_and_none_is_at_the_start():
    """The first crash comes before any checkpoint, and the rewind behind the second takes its cut out again."""
    failures = [{"cause": "crash", "at_steps": [3, 22]}]
    scenario = load_scenario({**JOB, "failures": failures, "rewinds": [{"at_step": 30, "back": 15}]})
    run = simulate(scenario)
    assert [leg.start for leg in run.history.legs] == [0, 0, 20, 15]
    assert run.carries["step"].tolist() == [15]
    assert len(simulate(load_scenario({**JOB, "loader": {**JOB["loader"], "carry": "saved"}})).carries) == 0


def test_the_mean_over_replications_is_the_closed_form():
    scenario = load_scenario(JOB)
    lost = np.array([simulate(scenario, replication).lost_carries.tokens.sum() for replication in range(100)])
    expected = 16 * mean_carry(lengths_of(700, 1.0, 400_000, 0, 0))
    assert abs(lost.mean() - expected) < 4 * lost.std() / 10
    again = simulate(scenario, 17)
    assert again.lost_carries.tokens.sum() == lost[17]


def test_a_restart_costs_its_packers_not_the_documents():
    """20 T documents, and 100 restarts of 16,384 packers."""
    law = carry_law(data_of(documents="20 T"), 2048, 0, 0)
    lost = lose_carries(law, [(step, 16_384) for step in range(1, 101)], 0, 0)
    each = lost.tokens / 16_384
    assert abs(each.mean() - mean_carry(lengths_of(700, 1.0, 400_000, 0, 0))) < 4 * each.std() / 10 + 5


@pytest.mark.parametrize("packing", ["concat", "whole"])
def test_documents_of_given_lengths_are_seen_as_their_samples_are(packing):
    """A loader that does not rewind misses samples: each document's tokens are followed into them."""
    lengths = lengths_of(100, 1.0, 300, 3, 0).tolist()
    parts = {
        **JOB,
        "run": {"epochs": 1},
        "model": {"global_batch": 4, "sequence_length": 256, "step_time": "1 s"},
        "data": {"document_lengths": lengths, "packing": packing},
        "loader": {"preset": "no-rewind"},
    }
    run = simulate(load_scenario(parts))
    packed = pack(np.array(lengths), 256, packing)
    assert run.scenario.sizes.samples == packed.samples
    wanted, got = np.zeros(300, int), np.zeros(300, int)
    for sample, document, tokens in zip(*(column.tolist() for column in packed), strict=True):
        planned = run.counts.planned[sample] > 0
        wanted[document] += tokens * planned
        got[document] += tokens * (planned and run.counts.seen[sample] > 0)
    figures = run.summary()
    assert figures["documents_never_seen"] == ((got == 0) & (wanted > 0)).sum() > 0
    assert figures["documents_seen_in_part"] == ((got > 0) & (got < wanted)).sum() > 0


def test_as_many_samples_as_documents_make():
    for seed, sequence in ((0, 5), (1, 16), (2, 100)):
        some = lengths_of(20, 1.0, 300, seed, 0)
        assert count_whole(some.tolist(), sequence) == pack(some, sequence, "whole").samples
    assert count_whole([10**17], 1000) == 10**14
    lengths = lengths_of(700, 1.0, 200_000, 5, 0)
    expected = pack(lengths, 2048, "whole").samples / 200_000
    assert whole_per_document(700, 1.0, 2048) == pytest.approx(expected, rel=0.03)
    sizes = load_scenario({**JOB, "data": {**JOB["data"], "packing": "whole"}}).sizes
    assert sizes.samples == pytest.approx(100_000 * expected, rel=0.03)
    assert sizes.tokens_per_sample * sizes.samples == pytest.approx(70_000_000)
    assert sizes.documents_per_sample * sizes.samples == pytest.approx(100_000)
    assert seen_with_restarts(np.array([9, 2]), 5, [1], carry_saved=False, how="whole").tokens_missing == 4


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"data.packing": "none"}, 'data.packing: expected "concat" or "whole" beside loader.carry = "lost"'),
        ({"run": {"epochs": 1}}, "run.epochs: expected steps, samples, tokens or wall_time with loader.carry"),
        ({"loader.comes_back": "reapply"}, 'loader.carry: expected comes_back = "exact" beside "lost"'),
        ({"data.document_sigma": 3.5}, "data.document_sigma: expected a number of at most 3, found 3.5"),
        ({"data.document_lengths": [7, 0]}, r"data.document_lengths.1: expected a whole number, at least 1, found 0"),
        (
            {"data.document_lengths": [7, 9]},
            "expected exactly one of documents, document_lengths, samples, windows and corpora",
        ),
        (
            {"data.documents": None, "data.document_lengths": [7, 9]},
            "data.tokens_per_document: expected either tokens_per_document or document_lengths, found both",
        ),
        (
            {"data": {"document_lengths": [], "packing": "concat"}},
            "data.document_lengths: expected 1 to 100000 lengths, found 0",
        ),
        (
            {"data.packing": "whole", "data.tokens_per_document": 33_000},
            'expected a mean of at most 16 samples of 2048 tokens with packing = "whole", found 33000',
        ),
        ({"data.tokens_per_document": 1.1e7}, r"tokens_per_document: expected a mean of at most 1e\+07 tokens"),
        (
            {"data": {"document_lengths": [7, 10**10]}},
            "document_lengths.1: expected at most 1e9 tokens, found 10000000000",
        ),
        (
            {"data": {"document_lengths": [10**9] * 30, "packing": "concat"}, "loader": {"preset": "restore"}},
            "data.document_lengths: expected lengths that make at most 10000000 samples",
        ),
        (
            {"loader.partition": "strided", "loader.readers_per_rank": "1 M", "data.documents": "1 T"},
            "loader.readers_per_rank: expected at most 250000, as each worker of 4 ranks packs, found 1000000",
        ),
        ({"data.tokens_per_document": None}, "tokens_per_document: expected .* beside document_sigma, found nothing"),
    ],
)
def test_what_is_wrong_is_one_line(changes, told):
    with pytest.raises(ScenarioError, match=told) as error:
        load_scenario(load_scenario(JOB), changes)
    assert "\n" not in str(error.value)


def test_documents_that_samples_leave_in_part_have_their_mean():
    """A loader that reshuffles misses any samples alike: what that takes of documents, over 12 corpora of the law."""
    parts = {
        **JOB,
        "run": {"steps": 90},
        "model": {"global_batch": 20, "sequence_length": 1000, "step_time": "1 s"},
        "failures": [{"cause": "crash", "at_steps": [31, 77]}],
        "loader": {"preset": "reshuffle"},
    }
    law = {"documents": 4000, "tokens_per_document": 500, "document_sigma": 1.0, "packing": "concat"}
    by_law = np.array([simulate(load_scenario({**parts, "data": law}), number).documents for number in range(40)])
    counted = []
    for corpus in range(12):
        given = {"document_lengths": lengths_of(500, 1.0, 4000, corpus, 0).tolist(), "packing": "concat"}
        scenario = load_scenario({**parts, "data": given})
        counted.append(np.mean([simulate(scenario, number).documents for number in range(4)], axis=0))
    spread = np.sqrt(np.var(counted, axis=0) / 12 + by_law.var(axis=0) / 40)
    assert (spread < 0.01 * by_law.mean(axis=0)).all()
    assert (np.abs(np.mean(counted, axis=0) - by_law.mean(axis=0)) < 4 * spread).all()


def test_of_a_sound_run_no_document_is_missed():
    changes = {"data.order": "shuffle", "loader": {"preset": "restore"}}
    assert tuple(simulate(load_scenario(load_scenario(JOB), changes)).documents) == pytest.approx((0, 0), abs=1e-6)
    assert simulate(load_scenario(load_scenario(JOB), {**changes, "data.document_sigma": None})).documents is None
