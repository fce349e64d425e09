"""Packing by tokens: an obvious packer beside it, published cases, and what a lost carry costs."""

import numpy as np
import pytest

from clustersim.data.packing import (
    carry_after,
    lengths_of,
    mean_carry,
    pack,
    padding_share,
    read_again_by_row_count,
    seen_of,
    seen_with_restarts,
)


def literal(lengths, sequence, how):
    """Samples as lists of (document, token), one token at a time."""
    samples, now = [], []
    for document, length in enumerate(lengths):
        tokens = [(document, token) for token in range(length)]
        while tokens:
            room = sequence - len(now)
            if how == "whole" and now and min(len(tokens), sequence) > room:
                samples.append(now)
                now = []
                continue
            now += tokens[:room]
            tokens = tokens[room:]
            if len(now) == sequence:
                samples.append(now)
                now = []
    return [*samples, now] if how == "whole" and now else samples


@pytest.mark.parametrize("how", ["concat", "whole"])
@pytest.mark.parametrize("sequence", [1, 5, 16, 100])
def test_it_packs_as_a_packer_that_goes_token_by_token(how, sequence):
    lengths = lengths_of(12, 1.0, 60, 0, 0)
    packed = pack(lengths, sequence, how)
    expected = literal(lengths.tolist(), sequence, how)
    assert packed.samples == len(expected)
    for number, sample in enumerate(expected):
        documents, tokens = np.unique([document for document, _ in sample], return_counts=True)
        inside = packed.sample == number
        whole = np.bincount(packed.document[inside], packed.tokens[inside])
        np.testing.assert_array_equal(np.flatnonzero(whole), documents)
        np.testing.assert_array_equal(whole[documents], tokens)
    if how == "concat":
        assert packed.samples == lengths.sum() // sequence
        assert padding_share(packed, sequence) == 0
    else:
        assert padding_share(packed, sequence) == pytest.approx(1 - lengths.sum() / (packed.samples * sequence))


@pytest.mark.parametrize("how", ["concat", "whole"])
def test_the_carry_is_what_was_pulled_and_has_not_gone_out(how):
    lengths = lengths_of(9, 1.0, 80, 1, 0)
    samples = literal(lengths.tolist(), 16, how)
    for number in range(1, len(samples)):
        out = sum(len(sample) for sample in samples[:number])
        carry = carry_after(lengths, 16, number, how)
        pulled = int(lengths[: carry.pulled].sum())
        assert pulled - out == carry.tokens
        if carry.tokens:
            assert carry.document == carry.pulled - 1
        if how == "concat":
            assert pulled - int(lengths[carry.pulled - 1]) < out
    assert carry_after(lengths, 16, 0, how).tokens == 0


def test_case_12_by_tokens_the_document_in_flight_is_trained_in_part():
    """lancedb/lancedb#3920: documents of 9 and 2 tokens (with a separator each), blocks of 5.

    After the first block the packer holds 15, 16, 17, 9 of the third document: four tokens that a restart loses.
    """
    lengths = np.array([9, 2])
    assert carry_after(lengths, 5, 1) == (0, 4, 1)
    lost = seen_with_restarts(lengths, 5, [1], carry_saved=False, how="whole")
    kept = seen_with_restarts(lengths, 5, [1], carry_saved=True, how="whole")
    assert (kept.tokens_missing, kept.documents_partly, kept.documents_never) == (0, 0, 0)
    assert (lost.tokens_missing, lost.documents_partly, lost.documents_never) == (4, 1, 0)
    assert lost.tokens.tolist() == [5, 2]


def test_case_12_by_documents_one_for_each_worker_and_restart():
    """9 restarts of 64 ranks of 8 workers: at most 4,608 documents, where a sample is a document that did not fit."""
    lengths = np.full(100, 7)
    lost = seen_with_restarts(lengths, 10, list(range(10, 100, 10)), carry_saved=False, how="whole")
    assert lost.documents_never == 9
    assert lost.documents_partly == 0
    assert lost.tokens_missing == 9 * 7
    assert 64 * 8 * lost.documents_never == 4608


def test_case_13_rows_taken_for_documents_read_6400_again():
    """Five documents a row, 16 rows a step, 100 steps: 8,000 documents are read, and 1,600 passed over."""
    lengths = np.full(10_000, 100)
    assert read_again_by_row_count(lengths, 500, 1600) == 8000 - 1600 == 6400
    assert read_again_by_row_count(np.full(2000, 100), 100, 1600) == 0


def test_a_lost_carry_is_a_length_biased_rest_of_a_document():
    lengths = lengths_of(700, 1.2, 20_000, 2, 0)
    ends = np.cumsum(lengths)
    rests = np.array([ends[np.searchsorted(ends, cut)] - cut for cut in range(1, int(ends[-1]) + 1, 97)])
    assert rests.mean() == pytest.approx(mean_carry(lengths), rel=0.01)
    carries = np.array([carry_after(lengths, 2048, number).tokens for number in range(1, 6000, 7)])
    assert abs(carries.mean() - mean_carry(lengths)) < 4 * carries.std() / np.sqrt(len(carries))
    assert mean_carry(np.full(10, 9)) == 4  # 0 to 8 tokens are left alike


def test_saved_and_lost_carries_in_three_units():
    lengths = lengths_of(50, 1.0, 400, 3, 0)
    restarts = [20, 40, 41, 90]
    saved, lost = (seen_with_restarts(lengths, 128, restarts, carry_saved=each) for each in (True, False))
    whole = pack(lengths, 128)
    assert (saved.samples, saved.tokens.sum()) == (whole.samples, whole.samples * 128)
    assert saved.documents_partly + saved.documents_never <= 3  # the tail that fills no sample
    assert lost.samples * 128 == lost.tokens.sum()
    assert lost.tokens_missing > saved.tokens_missing
    assert 1 <= lost.documents_partly <= len(restarts) + 1


def test_views_of_samples_become_tokens_of_documents():
    lengths = np.array([3, 4, 5])
    packed = pack(lengths, 4)
    seen = seen_of(packed, lengths, np.array([2, 1, 0]))
    assert seen.tokens.tolist() == [6, 5, 1]
    assert (seen.samples, seen.documents_never, seen.documents_partly, seen.tokens_missing) == (3, 0, 1, 4)


def test_lengths_have_their_mean_and_belong_to_their_document():
    lengths = lengths_of(700, 1.0, 50_000, 4, 0)
    assert abs(lengths.mean() - 700) < 4 * lengths.std() / np.sqrt(len(lengths))
    np.testing.assert_array_equal(lengths[:100], lengths_of(700, 1.0, 100, 4, 0))
    assert set(lengths_of(7.4, 0, 5, 0, 0).tolist()) == {7}
    assert lengths_of(0.01, 2.0, 100, 0, 0).min() == 1


def test_more_samples_than_there_are_is_refused():
    for how in ("concat", "whole"):
        with pytest.raises(ValueError, match="the documents make 2 samples, not 3"):
            carry_after(np.array([8, 2]), 5, 3, how)
