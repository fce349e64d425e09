"""What packers hold of a document between two samples, by its law: what a restart that does not save it loses.

A draw belongs to the step at which the reading was cut and to the packer, so that two restarts from one checkpoint lose
the same.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from clustersim.data.packing import Ints, held_between, lengths_of, pack
from clustersim.history import History
from clustersim.scenario.data import Data
from clustersim.streams import Hashed

# Documents of a law that are packed whole to see what is held between two samples.
_PACKED = 20_000


class Cut(NamedTuple):
    """A restart in the lineage: the step that it begins with, and how many packers came to it."""

    step: int
    packers: int


class Carries(NamedTuple):
    """What was lost at each cut: int64[cuts] each. A document that is lost whole is not one that is seen in part."""

    step: Ints
    packers: Ints
    tokens: Ints
    partly: Ints
    whole: Ints


class CarryLaw(Protocol):
    """The law of what a packer holds."""

    def draw(self, place: NDArray[np.float64], cut: NDArray[np.float64]) -> tuple[Ints, NDArray[np.bool_]]:
        """Tokens that are held, and whether they are a whole document.

        From two uniform numbers of (0, 1) for each packer: in which document, and where in it.
        """


@dataclass(frozen=True)
class LognormalDocuments:
    """Documents of a lognormal length that are cut every L tokens: long ones are cut more often.

    The length of a document that is cut follows the law weighted with the length: lognormal with the logarithm's mean
    larger by sigma^2. 0 to l - 1 tokens of it are left alike.
    """

    mean: float
    sigma: float

    def draw(self, place: NDArray[np.float64], cut: NDArray[np.float64]) -> tuple[Ints, NDArray[np.bool_]]:
        """Tokens that are held, and whether they are a whole document: never."""
        from scipy.special import ndtri

        lengths = self.mean * np.exp(self.sigma**2 / 2 + self.sigma * ndtri(place))
        left = (cut * np.maximum(1, np.rint(lengths))).astype(np.int64)
        return left, np.zeros(len(left), np.bool_)


@dataclass(frozen=True)
class GivenDocuments:
    """Documents of given lengths, int64[documents], that are cut every L tokens."""

    lengths: Ints

    def draw(self, place: NDArray[np.float64], cut: NDArray[np.float64]) -> tuple[Ints, NDArray[np.bool_]]:
        """Tokens that are held, and whether they are a whole document: never."""
        ends = np.cumsum(self.lengths)
        found = self.lengths[np.searchsorted(ends, (place * ends[-1]).astype(np.int64), side="right")]
        left = (cut * found).astype(np.int64)
        return left, np.zeros(len(left), np.bool_)


@dataclass(frozen=True)
class WholeDocuments:
    """Documents that are packed whole: what is held after each of many samples, any of them alike."""

    tokens: Ints
    whole: NDArray[np.bool_]

    def draw(self, place: NDArray[np.float64], cut: NDArray[np.float64]) -> tuple[Ints, NDArray[np.bool_]]:
        """Tokens that are held, and whether they are a whole document."""
        found = (place * len(self.tokens)).astype(np.int64)
        return self.tokens[found], self.whole[found]


def carry_law(data: Data, sequence: int, seed: int, replication: int) -> CarryLaw:
    """The law of what a packer holds of a corpus between two samples of `sequence` tokens."""
    given = None if data.document_lengths is None else np.array(data.document_lengths, dtype=np.int64)
    mean, sigma = data.mean_document, data.document_sigma or 0.0
    assert mean is not None
    if data.packing == "concat":
        return LognormalDocuments(mean, sigma) if given is None else GivenDocuments(given)
    lengths = lengths_of(mean, sigma, _PACKED, seed, replication) if given is None else given
    held = held_between(pack(lengths, sequence, "whole"), sequence)
    if not len(held.tokens):  # one sample has them all
        return WholeDocuments(np.zeros(1, np.int64), np.zeros(1, np.bool_))
    return WholeDocuments(held.tokens, held.whole)


def cuts_of(history: History, workers: int) -> list[Cut]:
    """The restarts that the final model's reading went through, with so many packers on each rank that saved.

    A leg of which nothing is left leaves no cut, and none is where no checkpoint was: nothing is held at step 0.
    """
    cuts: list[Cut] = []
    saved_by = 0
    goes_on = True
    for leg, stop in zip(history.legs, history.lineage_stops(), strict=True):
        if stop > leg.start:
            if leg.start and not goes_on:
                cuts.append(Cut(leg.start, saved_by * workers))
            saved_by = leg.data
            goes_on = True
        goes_on &= leg.goes_on
    return cuts


def lose_carries(law: CarryLaw, cuts: list[Cut], seed: int, replication: int) -> Carries:
    """What each of the cuts loses."""
    rows = []
    for step, packers in cuts:
        stream, each = Hashed(seed, replication, "carry", step), np.arange(packers)
        tokens, whole = law.draw(stream.uniforms(each, 0), stream.uniforms(each, 1))
        rows.append((step, packers, tokens.sum(), (~whole & (tokens > 0)).sum(), whole.sum()))
    return Carries(*np.array(rows, dtype=np.int64).reshape(-1, 5).T)
