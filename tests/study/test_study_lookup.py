"""Samples and documents looked up in a run."""

import pytest

from clustersim import load_scenario, simulate
from clustersim.study.lookup import samples_of, story_of

PACKED = {
    "data.documents": 1000,
    "data.tokens_per_document": 700.5,
    "data.shards": 1,
    "run.wall_time": "1 h",
    "model.global_batch": 16,
}


@pytest.mark.parametrize("preset", ["restore", "epoch", "reshuffle"])
def test_stories_agree_with_the_count_of_every_sample(preset):
    run = simulate(load_scenario("workshop", {"loader.preset": preset}))
    stories = [story_of(run, sample) for sample in range(240)]
    assert [story.planned for story in stories] == run.counts.planned.tolist()
    assert [story.seen for story in stories] == run.counts.seen.tolist()


def test_documents_end_to_end_cover_the_samples_that_their_tokens_lie_in():
    scenario = load_scenario("small", PACKED)
    samples, tokens = scenario.sizes.samples, 8192
    for document in range(990):
        first, last = document * 700.5, (document + 1) * 700.5
        expected = [sample for sample in range(samples) if sample * tokens < last and (sample + 1) * tokens > first]
        assert list(samples_of(scenario, document)) == expected


def test_a_document_in_the_dropped_tail_is_in_no_sample():
    scenario = load_scenario("small", PACKED)
    assert scenario.sizes.samples * 8192 < 999 * 700.5
    with pytest.raises(ValueError, match="document 999 lies in the partial sample at the end, which is dropped"):
        samples_of(scenario, 999)


@pytest.mark.parametrize("packing", ["concat", "whole"])
def test_documents_of_given_lengths_lie_where_they_are_packed(packing):
    lengths = [9, 2, 30, 1, 1, 8, 3]
    changes = {"data": {"document_lengths": lengths, "packing": packing}, "model.sequence_length": 10}
    scenario = load_scenario("workshop", {**changes, "model.global_batch": 4, "model.step_time": "1 s"})
    expected = {
        "concat": [{0}, {0, 1}, {1, 2, 3, 4}, {4}, {4}, {4}],
        "whole": [{0}, {1}, {2, 3, 4}, {5}, {5}, {5}, {6}],
    }[packing]
    if packing == "concat":
        with pytest.raises(ValueError, match="document 6 lies in the partial sample at the end"):
            samples_of(scenario, 6)
    assert [set(samples_of(scenario, document)) for document in range(len(expected))] == expected


def test_of_documents_that_are_packed_whole_nobody_knows_the_sample():
    with pytest.raises(ValueError, match=r"known from data\.document_lengths alone"):
        samples_of(load_scenario("small", {"data.packing": "whole"}), 3)


def test_unpacked_documents_are_samples():
    assert samples_of(load_scenario("workshop"), 239) == range(239, 240)


def test_documents_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="no document 240: they are numbered 0 to 239"):
        samples_of(load_scenario("workshop"), 240)
    with pytest.raises(ValueError, match="counts samples, not documents"):
        samples_of(load_scenario("workshop", {"data.documents": None, "data.samples": 240}), 0)
