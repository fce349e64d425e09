"""The legs of the main job, 54 days with some 466 restarts, counted at several sizes and against each sample."""

import math
import statistics

import numpy as np
import pytest

from clustersim import load_scenario, simulate
from clustersim.account import count, count_identity
from clustersim.data.corpus import Corpus
from clustersim.data.orders import order_of
from clustersim.loaders.follow import follow, plan
from clustersim.loaders.parts import Parts
from clustersim.loaders.sequence import SequenceLoader

PARTS = {
    "restore": Parts("samples", "exact"),
    "epoch": Parts("epoch", "restart-epoch"),
    "reshuffle": Parts("samples", "reshuffle"),
    "no-rewind": Parts("nothing", "continue"),
}
BATCH = 2


@pytest.fixture(scope="module")
def run():
    return simulate(load_scenario("llama3-405b"))


def reads(run, loader, size, seed=0, batch=BATCH):
    order = order_of("shuffle", Corpus(size, 1), seed, 0)
    reader = SequenceLoader(order, batch, PARTS[loader])
    planned, _ = reader.draws(plan(reader, 1, run.steps))
    seen, _ = reader.draws(follow(run.history, reader).kept)
    return order, planned, seen


@pytest.mark.parametrize("epochs", [0.7, 1.0, 2.0])
@pytest.mark.parametrize("loader", ["restore", "epoch"])
def test_exact_where_one_permutation_holds_all_the_damage(run, loader, epochs):
    """Legs are far shorter than an epoch, so `epoch` never leaves the first one; the plan ends on an epoch's end."""
    size = int(run.steps * BATCH / epochs)
    order, planned, seen = reads(run, loader, size)
    interval = count(order, planned, seen, np.random.default_rng(0))
    identity = count_identity(order, planned, seen).ledger()
    assert interval.exact == "identity"
    for ours, theirs in zip(interval.table, identity.table, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert (interval.extra > 0) == (loader == "epoch")


@pytest.mark.parametrize(
    ("loader", "epochs"), [("epoch", 1.4), ("reshuffle", 0.7), ("reshuffle", 1.4), ("no-rewind", 1.4)]
)
def test_in_distribution_elsewhere(run, loader, epochs):
    """Extra views and samples never seen, by sample under six seeds' orders against sixty draws of the account."""
    size = 1_000_000 if epochs < 1.4 else int(run.steps * BATCH / epochs)
    order, planned, seen = reads(run, loader, size)
    ledgers = [count(order, planned, seen, np.random.default_rng(seed)) for seed in range(60)]
    assert {ledger.exact for ledger in ledgers} == {"distribution"}
    true = [count_identity(*reads(run, loader, size, seed)).ledger() for seed in range(6)]
    for figure in ("extra", "missing", "never"):
        ours, theirs = ([getattr(ledger, figure) for ledger in side] for side in (ledgers, true))
        deviation = max(statistics.stdev(ours), 1e-9)
        z = (statistics.mean(ours) - statistics.mean(theirs)) / (deviation * math.sqrt(1 / 60 + 1 / 6))
        assert abs(z) < 4, figure
        assert statistics.mean(ours) > 1000


@pytest.mark.parametrize("loader", ["epoch", "reshuffle"])
def test_the_damage_is_the_same_share_at_every_size(run, loader):
    """The batch scales with the samples, and so does the damage, within its deviation of the order of the root of N."""
    shares = []
    for scale in (1, 10**3, 10**6, 10**9):
        order, planned, seen = reads(run, loader, 1_000_000 * scale, batch=BATCH * scale)
        shares.append(count(order, planned, seen, np.random.default_rng(0)).extra / (1_000_000 * scale))
    assert max(abs(share - shares[-1]) for share in shares) < 5 * shares[-1] / 1000
