"""What the account asks of the orders that samples are read in."""

from __future__ import annotations

from typing import Literal, Protocol, TypeGuard

import numpy as np

from clustersim.account.draws import Ints


class Orders(Protocol):
    """What a sweep asks of the orders of a run."""

    @property
    def size(self) -> int:
        """N, the samples of an epoch."""
        ...

    @property
    def same_every_epoch(self) -> bool:
        """Whether all epochs of a family read the samples in one and the same order."""
        ...


class Spaces(Orders, Protocol):
    """The orders of a run: for each (family, epoch) a bijection from offsets [0, N) to samples [0, N).

    Under the law "uniform" distinct (family, epoch) are independent uniform permutations; where every epoch of a family
    is the same, distinct families are. Under "blocks" an epoch
    permutes blocks of consecutive samples, and the object is a `BlockSpaces`. Under "other" reads can be counted
    sample by sample only.
    """

    @property
    def law(self) -> Literal["uniform", "blocks", "other"]:
        """How the orders of two epochs depend on each other."""
        ...

    def samples_at(self, family: int, epoch: int, offsets: Ints) -> Ints:
        """The samples at some offsets, int64 of their shape."""
        ...

    def offset_of(self, family: Ints, epoch: Ints, sample: int) -> Ints:
        """Where each (family, epoch), int64[n] and int64[n], reads the sample: int64[n]."""
        ...


class BlockSpaces(Spaces, Protocol):
    """Orders that deal out blocks (shards): an epoch reads whole blocks one after another, each in sample order."""

    @property
    def block_starts(self) -> Ints:
        """Boundaries of the K blocks in samples, int64[K + 1], from 0 to N, never falling."""
        ...

    def block_order(self, family: int, epoch: int) -> Ints:
        """The blocks in the order in which the epoch reads them, a permutation, int64[K]."""
        ...


class YieldingSpaces(Spaces, Protocol):
    """Spaces, under the law "other", that may hold a sample several times, or never; a row reads a single epoch."""

    def offsets_of(self, family: int, sample: int, stop: int) -> Ints:
        """All offsets below `stop` at which the sample stands, rising, int64."""
        ...


def yields(spaces: Spaces) -> TypeGuard[YieldingSpaces]:
    """Whether a sample may stand at several offsets."""
    return hasattr(spaces, "offsets_of")


def in_blocks(spaces: Spaces) -> TypeGuard[BlockSpaces]:
    """Whether the orders permute blocks, and so can be asked for them."""
    return spaces.law == "blocks"


def cells_of(spaces: Spaces) -> Ints:
    """Boundaries of the cells that a ledger tells apart: of the blocks of samples, if there are any, else [0, N]."""
    cells: Ints = getattr(spaces, "block_starts", np.array([0, spaces.size]))
    return cells


def reach_of(spaces: Spaces) -> int:
    """How many offsets an epoch has; more than N only under the law "other", where samples may stand in it twice."""
    reach: int = getattr(spaces, "reach", spaces.size)
    return reach
