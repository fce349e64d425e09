"""Counts across independent uniform permutations, by the multivariate hypergeometric law."""

from __future__ import annotations

import numpy as np

from clustersim.account.draws import Ints
from clustersim.account.ledger import merge
from clustersim.account.sweep import Pieces

_NUMPY_POPULATION = 10**9  # numpy's own generator refuses this and above
_FEW = 1024  # up to here picking members one by one is as fast as a round of binomials


def thin(rng: np.random.Generator, counts: Ints, take: int) -> Ints:
    """How many members of each class are in a uniform subset of `take` members of all: int64[classes].

    Multivariate hypergeometric for populations up to 2^63. Each class is drawn Binomial(n_i, take / total), which,
    given their sum, is the law that is sought; the surplus, of the order of √take, is then taken out of the drawn
    (or added from the others) uniformly without replacement, which is the same problem again, a square root smaller.

    Args:
        rng: the stream of random numbers.
        counts: the classes' sizes, int64[classes], none negative.
        take: the size of the subset.

    Raises:
        ValueError: take is negative or above the sum of counts.
    """
    total = int(counts.sum())
    if not 0 <= take <= total:
        raise ValueError(f"cannot take {take} of {total}")
    if 2 * take > total:
        return counts - thin(rng, counts, total - take)
    if take == 0:
        return np.zeros_like(counts)
    if len(counts) == 1:
        return np.array([take])
    if total < _NUMPY_POPULATION:
        return rng.multivariate_hypergeometric(counts, take, method="marginals")
    if take <= _FEW:
        return _pick(rng, counts, take)
    drawn = rng.binomial(counts, take / total)
    surplus = int(drawn.sum()) - take
    if surplus >= 0:
        return drawn - thin(rng, drawn, surplus)
    return drawn + thin(rng, counts - drawn, -surplus)


def _pick(rng: np.random.Generator, counts: Ints, take: int) -> Ints:
    """`thin` by naming the members; for `take` far below the square root of the population."""
    ends = np.cumsum(counts)
    while True:
        members = np.sort(rng.integers(0, ends[-1], take))
        if (np.diff(members) != 0).all():  # else draw all again: distinct members are then a uniform subset
            return np.diff(np.searchsorted(members, ends), prepend=0)


def deal(rng: np.random.Generator, counts: Ints, lengths: Ints) -> Ints:
    """Deal the members of all classes at random into hands of given lengths: int64[hands, classes].

    Args:
        rng: the stream of random numbers.
        counts: the classes' sizes, int64[classes].
        lengths: the hands' sizes, int64[hands], which sum to that of the classes.
    """
    hands = np.zeros((len(lengths), len(counts)), np.int64)
    largest = int(np.argmax(lengths))
    rest = counts
    for hand, length in enumerate(lengths.tolist()):
        if hand != largest:
            hands[hand] = thin(rng, rest, length)
            rest = rest - hands[hand]
    hands[largest] = rest
    return hands


def overlay(rng: np.random.Generator, pieces: Pieces) -> tuple[Ints, Ints, Ints]:
    """Rows planned, seen, samples (int64[rows] each) of samples whose spaces are independent uniform permutations.

    Each space in turn deals the samples, in classes by what they have had so far, into its pieces.
    """
    planned, seen = np.array([pieces.planned]), np.array([pieces.seen])
    samples = np.array([pieces.size])
    lengths = pieces.stop - pieces.start
    for low, high in zip(pieces.bounds[:-1].tolist(), pieces.bounds[1:].tolist(), strict=True):
        # Two pieces read alike are one hand.
        (more_planned, more_seen), hand_lengths = merge(
            (pieces.piece_planned[low:high], pieces.piece_seen[low:high]), lengths[low:high]
        )
        hands = deal(rng, samples, hand_lengths)
        (planned, seen), samples = merge(
            ((more_planned[:, None] + planned).ravel(), (more_seen[:, None] + seen).ravel()), hands.ravel()
        )
    return planned, seen, samples
