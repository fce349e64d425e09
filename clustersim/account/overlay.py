"""Counts across independent uniform permutations, by the multivariate hypergeometric law."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from clustersim.account.draws import Ints
from clustersim.account.ledger import Table
from clustersim.account.rows import merge
from clustersim.account.sweep import Pieces

_FEW = 1024  # up to here naming members one by one is as fast as a round of binomials
_NUMPYS = 10**9  # populations from here on numpy refuses


class Groups(NamedTuple):
    """Which classes stand together: classes of one group follow each other."""

    starts: Ints  # int64[groups], the first class of each group
    of: Ints  # int64[classes], the group of each class

    @classmethod
    def sized(cls, sizes: Ints) -> Groups:
        """Groups of so many classes each, none empty."""
        return cls(np.cumsum(sizes) - sizes, np.repeat(np.arange(len(sizes)), sizes))


def thin(rng: np.random.Generator, counts: Ints, groups: Groups, take: Ints) -> Ints:
    """How many members of each class are in a uniform subset of `take` members of its group: int64[classes].

    Multivariate hypergeometric, for populations up to 2^62 (numpy's own stops at 10^9). Each class is drawn
    Binomial(n_i, take / total), which, given their sum, is the law that is sought; the surplus, of the order of
    √take, is then taken out of the drawn, or added from the others, uniformly without replacement. That is the same
    problem again, a square root smaller.

    Args:
        rng: the stream of random numbers; it is left alone where each group has one class.
        counts: the classes' sizes, int64[classes], none negative.
        groups: how the classes stand together.
        take: the size of each group's subset, int64[groups].

    Raises:
        ValueError: a subset's size is negative or above its group's.
    """
    total = np.add.reduceat(counts, groups.starts)
    if (take < 0).any() or (take > total).any():
        raise ValueError(f"cannot take {take.tolist()} of {total.tolist()}")
    if len(counts) == len(take):
        return take
    return _draw(rng, counts, groups, total, take)


def _draw(rng: np.random.Generator, counts: Ints, groups: Groups, total: Ints, take: Ints) -> Ints:
    """`thin`, given the groups' sizes, int64[groups]."""
    few = (take <= _FEW) & (take * take <= total)
    if few.all():
        return _pick(rng, counts, groups, total, take)
    share = np.where(few, 0.0, take / np.maximum(total, 1))
    drawn: Ints = rng.binomial(counts, share[groups.of])
    reached = np.add.reduceat(drawn, groups.starts)
    surplus = reached - take
    over = surplus > 0
    over_class = over[groups.of]
    pool = np.where(over_class, drawn, counts - drawn)
    change = _draw(rng, pool, groups, np.where(over, reached, total - reached), np.abs(surplus))
    return np.where(over_class, drawn - change, drawn + change)


def _pick(rng: np.random.Generator, counts: Ints, groups: Groups, total: Ints, take: Ints) -> Ints:
    """`thin` by naming the members, for takes up to the square root of the population."""
    ends = np.cumsum(counts)
    before = (ends - counts)[groups.starts]
    drawn = np.zeros_like(counts)
    while take.any():
        group = np.repeat(np.arange(len(take)), take)
        members = before[group] + rng.integers(0, total[group])
        members.sort()  # `group` still names their groups, which follow each other
        # Distinct members are a uniform subset; a group that named one twice names all again.
        clashes = group[1:][members[1:] == members[:-1]]
        if len(clashes):
            again = np.zeros(len(take), bool)
            again[clashes] = True
            members = members[~again[group]]
            take = np.where(again, take, 0)
        else:
            take = np.zeros_like(take)
        up_to = np.searchsorted(members, ends)
        drawn[0] += up_to[0]
        drawn[1:] += up_to[1:] - up_to[:-1]
    return drawn


def thin_many(rng: np.random.Generator, counts: Ints, groups: Groups, take: Ints) -> Ints:
    """`thin` for very many groups of few classes: class by class, by numpy's own law where populations allow it."""
    total = np.add.reduceat(counts, groups.starts)
    sizes = np.diff(np.append(groups.starts, len(counts)))
    if total.max() >= _NUMPYS or sizes.max() > _FEW:
        return thin(rng, counts, groups, take)
    drawn, left, rest = np.zeros_like(counts), take.copy(), total.copy()
    for nth in range(int(sizes.max())):
        group = np.flatnonzero((left > 0) & (sizes > nth))
        place = groups.starts[group] + nth
        own = counts[place]
        rest[group] -= own
        some = own > 0
        group, place, own = group[some], place[some], own[some]
        out = np.minimum(own, left[group])
        divided = rest[group] > 0
        asked = group[divided]
        out[divided] = rng.hypergeometric(own[divided], rest[asked], left[asked])
        drawn[place] = out
        left[group] -= out
    return drawn


def deal(rng: np.random.Generator, counts: Ints, groups: Groups, hands: Ints) -> Ints:
    """Deal the members of each group at random into hands of given sizes: int64[hands, classes].

    Args:
        rng: the stream of random numbers.
        counts: the classes' sizes, int64[classes].
        groups: how the classes stand together.
        hands: the sizes of each group's hands, int64[groups, hands]; they sum to the group's size.
    """
    dealt = np.empty((hands.shape[1], len(counts)), np.int64)
    rest = counts
    for hand in range(hands.shape[1] - 1):
        dealt[hand] = thin(rng, rest, groups, hands[:, hand])
        rest = rest - dealt[hand]
    dealt[-1] = rest
    return dealt


class Overlay(NamedTuple):
    """What one space did to the table of samples by views; int64 arrays."""

    planned: Ints  # [rows], views before
    seen: Ints  # [rows]
    samples: Ints  # [rows]
    more_planned: Ints  # [hands], views that the space adds
    more_seen: Ints  # [hands]
    dealt: Ints  # [hands, rows], samples


def overlay(rng: np.random.Generator, pieces: Pieces) -> tuple[Table, list[Overlay]]:
    """The table of samples whose spaces are independent uniform permutations, and what each space did to it.

    Each space in turn deals the samples, in classes by what they have had so far, into its pieces; two pieces that
    were read alike are one hand.
    """
    space = np.repeat(np.arange(len(pieces.family)), np.diff(pieces.bounds))
    (space, more_planned, more_seen), hands = merge(
        (space, pieces.piece_planned, pieces.piece_seen), pieces.stop - pieces.start
    )
    evenly = pieces.planned, pieces.seen
    return deal_out(rng, pieces.size, evenly, (space, more_planned, more_seen), hands)


def deal_out(
    rng: np.random.Generator, size: int, evenly: tuple[int, int], hand: tuple[Ints, Ints, Ints], hands: Ints
) -> tuple[Table, list[Overlay]]:
    """The table of samples that each space deals out into its hands.

    Args:
        rng: the stream of random numbers.
        size: N, the samples of an epoch.
        evenly: planned and seen views that every sample has besides.
        hand: the space of each hand, 0, 1, .. and rising, and the views that it adds, planned and seen; int64[hands].
        hands: samples in each, int64[hands].
    """
    space, more_planned, more_seen = hand
    bounds = np.searchsorted(space, np.arange(int(space.max(initial=-1)) + 2)).tolist()
    planned, seen = np.array(evenly[:1]), np.array(evenly[1:])
    samples = np.array([size])
    done = []
    for low, high in pairwise(bounds):
        one = Groups(np.zeros(1, np.int64), np.zeros(len(samples), np.int64))
        dealt = deal(rng, samples, one, hands[None, low:high])
        done.append(Overlay(planned, seen, samples, more_planned[low:high], more_seen[low:high], dealt))
        rows = (more_planned[low:high, None] + planned).ravel(), (more_seen[low:high, None] + seen).ravel()
        (planned, seen), samples = merge(rows, dealt.ravel())
    return Table(planned, seen, samples), done
