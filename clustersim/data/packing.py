"""Packing: documents of some length become samples of a fixed number of tokens, and what a restart loses of them.

| how | a sample | what the packer holds between two samples, its carry |
|---|---|---|
| concat | documents end to end, cut every L tokens | what is left of the document that was cut |
| whole | documents as long as they fit, then padding; longer ones are cut | the document that did not fit |

A checkpoint that saves the position of the reader and not the carry loses it: the reader is past those tokens. Samples,
tokens and documents are counted each in its own unit: a document may have been seen in part.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustersim.laws import Lognormal
from clustersim.scenario.packing import whole_pieces
from clustersim.streams import Hashed

Ints = NDArray[np.int64]
How = Literal["concat", "whole"]


class Packed(NamedTuple):
    """What a packer makes of documents: an entry for each piece of a document in a sample, int64[pieces] each."""

    sample: Ints
    document: Ints
    tokens: Ints

    @property
    def samples(self) -> int:
        """How many samples there are."""
        return int(self.sample[-1]) + 1 if len(self.sample) else 0


def lengths_of(mean: float, sigma: float, documents: int, seed: int, replication: int) -> Ints:
    """Lognormal lengths of documents in tokens, at least 1, int64[documents]; sigma 0: all of them the mean, rounded.

    Each is a function of (seed, replication, document).
    """
    if sigma == 0:
        return np.full(documents, max(1, round(mean)), dtype=np.int64)
    from scipy.special import ndtri

    uniform = Hashed(seed, replication, "document length").uniforms(np.arange(documents), 0)
    law = Lognormal.of_mean(mean, sigma)
    lengths: Ints = np.maximum(1, np.rint(law.median_ns * np.exp(sigma * ndtri(uniform)))).astype(np.int64)
    return lengths


def pack(lengths: Ints, sequence: int, how: How = "concat") -> Packed:
    """Pack documents of `lengths` tokens (int64[documents], at least 1) into samples of `sequence` tokens.

    The last sample is left out if it is not full ("concat") or padded ("whole").
    """
    if how == "concat":
        ends = np.cumsum(lengths)
        full = int(ends[-1]) // sequence * sequence if len(ends) else 0
        cuts = np.arange(sequence, full + 1, sequence)
        stops = np.unique(np.concatenate([ends[ends <= full], cuts]))
        starts = np.concatenate([np.zeros(1, np.int64), stops[:-1]]) if len(stops) else stops
        return Packed(starts // sequence, np.searchsorted(ends, starts, side="right"), stops - starts)
    return Packed(*np.array(list(whole_pieces(lengths.tolist(), sequence)), dtype=np.int64).reshape(-1, 3).T)


def padding_share(packed: Packed, sequence: int) -> float:
    """The share of all samples' tokens that is padding."""
    return 1 - float(packed.tokens.sum()) / (packed.samples * sequence) if packed.samples else 0.0


class Carry(NamedTuple):
    """What a packer holds after so many samples: tokens of one document, 0 if none; and the documents it has pulled."""

    document: int
    tokens: int
    pulled: int


def carry_after(lengths: Ints, sequence: int, samples: int, how: How = "concat") -> Carry:
    """The carry when `samples` samples have gone out.

    Raises:
        ValueError: the documents make no such number of samples.
    """
    if how == "concat":
        out, ends = samples * sequence, np.cumsum(lengths)
        if out > (ends[-1] if len(ends) else 0):
            raise ValueError(
                f"the documents make {int(ends[-1]) // sequence if len(ends) else 0} samples, not {samples}"
            )
        last = int(np.searchsorted(ends, out)) if out else -1
        return Carry(max(0, last), int(ends[last]) - out if out else 0, last + 1)
    packed = pack(lengths, sequence, how)
    if samples > packed.samples:
        raise ValueError(f"the documents make {packed.samples} samples, not {samples}")
    if samples in (0, packed.samples):
        return Carry(0, 0, 0 if samples == 0 else len(lengths))
    held = held_between(packed, sequence)
    document, tokens = int(held.document[samples - 1]), int(held.tokens[samples - 1])
    return Carry(document, tokens, document + bool(tokens))


class Held(NamedTuple):
    """What a packer of whole documents holds between two samples: an entry after each but the last, [samples - 1]."""

    document: Ints  # int64: of which it holds the tokens, or the next one, where it holds none
    tokens: Ints  # int64
    whole: NDArray[np.bool_]  # nothing of the document has gone out


def held_between(packed: Packed, sequence: int) -> Held:
    """What is held of documents that are packed whole: of a full sample nothing, unless it cut the document."""
    first = np.flatnonzero(np.diff(packed.sample)) + 1  # piece of each sample but the very first one
    document = packed.document[first]
    until = np.append(0, np.cumsum(packed.tokens))
    tokens = until[np.searchsorted(packed.document, document, side="right")] - until[first]
    whole = packed.document[first - 1] != document
    full = np.diff(until[np.append(0, first)]) == sequence
    nothing = whole & full
    return Held(document, np.where(nothing, 0, tokens), whole & ~nothing)


def mean_carry(lengths: Ints) -> float:
    """Mean tokens of the carry of "concat": (E[l^2] - E[l]) / (2 E[l]), as long documents are cut more often."""
    mean = float(lengths.mean())
    return (float((lengths.astype(float) ** 2).mean()) - mean) / (2 * mean)


@dataclass(frozen=True)
class Seen:
    """What was seen of some documents, in three units."""

    lengths: Ints
    tokens: Ints
    """Tokens that were seen of each document, int64[documents]; more than its length where some were seen twice."""
    samples: int

    @property
    def tokens_missing(self) -> int:
        """Tokens that were never seen."""
        return int(np.maximum(0, self.lengths - self.tokens).sum())

    @property
    def documents_never(self) -> int:
        """Documents of which no token was seen."""
        return int((self.tokens == 0).sum())

    @property
    def documents_partly(self) -> int:
        """Documents of which some tokens were seen and others were not."""
        return int(((self.tokens > 0) & (self.tokens < self.lengths)).sum())


def seen_of(packed: Packed, lengths: Ints, views: Ints) -> Seen:
    """What is seen of the documents where each sample is seen `views` times (int64[samples])."""
    tokens = np.bincount(packed.document, packed.tokens * views[packed.sample], minlength=len(lengths))
    return Seen(lengths, tokens.astype(np.int64), int(views.sum()))


def seen_with_restarts(
    lengths: Ints, sequence: int, restarts: list[int], carry_saved: bool, how: How = "concat"
) -> Seen:
    """What one packer shows of its documents when it is restarted after so many samples of its own (increasing).

    A carry that is not saved is lost: it begins anew with the next document that it has not pulled. The epoch ends with
    the last full sample.
    """
    tokens, done, first = np.zeros(len(lengths), np.int64), 0, 0
    for stop in [*([] if carry_saved else restarts), None]:
        rest = lengths[first:]
        packed = pack(rest, sequence, how)
        samples = packed.samples if stop is None else min(stop - done, packed.samples)
        out = packed.sample < samples
        np.add.at(tokens, packed.document[out] + first, packed.tokens[out])
        done += samples
        first += carry_after(rest, sequence, samples, how).pulled
    return Seen(lengths, tokens, done)


def read_again_by_row_count(lengths: Ints, sequence: int, samples: int, how: How = "concat") -> int:
    """Documents that are read again where a position in samples is taken for one in documents.

    So many documents were pulled for the samples, of which the loader passes over as many as there are samples: with
    r documents a sample, S (r - 1) are read twice.
    """
    return carry_after(lengths, sequence, samples, how).pulled - samples
