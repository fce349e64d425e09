"""Documents that are packed whole: which pieces of them go into which sample, and how many samples they make."""

import math
import random
from collections.abc import Iterable, Iterator
from statistics import NormalDist
from typing import NamedTuple

_NORMAL = NormalDist()
# Documents that are drawn and packed to see how many samples those of a law make.
_DRAWN = 20_000


class Piece(NamedTuple):
    """Tokens of a document in a sample."""

    sample: int
    document: int
    tokens: int


def whole_pieces(lengths: Iterable[int], sequence: int) -> Iterator[Piece]:
    """Documents of so many tokens (at least 1), one after another, as long as they fit into a sample of `sequence`.

    What does not fit begins the next sample; of a document that is longer than a sample, pieces fill whole ones first.
    """
    sample, room = 0, sequence
    for document, length in enumerate(lengths):
        for piece in [sequence] * (length // sequence) + [length % sequence] * bool(length % sequence):
            if piece > room:
                sample, room = sample + 1, sequence
            yield Piece(sample, document, piece)
            room -= piece


def count_whole(lengths: Iterable[int], sequence: int) -> int:
    """How many samples documents make that are packed whole; the last one may be short. Pieces are not gone through."""
    samples = room = 0
    for length in lengths:
        full, rest = divmod(length, sequence)
        if full:
            samples, room = samples + full, 0
        if rest > room:
            samples, room = samples + 1, sequence
        room -= rest
    return samples


def whole_per_document(mean: float, sigma: float, sequence: int) -> float:
    """Samples that a document makes on average, packed whole: of 20,000 that are drawn, always the same ones.

    Lengths are lognormal around `mean` tokens.
    """
    drawn, shift = random.Random(0), math.log(mean) - sigma**2 / 2
    exponents = (shift + sigma * _NORMAL.inv_cdf(drawn.random() or 0.5) for _ in range(_DRAWN))
    return count_whole((max(1, round(math.exp(exponent))) for exponent in exponents), sequence) / _DRAWN
