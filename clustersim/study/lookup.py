"""One sample in one run: how often it was planned and seen, and by which steps it was read."""

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clustersim.data.packing import pack
from clustersim.run import Run
from clustersim.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd


class SampleStory(NamedTuple):
    """A sample's views, and all of its reads as `Run.sample` lists them."""

    sample: int
    planned: int
    seen: int
    reads: "pd.DataFrame"


def story_of(run: Run, sample: int) -> SampleStory:
    """The story of a sample.

    Raises:
        ValueError: there is no such sample, or it was read too often to be listed.
    """
    reads = run.sample(sample)
    planned = run.corpus_of(sample).planned_views(sample)
    return SampleStory(sample, planned, int((reads["fate"] == "kept").sum()), reads)


def samples_of(scenario: Scenario, document: int) -> range:
    """The samples that hold a document.

    Where documents are packed, and their lengths are not given, they are taken as all of the mean length: document d is
    tokens [d t, (d + 1) t).

    Raises:
        ValueError: there is no such document, it lies in the partial sample at the end, which is dropped, or it is
            packed whole, and its length is not given.
    """
    data, samples, documents = scenario.data, scenario.sizes.samples, scenario.data.count_documents
    if documents is None:
        raise ValueError("the scenario counts samples, not documents")
    if not 0 <= document < documents:
        raise ValueError(f"no document {document}: they are numbered 0 to {documents - 1}")
    if data.packing == "none":
        return range(document, document + 1)
    sequence = scenario.model.sequence_length or 1
    if data.document_lengths is not None:
        packed = pack(np.array(data.document_lengths, dtype=np.int64), sequence, data.packing)
        inside = packed.sample[packed.document == document].tolist()
        found = range(inside[0], inside[-1] + 1) if inside else range(0)
    elif data.packing == "whole":
        raise ValueError("the samples of documents that are packed whole are known from data.document_lengths alone")
    else:
        per_sample = Fraction(repr(data.tokens_per_document)) / sequence
        found = range(math.floor(document * per_sample), min(samples, math.ceil((document + 1) * per_sample)))
    if not found:
        raise ValueError(f"document {document} lies in the partial sample at the end, which is dropped")
    return found
