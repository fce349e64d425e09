"""What there is to read, and in which order."""

from fractions import Fraction
from typing import Literal

from pydantic import model_validator

from clustersim.scenario.corpora import Corpus, check_corpora
from clustersim.scenario.errors import wrong
from clustersim.scenario.packing import count_whole, whole_per_document
from clustersim.scenario.part import Part
from clustersim.scenario.units import BytesEach, Count, Number, PositiveCount, PositiveNumber
from clustersim.scenario.windows import Windows

# Shards are held one by one.
_MOST_SHARDS = 10_000_000
_LAST_POSITION = 2**61
# Beyond it the samples of any corpus are too many to count.
_LONGEST_DOCUMENT = 1e15
_MOST_LENGTHS = 100_000
_LONGEST_GIVEN = 10**9
_MOST_SIGMA = 3.0


class Data(Part):
    """The corpus and its order."""

    documents: PositiveCount | None = None
    """Documents of the corpus; each is a sample unless they are packed."""
    samples: PositiveCount | None = None
    """Instead of documents."""
    windows: Windows | None = None
    """Instead of documents: overlapping windows of one sequence."""
    corpora: tuple[Corpus, ...] | None = None
    """Instead of documents: several corpora that every batch is mixed of. Samples are numbered through all of them."""
    bytes_per_sample: BytesEach | None = None
    """Mean bytes of a sample as it lies in its shard; its tokens times model.bytes_per_token if not said."""
    tokens_per_document: PositiveNumber | None = None
    """Mean length of a document."""
    document_sigma: Number | None = None
    """The standard deviation of the natural logarithm of document lengths, which are lognormal, at most 3; all are
    alike if not said."""
    document_lengths: tuple[PositiveCount, ...] | None = None
    """Instead of documents and their mean: the tokens of each document of a small corpus, in its order."""
    packing: Literal["none", "concat", "whole"] = "none"
    """concat: documents end to end, cut into samples of sequence_length tokens; the last partial one is dropped.
    whole: documents as long as they fit into a sample, then padding; longer ones are cut."""
    shards: PositiveCount = 1
    """Files of samples."""
    order: Literal["shuffle", "shuffle-once", "sequential", "shard-shuffle", "nested-shuffle", "with-replacement"] = (
        "shuffle"
    )
    """Each epoch shuffled anew, or all by one shuffle; as the samples lie; shards shuffled, each read through, or each
    shuffled too; or shards drawn at random, each time from all of them."""
    skip: tuple[tuple[Count, Count], ...] | None = None
    """Runs [from, to) of positions, counted over all epochs, that no step reads, before a restart or after it; in a
    mixture its own, of which each corpus passes over those that are its turns. For a loader whose batches follow each
    other over the epochs."""

    @model_validator(mode="after")
    def _check(self) -> "Data":
        told = [self.documents, self.document_lengths, self.samples, self.windows, self.corpora]
        if told.count(None) != len(told) - 1:
            found = "none of them" if told.count(None) == len(told) else "more than one"
            raise wrong(
                "exactly one of documents, document_lengths, samples, windows and corpora", found, key="samples"
            )
        self._check_documents()
        if self.corpora is not None:
            check_corpora(self.corpora)
            if self.shards != 1:
                raise wrong("the shards of each corpus beside data.corpora", str(self.shards), key="shards")
        if self.count_shards > _MOST_SHARDS:
            raise wrong("at most 10 M shards", str(self.count_shards), key="shards")
        if self.tokens_per_document is not None and self.tokens_per_document >= _LONGEST_DOCUMENT:
            raise wrong("a mean length below 1e15 tokens", str(self.tokens_per_document), key="tokens_per_document")
        for number, (low, high) in enumerate(self.skip or ()):
            if not low < high < _LAST_POSITION:
                raise wrong("positions [from, to) with from < to < 2^61", f"[{low}, {high}]", key=f"skip.{number}")
        return self

    def _check_documents(self) -> None:
        for key in ("tokens_per_document", "document_sigma"):
            if self.document_lengths is not None and getattr(self, key):
                raise wrong(f"either {key} or document_lengths", "both", key=key)
        if self.document_lengths is not None and not 0 < len(self.document_lengths) <= _MOST_LENGTHS:
            raise wrong(f"1 to {_MOST_LENGTHS} lengths", str(len(self.document_lengths)), key="document_lengths")
        for number, length in enumerate(self.document_lengths or ()):
            if length > _LONGEST_GIVEN:
                raise wrong("at most 1e9 tokens", str(length), key=f"document_lengths.{number}")
        if self.document_sigma and self.tokens_per_document is None:
            raise wrong("tokens_per_document beside document_sigma", "nothing", key="tokens_per_document")
        if (self.document_sigma or 0) > _MOST_SIGMA:
            raise wrong(f"a number of at most {_MOST_SIGMA:g}", str(self.document_sigma), key="document_sigma")
        if self.packing != "none" and self.document_lengths is None:
            for key in ("documents", "tokens_per_document"):
                if getattr(self, key) is None:
                    raise wrong(f'{key} beside packing = "{self.packing}"', "nothing", key=key)

    @property
    def count_documents(self) -> int | None:
        """Documents of the corpus; None if it is told in samples."""
        return self.documents if self.document_lengths is None else len(self.document_lengths)

    @property
    def mean_document(self) -> float | None:
        """Mean length of a document in tokens; None if nothing says it."""
        if self.document_lengths is None:
            return self.tokens_per_document
        return sum(self.document_lengths) / len(self.document_lengths)

    @property
    def count_shards(self) -> int:
        """Shards of all corpora."""
        return self.shards if self.corpora is None else sum(corpus.shards for corpus in self.corpora)

    @property
    def skipped(self) -> list[tuple[int, int]]:
        """The runs of positions that are skipped, rising and apart from each other."""
        runs: list[tuple[int, int]] = []
        for low, high in sorted(self.skip or ()):
            if runs and low <= runs[-1][1]:
                runs[-1] = runs[-1][0], max(high, runs[-1][1])
            else:
                runs.append((low, high))
        return runs

    def count_skipped(self, below: int) -> int:
        """How many positions below one are skipped."""
        return sum(max(0, min(high, below) - low) for low, high in self.skipped)

    def count_samples(self, sequence_length: int | None) -> int:
        """Samples of an epoch (may be 0); `sequence_length` in tokens, needed where documents are packed."""
        if self.samples is not None:
            return self.samples
        if self.corpora is not None:
            return sum(corpus.samples for corpus in self.corpora)
        if self.windows is not None:
            return self.windows.count
        # `_check` left no other case.
        assert self.count_documents is not None
        if self.packing == "none":
            return self.count_documents
        if sequence_length is None:
            expected = f'a sequence length beside data.packing = "{self.packing}"'
            raise wrong(expected, "nothing", key="model.sequence_length")
        if self.document_lengths is not None:
            if self.packing == "whole":
                return count_whole(self.document_lengths, sequence_length)
            return sum(self.document_lengths) // sequence_length
        if self.packing == "whole":
            assert self.tokens_per_document is not None
            each = whole_per_document(self.tokens_per_document, self.document_sigma or 0, sequence_length)
            return int(self.count_documents * Fraction(each))
        # The decimal that the user wrote, not the float nearest to it.
        return int(self.count_documents * Fraction(repr(self.tokens_per_document)) // sequence_length)
