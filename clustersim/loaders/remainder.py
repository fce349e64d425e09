"""Orders in which what an epoch has not read yet is shuffled anew, again and again."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustersim import streams
from clustersim.account import Draws
from clustersim.account.overlay import Groups, thin
from clustersim.data.orders import Order
from clustersim.data.permutation import permutation
from clustersim.streams import Hashed

Ints = NDArray[np.int64]


class Remainder(NamedTuple):
    """Order `parent` up to offset `cut`; from there on what is left of it, shuffled by restart `leg`."""

    parent: int
    cut: int
    leg: int


class RemainderSpaces:
    """The run's order, family 0, and the orders of its remainders, numbered as they are asked for."""

    law: Literal["other"] = "other"

    def __init__(self, order: Order) -> None:
        self.size = order.size
        self.same_every_epoch = order.same_every_epoch
        self.order = order
        self._keys = Hashed(*order.drawn_by, "remainder")
        self._numbers: dict[Remainder, int] = {}
        self._remainders: list[Remainder] = []

    def number(self, remainder: Remainder) -> int:
        """The family of a remainder."""
        number = self._numbers.setdefault(remainder, len(self._remainders))
        if number == len(self._remainders):
            self._remainders.append(remainder)
        return number + 1

    def samples_at(self, family: int, epoch: int, offsets: Ints) -> Ints:
        """The samples at some offsets of an epoch, int64 of their shape."""
        while family:
            family, cut, leg = self._remainders[family - 1]
            left = offsets >= cut
            offsets = offsets.copy()
            offsets[left] = cut + permutation(self.size - cut).forward(offsets[left] - cut, self._key(leg, epoch))
        return self.order.samples_at(0, epoch, offsets)

    def offset_of(self, family: Ints, epoch: Ints, sample: int) -> Ints:
        """The offset at which each (family, epoch) reads the sample; int64 of the arrays' shape."""
        pairs = np.broadcast(family, epoch)
        found = []
        for one_family, one_epoch in pairs:
            chain = []
            at = int(one_family)
            while at:
                chain.append(at)
                at = self.parent_of(at)
            offset = self.order.offset_of(np.array([0]), np.array([int(one_epoch)]), sample)
            for family_after in reversed(chain):
                offset = self.moved(family_after, int(one_epoch), offset)
            found.append(int(offset[0]))
        return np.array(found, dtype=np.int64).reshape(pairs.shape)

    def parent_of(self, family: int) -> int:
        """The family whose remainder a family has shuffled."""
        return self._remainders[family - 1].parent

    def moved(self, family: int, epoch: int, offsets: Ints) -> Ints:
        """Where a family reads what its parent reads at some offsets of an epoch, int64 of their shape."""
        _, cut, leg = self._remainders[family - 1]
        left, moved = offsets >= cut, offsets.copy()
        moved[left] = cut + permutation(self.size - cut).backward(offsets[left] - cut, self._key(leg, epoch))
        return moved

    def _key(self, leg: int, epoch: int) -> NDArray[np.uint64]:
        return self._keys.words(np.array([leg]), np.array([epoch]))

    def left_open(self, draws: Draws) -> bool:
        """Whether an epoch that has left the run's order is not read to its end."""
        by_epoch, firsts = _by_epoch(draws)
        ends = np.maximum.reduceat(draws.stop[by_epoch], firsts) if len(by_epoch) else by_epoch
        return bool((ends < self.size).any())

    def in_the_runs_order(self, draws: Draws) -> Draws:
        """Reads of a loader that never loses its place, as reads of the run's own order that have the same law.

        What is read of a remainder is a uniform subset of what its epoch has left. An epoch that is read to its end
        is read whole; of one that ends at offset n, and left the run's order at offset c, the n - c samples read since
        are divided over the offsets [c, n), which the run without failures has read by then, and [n, N). It says what
        is read in all: the steps of these rows are not those in which they are read.
        """
        by_epoch, firsts = _by_epoch(draws)
        if not len(by_epoch):
            return draws
        rows = []
        starts, steps = (np.minimum.reduceat(column[by_epoch], firsts) for column in (draws.start, draws.step))
        stops, per_steps = (np.maximum.reduceat(column[by_epoch], firsts) for column in (draws.stop, draws.per_step))
        epochs = draws.epoch[by_epoch[firsts]]
        columns = (column.tolist() for column in (epochs, starts, stops, steps, per_steps))
        for epoch, start, stop, step, per_step in zip(*columns, strict=True):
            rng = streams.generator(*self.order.drawn_by, "remainder", epoch, start, stop)
            classes = np.array([stop - start, self.size - stop])
            if classes[1]:
                read, beyond = thin(rng, classes, Groups.sized(np.array([2])), classes[:1]).tolist()
            else:
                read, beyond = stop - start, 0
            for low, count in ((start, read), (stop, beyond)):
                if count:
                    rows.append((0, epoch, 1, low, low + count, step, 0, max(1, per_step)))
        anew = Draws(*np.array(rows, dtype=np.int64).reshape(-1, 8).T.copy())
        return Draws.concat([draws.select(draws.family == 0), anew])


def _by_epoch(draws: Draws) -> tuple[Ints, Ints]:
    """The rows that have left the run's order, by epoch, and the place of each epoch's first among them."""
    anew = np.flatnonzero(draws.family != 0)
    by_epoch = anew[np.argsort(draws.epoch[anew], kind="stable")]
    return by_epoch, np.flatnonzero(np.diff(draws.epoch[by_epoch], prepend=-1))
