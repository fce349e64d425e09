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
    same_every_epoch = False

    def order(self, family, epoch):
        return np.random.default_rng((self.seed, family, epoch)).permutation(self.size)

    def samples_at(self, family, epoch, offsets):
        return self.order(family, epoch)[offsets]

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


def walk(spaces, draws):
    """Every read in turn: (row, epoch, offset, step, sample), found by stepping through the draws one by one."""
    for row in range(len(draws)):
        family, first = int(draws.family[row]), int(draws.epoch[row])
        step, lead = int(draws.step[row]), int(draws.lead[row])
        for epoch in range(first, first + int(draws.epochs[row])):
            order = spaces.order(family, epoch).tolist()
            for offset in range(int(draws.start[row]), int(draws.stop[row])):
                if lead == draws.per_step[row]:
                    step, lead = step + 1, 0
                yield row, epoch, offset, step, order[offset]
                lead += 1


def brute_counts(spaces, draws, before=None):
    """How often each sample is read, in steps before a given one: a Counter over samples."""
    return Counter(sample for *_, step, sample in walk(spaces, draws) if before is None or step < before)


def brute_table(spaces, planned, seen, before=None):
    """The ledger as a Counter over (planned, seen)."""
    in_plan, in_run = brute_counts(spaces, planned, before), brute_counts(spaces, seen, before)
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
        walk=walk,
        counts=brute_counts,
        brute=brute_table,
        table=ledger_table,
    )
