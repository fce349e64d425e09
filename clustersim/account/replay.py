"""Damage up to each of many steps under independent uniform permutations: one path, which ends in the ledger."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from clustersim.account.cuts import Cuts
from clustersim.account.draws import Ints
from clustersim.account.overlay import Groups, Overlay, deal
from clustersim.account.rows import merge, number
from clustersim.account.sweep import Pieces


class Space:
    """One permutation, cut into intervals wherever a read of it begins or ends.

    Intervals of one hand that were read alike so far share a label: which of them a sample is in is unknown, and is
    drawn when a read tells them apart. Hands are what the ledger's overlay deals; until it has, all are hand 0.
    """

    def __init__(self, size: int, cuts: Cuts, reads: Ints) -> None:
        """The space that `reads`, rising row numbers of `cuts`, belong to."""
        bounds = np.unique(np.concatenate((cuts.start[reads], cuts.stop[reads], [0, size])))
        self.starts = bounds[:-1]
        self.lengths = np.diff(bounds)
        self.hand = np.zeros_like(self.starts)
        self.planned = np.zeros_like(self.starts)
        self.seen = np.zeros_like(self.starts)
        cut = cuts.cut[reads]
        first = np.flatnonzero(np.diff(cut, prepend=-1))
        self.turns: list[int] = cut[first].tolist()  # the cuts before which it is read
        self._bounds: list[int] = [*first.tolist(), len(reads)]
        self._low: list[int] = np.searchsorted(bounds, cuts.start[reads]).tolist()
        self._high: list[int] = np.searchsorted(bounds, cuts.stop[reads]).tolist()
        self._is_planned: list[bool] = cuts.is_planned[reads].tolist()

    def read(self, turn: int) -> None:
        """Take in the reads before cut `turns[turn]`."""
        for read in range(self._bounds[turn], self._bounds[turn + 1]):
            side = self.planned if self._is_planned[read] else self.seen
            side[self._low[read] : self._high[read]] += 1

    def is_even(self) -> bool:
        """Whether all offsets were read alike so far."""
        return bool((self.planned == self.planned[0]).all() and (self.seen == self.seen[0]).all())

    def labels(self) -> Ints:
        """The label of each interval, int64[intervals]."""
        return number((self.hand, self.planned, self.seen))[2]

    def rehearse(self) -> list[bool]:
        """Whether it is even before each turn; for a space that was not read yet, and leaves it so."""
        evens = []
        for turn in range(len(self.turns)):
            evens.append(self.is_even())
            self.read(turn)
        self.planned[:] = 0
        self.seen[:] = 0
        return evens


@dataclass
class Rows:
    """Samples alike in what they have had so far and in what is known of their places; int64 arrays of one length."""

    planned: Ints  # views so far
    seen: Ints
    dealt_planned: Ints  # the same by the ledger's overlay, which deals a space's hands when it is first read
    dealt_seen: Ints
    samples: Ints
    labels: dict[int, Ints] = field(default_factory=dict)  # by number of the space

    def deal(self, rng: np.random.Generator, group: Ints, hands: Ints) -> tuple[Ints, Ints, bool]:
        """Split the rows of each group at random into hands, int64[groups, hands].

        Returns:
            the hand and the group of each new row, and whether chance had a say.
        """
        order = np.argsort(group, kind="stable")
        sizes = np.bincount(group)
        dealt = deal(rng, self.samples[order], Groups.sized(sizes), hands)
        hand, place = np.nonzero(dealt)
        row = order[place]
        self._keep(row, dealt[hand, place])
        return hand, group[row], bool(((sizes > 1) & (np.count_nonzero(hands, axis=1) > 1)).any())

    def merge(self) -> None:
        """Make equal rows one."""
        keys = (self.planned, self.seen, self.dealt_planned, self.dealt_seen, *self.labels.values())
        (self.planned, self.seen, self.dealt_planned, self.dealt_seen, *labels), self.samples = merge(
            keys, self.samples
        )
        self.labels = dict(zip(self.labels, labels, strict=True))

    def _keep(self, row: Ints, samples: Ints) -> None:
        self.planned, self.seen = self.planned[row], self.seen[row]
        self.dealt_planned, self.dealt_seen = self.dealt_planned[row], self.dealt_seen[row]
        self.labels = {space: label[row] for space, label in self.labels.items()}
        self.samples = samples


def replay(rng: np.random.Generator, pieces: Pieces, overlays: list[Overlay], cuts: Cuts) -> tuple[Ints, Ints, bool]:
    """Extra and missing views before each cut, int64[cuts] each, and whether they are free of chance.

    The path ends in the ledger because each space deals its samples as the ledger's overlay did: the overlay's tables
    say how many of each class went into each hand, and the rows of a class are dealt within them. A space is dealt no
    later than it is read unevenly for good, and never before a space that the overlay dealt earlier.

    Args:
        rng: the stream of random numbers, after the overlay has used it.
        pieces: the swept reads.
        overlays: what `overlay` did with the pieces.
        cuts: the same reads, cut.
    """
    spaces = _spaces(pieces, cuts)
    begins = _begins(spaces[: len(overlays)], len(cuts.even_seen))
    agenda: list[list[tuple[int, int]]] = [[] for _ in cuts.even_seen]
    # Older spaces first: what ends evenly is then forgotten before what begins could divide it by chance.
    for k in sorted(range(len(spaces)), key=lambda k: spaces[k].turns[0]):
        for turn, cut in enumerate(spaces[k].turns):
            agenda[cut].append((k, turn))

    zero = np.zeros(1, np.int64)
    rows = Rows(zero, zero, zero + pieces.planned, zero + pieces.seen, zero + pieces.size)
    begun = 0
    exact = len(overlays) <= 1
    extra, missing = np.zeros_like(cuts.even_seen), np.zeros_like(cuts.even_seen)
    for cut, tasks in enumerate(agenda):
        rows.planned = rows.planned + cuts.even_planned[cut]
        rows.seen = rows.seen + cuts.even_seen[cut]
        for k, turn in tasks:
            while begun <= k < len(overlays) and begins[k] == cut:
                low, high = pieces.bounds[begun : begun + 2]
                piece = np.searchsorted(pieces.start[low:high], spaces[begun].starts, side="right") - 1 + low
                spaces[begun].hand = number((pieces.piece_planned[piece], pieces.piece_seen[piece]))[2]
                exact &= not _begin(rng, rows, begun, spaces[begun], overlays[begun])
                begun += 1
            exact &= not _read(rng, rows, k, spaces[k], turn)
            if turn + 1 == len(spaces[k].turns) or (k >= begun and spaces[k].is_even()):
                del rows.labels[k]  # nothing hangs on it any more
            rows.merge()
        surplus = rows.seen - rows.planned
        extra[cut] = (rows.samples * np.maximum(surplus, 0)).sum()
        missing[cut] = (rows.samples * np.maximum(-surplus, 0)).sum()
    return extra, missing, exact


def _begin(rng: np.random.Generator, rows: Rows, k: int, space: Space, overlay: Overlay) -> bool:
    """Deal the hands of space k as its overlay did; whether chance had a say."""
    width = int(overlay.seen.max()) + 1
    group = np.searchsorted(overlay.planned * width + overlay.seen, rows.dealt_planned * width + rows.dealt_seen)
    hand, _, chance = rows.deal(rng, group, overlay.dealt.T)
    rows.dealt_planned = rows.dealt_planned + overlay.more_planned[hand]
    rows.dealt_seen = rows.dealt_seen + overlay.more_seen[hand]
    label_of_hand = np.zeros(len(overlay.dealt), np.int64)
    label_of_hand[space.hand] = space.labels()
    rows.labels[k] = label_of_hand[hand]
    return chance


def _read(rng: np.random.Generator, rows: Rows, k: int, space: Space, turn: int) -> bool:
    """Take in a turn of space k, splitting labels whose intervals it tells apart; whether chance had a say."""
    rows.labels.setdefault(k, np.zeros_like(rows.samples))
    label, planned, seen = space.labels(), space.planned.copy(), space.seen.copy()
    space.read(turn)
    keys = (label, space.labels(), space.planned - planned, space.seen - seen)
    (label, new_label, more_planned, more_seen), lengths = merge(keys, space.lengths)

    parts = np.bincount(label)  # of each label
    nth = np.arange(len(label)) - np.repeat(np.cumsum(parts) - parts, parts)
    hands = np.zeros((len(parts), int(parts.max())), np.int64)
    index = np.zeros_like(hands)
    hands[label, nth] = lengths
    index[label, nth] = np.arange(len(label))
    hand, group, chance = rows.deal(rng, rows.labels[k], hands)
    part = index[group, hand]
    rows.planned = rows.planned + more_planned[part]
    rows.seen = rows.seen + more_seen[part]
    rows.labels[k] = new_label[part]
    return chance


def _spaces(pieces: Pieces, cuts: Cuts) -> list[Space]:
    """Every space that a read or a cut divides: first those of `pieces`, in their order."""
    order, starts, _ = number((cuts.family, cuts.epoch))
    found = {}
    for low, high in pairwise([*starts.tolist(), len(order)]):
        reads = order[low:high]
        found[int(cuts.family[reads[0]]), int(cuts.epoch[reads[0]])] = Space(pieces.size, cuts, reads)
    uneven = [found.pop(name) for name in zip(pieces.family.tolist(), pieces.epoch.tolist(), strict=True)]
    return [*uneven, *found.values()]


def _begins(spaces: list[Space], cuts: int) -> list[int]:
    """The cut before whose reads each space is dealt: the last possible at which it is even, in never falling order."""
    begins = []
    limit = cuts
    for space in reversed(spaces):
        evens = space.rehearse()
        turn = bisect_left(space.turns, limit)  # the first at or after the limit
        if turn == len(evens) or not evens[turn]:
            turn = max(earlier for earlier, even in enumerate(evens[:turn]) if even)
            limit = space.turns[turn]
        begins.append(limit)
    return begins[::-1]
