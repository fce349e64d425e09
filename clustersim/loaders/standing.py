"""Where readers stand, what they deliver, and what a checkpoint keeps of them."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from clustersim.loaders.deal import Deal
from clustersim.loaders.listed import Listed
from clustersim.loaders.passes import Pass

Ints = NDArray[np.int64]

_NO_BATCHES = np.zeros((1, 0), np.int64)


@dataclass(frozen=True, eq=False)
class Standing:
    """Where the readers stand in their epoch, which is read in the order `family` of epoch `order_epoch`."""

    ranks: int
    step: int  # steps that the run has trained
    epoch: int
    read: Ints  # int64[ranks, workers], the local position of each reader; [1, 1] if the ranks split what one reads
    turn: Ints  # int64[ranks], the worker that delivers next
    counted: Ints  # int64[ranks], batches of the epoch by each rank's own count
    snapshot: Ints  # `read` at the last count that snapshots are taken at
    snapshot_turn: Ints  # `turn` then
    base: Ints  # int64[ranks, workers], with buffers: `read` where each reader's flow began
    before: Ints  # int64[ranks, workers], which of the carried buffers it began with, -1: an empty one
    first: int  # the ranks that the run began with
    family: int = 0
    order_epoch: int | None = None  # None: the epoch's own
    attempt: int = 0  # the restart that the buffers' random numbers are of, 0: they are the same after every one
    origin: int = 0  # the epoch that the seed calls 0
    rest: Deal | Listed | None = None  # what they read until the epoch's end, where it is not dealt as epochs are
    skipped: int = 0  # samples that each reader passes over at every epoch's start
    ahead: Ints = field(default_factory=lambda: _NO_BATCHES)  # int64[ranks, batches], fetched on other ranks: samples
    own_count: int = 0  # samples of the epoch that each rank took, by a count that a restart takes up


@dataclass(frozen=True, eq=False)
class Journey:
    """What the readers deliver in a run of steps, epoch by epoch."""

    step: int
    steps: int
    passes: tuple[Pass, ...]


@dataclass(frozen=True, slots=True)
class Traveled:
    """Steps delivered (fewer than asked if the loader came to its end), and where the readers stand after them."""

    stretch: Journey
    position: Standing


@dataclass(frozen=True, eq=False)
class Kept:
    """What a checkpoint keeps of the readers."""

    at: Standing
    finished: bool = False
