"""Counts of reads of readers that blocks are dealt out to: what readers do alike is counted once, however many.

After a restart thousands of readers read again, each some of its own blocks, and mostly from and to the same places.
So a read is told for a kind of readers, and blocks of one size that are read alike share their rows of the ledger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clustersim.account.blocks import Change, layout, settled
from clustersim.account.damage import Damage, damage_on_intervals
from clustersim.account.draws import Draws, Ints
from clustersim.account.ledger import Ledger
from clustersim.account.rows import merge, number
from clustersim.account.spaces import BlockSpaces

_MOST_CHANGES = 2**20  # of what is read how often, that are held at a time


@dataclass(frozen=True, eq=False)
class Dealt:
    """One epoch's reads by readers that each go through blocks of their own, one after another.

    A position is local: how many samples of its blocks, laid end to end, a reader has passed.
    """

    block: Ints  # int64[K], the blocks reader by reader, in the order of reading
    reader: Ints  # int64[K], whose they are: rising
    kind_of: Ints  # int64[readers]; readers of one kind, 0, 1, .., read alike
    kind: Ints  # int64[reads], and so are the next three: all readers of a kind read [start, stop) before a cut
    start: Ints
    stop: Ints
    cut: Ints

    @classmethod
    def by_one(cls, spaces: BlockSpaces, draws: Draws) -> list[Dealt]:
        """Reads without residues, as those of a single reader of each epoch, all before cut 0."""
        found = []
        row = np.repeat(np.arange(len(draws)), draws.epochs)
        family = draws.family[row]
        epoch = draws.epoch[row] + np.arange(len(row)) - np.repeat(np.cumsum(draws.epochs) - draws.epochs, draws.epochs)
        order, firsts, _ = number((family, epoch))
        for mine in np.split(order, firsts[1:]) if len(order) else []:
            blocks, _ = layout(spaces, int(family[mine[0]]), int(epoch[mine[0]]))
            none, zero = np.zeros_like(blocks), np.zeros_like(mine)
            found.append(cls(blocks, none, zero[:1], zero, draws.start[row[mine]], draws.stop[row[mine]], zero))
        return found


class _Layer(NamedTuple):
    """Reads of one epoch beside its blocks; events are where a read begins or ends, by kind and position."""

    dealt: Dealt
    local: Ints  # int64[K], the position at which each block begins, in the order of `dealt`
    low: Ints  # int64[K], the first event behind the block's beginning
    high: Ints  # int64[K], the first event at its end or behind
    at: Ints  # int64[events]
    depth: Ints  # int64[events + 1], reads under way before each event

    @classmethod
    def of(cls, dealt: Dealt, sizes: Ints) -> _Layer:
        """The layer of reads, given the sizes of the blocks by number, int64[K]."""
        size = sizes[dealt.block]
        before = np.cumsum(size) - size
        first = np.flatnonzero(np.diff(dealt.reader, prepend=-1))
        local = before - np.repeat(before[first], np.diff(first, append=len(size)))
        values, rank = np.unique(np.concatenate((dealt.start, dealt.stop)), return_inverse=True)
        ranks = len(values) + 1
        key = np.tile(dealt.kind, 2) * ranks + rank
        order = np.argsort(key, kind="stable")
        event = key[order]
        kind = dealt.kind_of[dealt.reader] * ranks
        low = np.searchsorted(event, kind + np.searchsorted(values, local, side="right"))
        high = np.searchsorted(event, kind + np.searchsorted(values, local + size))
        depth = np.concatenate(([0], np.cumsum(np.where(order < len(dealt.kind), 1, -1))))
        return cls(dealt, local, low, np.maximum(low, high), values[event % ranks], depth)

    def alike(self) -> Ints:
        """A number for each block, int64[K]: those of one size and one number are read alike."""
        numbers = np.empty_like(self.local)
        inside = self.high > self.low
        numbers[self.dealt.block] = number((self.low, np.where(inside, self.local, -1)))[2]
        return numbers

    def of_blocks(self, blocks: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """How often the first sample of some blocks is read, int64[blocks], and where that changes inside them.

        The latter int64[changes] each: which of the blocks, how many samples into it, and by how much.
        """
        place = self._places(blocks)
        low, changes = self.low[place], self.high[place] - self.low[place]
        which = np.repeat(np.arange(len(blocks)), changes)
        event = np.repeat(low - np.cumsum(changes) + changes, changes) + np.arange(len(which))
        into = self.at[event] - self.local[place[which]]
        return self.depth[low], which, into, self.depth[event + 1] - self.depth[event]

    def reads_of(self, blocks: Ints, sizes: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """What is read of some blocks of these sizes: which of them, from and to which sample, before which cut."""
        dealt, place = self.dealt, self._places(blocks)
        order = np.argsort(dealt.kind, kind="stable")
        kind = dealt.kind_of[dealt.reader[place]]
        first, last = (np.searchsorted(dealt.kind[order], kind, side=side) for side in ("left", "right"))
        which = np.repeat(np.arange(len(blocks)), last - first)
        read = order[np.repeat(last - np.cumsum(last - first), last - first) + np.arange(len(which))]
        start = np.maximum(dealt.start[read] - self.local[place[which]], 0)
        stop = np.minimum(dealt.stop[read] - self.local[place[which]], sizes[which])
        some = start < stop
        return which[some], start[some], stop[some], dealt.cut[read[some]]

    def _places(self, blocks: Ints) -> Ints:
        places = np.empty_like(self.local)
        places[self.dealt.block] = np.arange(len(places))
        return places[blocks]


class _Alike(NamedTuple):
    """Blocks that are read alike by all layers."""

    layers: tuple[list[_Layer], list[_Layer]]  # of the plan, and of the lineage
    first: Ints  # int64[kinds], one block of each kind
    size: Ints  # int64[kinds]
    of: Ints  # int64[K], the kind of each block

    @classmethod
    def of_reads(cls, spaces: BlockSpaces, planned: Sequence[Dealt], seen: Sequence[Dealt]) -> _Alike:
        sizes = np.diff(spaces.block_starts)
        layers = [_Layer.of(dealt, sizes) for dealt in planned], [_Layer.of(dealt, sizes) for dealt in seen]
        order, firsts, of = number((sizes,))
        for layer in (*layers[0], *layers[1]):
            if len(firsts) < len(sizes):  # else all are told apart
                order, firsts, of = number((of, layer.alike()))
        return cls(layers, order[firsts], sizes[order[firsts]], of)

    @property
    def portions(self) -> int:
        """In how many portions the kinds are counted, so that the changes in the blocks of one fit into memory."""
        changes = sum(int((layer.high - layer.low).sum()) for layers in self.layers for layer in layers)
        return min(1 + changes * len(self.first) // len(self.of) // _MOST_CHANGES, len(self.first))


def count_dealt(spaces: BlockSpaces, planned: Sequence[Dealt], seen: Sequence[Dealt]) -> Ledger:
    """The ledger of reads that blocks were dealt out for; exact.

    Args:
        spaces: the orders that were read.
        planned: reads of the run without failures.
        seen: reads of the lineage.
    """
    alike = _Alike.of_reads(spaces, planned, seen)
    parts = [_rows(alike, kinds) for kinds in np.array_split(np.arange(len(alike.first)), alike.portions)]
    kind, planned_views, seen_views, samples = (np.concatenate(column) for column in zip(*parts, strict=True))
    like = np.where(np.diff(spaces.block_starts) > 0, alike.first[alike.of], -1)
    return Ledger.of(alike.first[kind], planned_views, seen_views, samples, "identity", like)


def _rows(alike: _Alike, kinds: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Rows kind, planned, seen, samples (int64[rows] each) of some kinds of blocks."""
    base = np.zeros((2, len(kinds)), np.int64)
    changes: list[Change] = []
    for side, layers in enumerate(alike.layers):
        for layer in layers:
            depth, which, into, more = layer.of_blocks(alike.first[kinds])
            base[side] += depth
            none = np.zeros_like(more)
            changes.append((which, into, none, more) if side else (which, into, more, none))
    which, planned, seen, samples = settled(alike.size[kinds], base[0], base[1], changes)
    (kind, planned, seen), samples = merge((kinds[which], planned, seen), samples)
    return kind, planned, seen, samples


def damage_dealt(spaces: BlockSpaces, planned: Sequence[Dealt], seen: Sequence[Dealt], cuts: int) -> Damage:
    """Extra and missing views before each of so many cuts; exact.

    Args:
        spaces: the orders that were read.
        planned: reads of the run without failures.
        seen: reads of the lineage.
        cuts: above the number of every read's cut.
    """
    alike = _Alike.of_reads(spaces, planned, seen)
    kinds = np.arange(len(alike.first))
    zero = np.zeros_like(kinds)
    parts, signs = [(kinds, zero, zero, zero)], [zero]
    for each, layers in zip((-1, 1), alike.layers, strict=True):
        for layer in layers:
            parts.append(layer.reads_of(alike.first, alike.size))
            signs.append(np.full(len(parts[-1][0]), each))
    which, start, stop, cut = (np.concatenate(column) for column in zip(*parts, strict=True))
    order, firsts, of = number((np.tile(which, 2), np.concatenate((start, stop))))
    at = np.concatenate((start, stop))[order[firsts]]
    owner = np.tile(which, 2)[order[firsts]]
    is_last = np.diff(owner, append=-1) != 0
    length = np.where(is_last, alike.size[owner], np.append(at[1:], 0)) - at
    samples = length * np.bincount(alike.of)[owner]
    first, last = np.split(of, 2)
    found = damage_on_intervals(samples, first, last, np.concatenate(signs), cut, np.zeros(cuts, np.int64))
    return Damage(*found, "identity")
