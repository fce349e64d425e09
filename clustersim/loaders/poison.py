"""The record of death: samples that crash the job at the step that reads them, alone or only together in a batch.

Where the order comes back after a restart the job dies at the same step again and again, until a policy acts. Where it
does not, the crash wanders: it cannot be reproduced, and may be passed by chance. Pure functions over positions: a
step reads the positions [step * batch, (step + 1) * batch) of an endless sequence, epoch after epoch of N.
"""

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustersim.account import Spaces
from clustersim.data.orders import Order, Shuffle, WithReplacement
from clustersim.data.permutation import permutation
from clustersim.streams import Hashed

Ints = NDArray[np.int64]
ComesBack = Literal["exact", "reshuffle", "remainder"]
Act = Literal["skip-batch", "quarantine", "bisect"]


@dataclass(frozen=True)
class Poison:
    """Samples of which `together` in one batch crash the step that reads it."""

    samples: tuple[int, ...]
    together: int = 1

    @classmethod
    def share(cls, share: float, size: int, seed: int, replication: int, together: int = 1) -> "Poison":
        """So large a share of a corpus of `size` samples, rounded to whole samples: any of them alike."""
        count = np.arange(round(share * size))
        keys = Hashed(seed, replication, "poison").words(np.array([0]), np.array([0]))
        return cls(tuple(sorted(permutation(size).forward(count, keys).tolist())), together)


class Deadly(NamedTuple):
    """A step that crashes, and the poison samples of its batch."""

    step: int
    samples: tuple[int, ...]


def first_deadly(poison: Poison, places: Ints, batch: int, start: int, stop: int) -> Deadly | None:
    """The first step of [start, stop) that reads enough poison.

    Args:
        poison: the samples.
        places: where each of them is read, as positions of the whole sequence; int64[epochs, samples].
        batch: samples a step.
        start: the first step that may be it.
        stop: the step behind the last one.
    """
    steps = places // batch
    inside = (steps >= start) & (steps < stop)
    found, counts = np.unique(steps[inside], return_counts=True)
    deadly = found[counts >= poison.together]
    if not len(deadly):
        return None
    step = int(deadly[0])
    where = np.nonzero(steps == step)[1]
    return Deadly(step, tuple(sorted(poison.samples[index] for index in where.tolist())))


def places_of(poison: Poison, order: Spaces, family: int, epochs: range) -> Ints:
    """The positions of each sample in each epoch of an order's family, int64[epochs, samples].

    Raises:
        ValueError: the order draws with replacement, so that no sample has a position.
    """
    if isinstance(order, WithReplacement):
        raise ValueError("samples that are drawn with replacement have no position")
    epoch = np.arange(epochs.start, epochs.stop, dtype=np.int64)
    if isinstance(order, Shuffle):  # asks for all at once
        samples = np.array(poison.samples, dtype=np.int64)
        offsets = order.offset_of(np.full((len(epoch), 1), family), epoch[:, None], samples)
    else:
        each = [order.offset_of(np.full_like(epoch, family), epoch, sample) for sample in poison.samples]
        offsets = np.array(each, dtype=np.int64).reshape(len(each), len(epoch)).T
    return epoch[:, None] * order.size + offsets


@dataclass(frozen=True)
class Policy:
    """What is done about crashes: so many retries at the same step, and then something.

    skip-batch: the step trains on nothing. quarantine: who looks at the batch knows the poison in it, and it is read
    never again. bisect: the same after a search, a restart for each half of the batch until one sample is left.
    """

    retries: int = 3
    act: Act = "skip-batch"


class Hunt(NamedTuple):
    """What poison did to a run."""

    crashes: tuple[int, ...]
    """The steps that crashed, in the order in which they did; trials of a bisection are not among them."""
    acted_at: tuple[int, ...]
    """The steps that crashed often enough for the policy to act: there the record was found, nowhere else."""
    restarts: int
    """Crashes, and trials of bisections."""
    rolled_back_steps: int
    taken_out: tuple[tuple[int, int], ...]
    """Runs [from, to) of positions that are read and not trained on, by the policy; rising."""
    done: bool
    """False: given up after so many restarts as were allowed."""

    @property
    def missing_views(self) -> int:
        """Views that the policy took away."""
        return sum(high - low for low, high in self.taken_out)


class Trail:
    """Crashes so far, and what was done about them: which steps are skipped, and which samples are in quarantine."""

    def __init__(self, poison: Poison, batch: int, policy: Policy | None) -> None:
        """`policy`: None: nothing is ever done.

        Raises:
            ValueError: a bisection looks for samples that only kill together: no half of the batch may hold all of
                them.
        """
        if policy is not None and policy.act == "bisect" and poison.together > 1:
            raise ValueError("expected samples that kill alone with a bisection, whose halves may part the others")
        self.crashes: list[int] = []
        self.acted_at: list[int] = []
        self._policy = policy
        self._batch = batch
        self._crashed: Counter[int] = Counter()
        self._skipped: set[int] = set()
        self._poison = poison
        self._read = np.ones(len(poison.samples), dtype=np.bool_)  # which samples are not in quarantine
        self._left = poison  # they

    @property
    def trials_each(self) -> int:
        """Restarts that the policy takes for a search, each time that it acts."""
        searches = self._policy is not None and self._policy.act == "bisect"
        return bisection_restarts(self._batch) if searches else 0

    @property
    def restarts(self) -> int:
        """Crashes, and trials of searches."""
        return len(self.crashes) + len(self.acted_at) * self.trials_each

    def next_deadly(self, places: Ints, start: int, stop: int) -> Deadly | None:
        """The first step of [start, stop) that crashes, with the samples at `places`, int64[epochs, samples]."""
        left = places[:, self._read]
        met = first_deadly(self._left, left, self._batch, start, stop)
        while met is not None and met.step in self._skipped:
            met = first_deadly(self._left, left, self._batch, met.step + 1, stop)
        return met

    def crash(self, met: Deadly) -> bool:
        """It crashed: whether the policy acts."""
        self.crashes.append(met.step)
        self._crashed[met.step] += 1
        if self._policy is None or self._crashed[met.step] <= self._policy.retries:
            return False
        self.acted_at.append(met.step)
        if self._policy.act == "skip-batch":
            self._skipped.add(met.step)
        else:
            self._read &= ~np.isin(self._poison.samples, met.samples)
            left = np.array(self._poison.samples)[self._read]
            self._left = replace(self._poison, samples=tuple(left.tolist()))
        return True

    def skipped(self, steps: int) -> list[tuple[int, int]]:
        """Runs [from, to) of positions of the skipped steps below `steps`, in no order."""
        return [(step * self._batch, (step + 1) * self._batch) for step in self._skipped if step < steps]

    def quarantined(self, places: Ints, start: int, stop: int) -> list[tuple[int, int]]:
        """Runs [from, to) of positions, a sample each, that steps [start, stop) read with samples in quarantine."""
        if self._read.all():
            return []
        gone = places[:, ~self._read]
        inside = gone[(gone >= start * self._batch) & (gone < stop * self._batch)]
        return [(place, place + 1) for place in inside.tolist()]


def hunt(
    poison: Poison,
    order: Order,
    batch: int,
    steps: int,
    every: int,
    comes_back: ComesBack = "exact",
    policy: Policy | None = None,
    limit: int = 1000,
) -> Hunt:
    """Play a run of so many steps over poison, restart by restart.

    Args:
        poison: the samples.
        order: in which samples are read; its family k is the order after restart k.
        batch: samples a step.
        steps: the run's length.
        every: steps from a checkpoint to the next.
        comes_back: how the loader comes back to a checkpoint: "exact"; to its position in a new order of the epoch,
            which lasts until the epoch ends ("reshuffle"); or of what is unread of it ("remainder").
        policy: what is done about crashes; None: the job is restarted and nothing else.
        limit: restarts after which the run is given up.

    Raises:
        ValueError: as `Trail`.
    """
    trail = Trail(poison, batch, policy)
    places = places_of(poison, order, 0, range(-(-steps * batch // order.size)))
    taken_out: list[tuple[int, int]] = []
    rolled_back = start = 0
    met = None
    while trail.restarts < limit:
        met = trail.next_deadly(places, start, steps)
        restart = steps if met is None else met.step // every * every
        taken_out += trail.quarantined(places, start, restart)
        if met is None:
            break
        rolled_back += met.step - restart
        trail.crash(met)
        start = restart
        if comes_back != "exact":
            places = _moved(poison, places, order, len(trail.crashes), start * batch, comes_back)
    return Hunt(
        crashes=tuple(trail.crashes),
        acted_at=tuple(trail.acted_at),
        restarts=trail.restarts,
        rolled_back_steps=rolled_back,
        taken_out=tuple(sorted(taken_out + trail.skipped(steps))),
        done=met is None,
    )


def _moved(poison: Poison, places: Ints, order: Order, restart: int, start: int, comes_back: ComesBack) -> Ints:
    """Where the samples lie after a restart at position `start`: in its epoch another order holds from there on."""
    epoch, into = divmod(start, order.size)
    places = places.copy()
    row = places[epoch]
    if comes_back == "reshuffle":
        row[:] = places_of(poison, order, restart, range(epoch, epoch + 1))[0]
    else:
        unread = row >= start
        keys = Hashed(*order.drawn_by, "poison", "remainder").words(np.array([restart]), np.array([epoch]))
        row[unread] = start + permutation(order.size - into).forward(row[unread] - start, keys)
    return places


# --- closed forms


def deadly_batches(size: int, batch: int, poisoned: int, together: int = 1) -> float:
    """Expected batches of an epoch that hold at least `together` of so many poison samples, whichever those are.

    In any order a batch is a uniform draw with regard to samples that lie anywhere in the corpus alike:
    N / B times the tail of the hypergeometric law. For a pair that is (B - 1) / (N - 1).
    """
    from scipy.stats import hypergeom

    return size / batch * float(hypergeom.sf(together - 1, size, poisoned, batch))


def crashes_reshuffled(blocks: float) -> float:
    """Mean crashes over an epoch of one poison sample where each restart reshuffles the epoch: (M / (M - 1))^M - 1.

    M checkpoint intervals make the epoch, M > 1. From checkpoint c the sample lies in each of the M intervals with
    probability 1 / M, behind or ahead; so E_c + 1 = (E_(c + 1) + 1) M / (M - 1). Towards e - 1 for many intervals.
    """
    return float((blocks / (blocks - 1)) ** blocks) - 1


def crashes_reshuffled_law(blocks: int, most: int) -> NDArray[np.float64]:
    """P(n crashes) for n = 0 .. most, float64[most + 1]: as `crashes_reshuffled`; towards n / (n + 1)!.

    Generating functions: G_M = 1 and (1 - z / M) G_c = G_(c + 1) - 1 / M.
    """
    law = np.zeros(most + 1)
    law[0] = 1.0
    for _ in range(blocks):
        law[0] -= 1 / blocks
        for crashes in range(1, most + 1):
            law[crashes] += law[crashes - 1] / blocks
    return law


def crashes_until_cornered(blocks: int) -> float:
    """Mean crashes until only the last checkpoint interval of an epoch is left, where each restart reshuffles the rest.

    The sample is always ahead: it wanders towards the epoch's end, and there it crashes for ever. 1 + H_(M - 1) for
    M > 1 intervals, the crash that first falls into the last one included: T(m) = 1 + the mean of T(1) .. T(m).
    """
    return 1 + math.fsum(1 / blocks_left for blocks_left in range(1, blocks))


def bisection_restarts(batch: int) -> int:
    """Restarts that find one sample in a batch by halves: ceil(log2 B)."""
    return (batch - 1).bit_length()
