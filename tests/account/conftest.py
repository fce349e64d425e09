"""Small orders made of true permutations, and a count of them that is slow and obvious."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from clustersim.account import Draws


@dataclass(frozen=True)
class UniformSpaces:
    """Each (family, epoch) is a permutation from a generator seeded by it."""

    size: int
    seed: int = 0
    law = "uniform"

    def order(self, family, epoch):
        return np.random.default_rng((self.seed, family, epoch)).permutation(self.size)

    def samples(self, family, epoch, start, stop):
        return self.order(family, epoch)[start:stop]

    def offset_of(self, family, epoch, sample):
        pairs = zip(family.tolist(), epoch.tolist(), strict=True)
        return np.array([int(np.flatnonzero(self.order(f, e) == sample)[0]) for f, e in pairs], np.int64)


@dataclass(frozen=True)
class ShardSpaces(UniformSpaces):
    """Each (family, epoch) permutes shards of given lengths."""

    lengths: tuple[int, ...] = ()
    law = "blocks"

    @property
    def block_starts(self):
        return np.concatenate(([0], np.cumsum(self.lengths)))

    def block_order(self, family, epoch):
        return np.random.default_rng((self.seed, family, epoch)).permutation(len(self.lengths))

    def order(self, family, epoch):
        starts = self.block_starts
        blocks = self.block_order(family, epoch).tolist()
        return np.concatenate([np.arange(starts[block], starts[block + 1]) for block in blocks])


def make_draws(*rows, per_step=8):
    """Draws of rows (family, epoch, start, stop) or (family, epoch, start, stop, epochs), one step after another."""
    full = [(*row, 1)[:5] for row in rows]
    family, epoch, start, stop, epochs = (np.array(column, np.int64) for column in zip(*full, strict=True))
    before = np.cumsum(epochs * (stop - start)) - epochs * (stop - start)
    return Draws(
        family, epoch, epochs, start, stop, before // per_step, before % per_step, np.full_like(start, per_step)
    )


def brute_counts(spaces, draws):
    """How often each sample is read: a Counter over samples, filled one read at a time."""
    counts = Counter()
    for family, epoch, epochs, start, stop in zip(
        *(getattr(draws, name).tolist() for name in ("family", "epoch", "epochs", "start", "stop")), strict=True
    ):
        for later in range(epochs):
            for sample in spaces.order(family, epoch + later)[start:stop].tolist():
                counts[sample] += 1
    return counts


def brute_table(spaces, planned, seen):
    """The ledger as a Counter over (planned, seen)."""
    in_plan, in_run = brute_counts(spaces, planned), brute_counts(spaces, seen)
    return Counter((in_plan[sample], in_run[sample]) for sample in range(spaces.size))


def ledger_table(ledger):
    """A ledger's table as a Counter over (planned, seen)."""
    return Counter({(p, s): n for p, s, n in zip(*(column.tolist() for column in ledger.table), strict=True)})


@pytest.fixture(scope="session")
def account() -> SimpleNamespace:
    """What the tests of this room share."""
    return SimpleNamespace(
        uniform=UniformSpaces,
        shards=lambda lengths, seed=0: ShardSpaces(sum(lengths), seed, tuple(lengths)),
        draws=make_draws,
        counts=brute_counts,
        brute=brute_table,
        table=ledger_table,
    )
