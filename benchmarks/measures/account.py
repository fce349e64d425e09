"""The account: the same legs at every size, and against going through every sample."""

import numpy as np
from measures.clock import LLAMA
from measures.timing import medians_s

from clustersim import load_scenario, simulate
from clustersim.account import count, count_identity
from clustersim.data.corpus import Corpus
from clustersim.data.orders import order_of
from clustersim.loaders.build import loader_of
from clustersim.loaders.follow import follow, plan
from clustersim.loaders.sequence import SequenceLoader

SIZES = (10**6, 10**9, 10**12, 10**15)


def reads_of(preset, size, epochs):
    """The order and what plan and lineage read, of Llama's legs over so many epochs: the batch scales with the size."""
    run = simulate(LLAMA)
    batch = max(1, int(epochs * size / run.steps))
    order = order_of("shuffle", Corpus(size, 1), 0, 0)
    reader = SequenceLoader(order, batch, loader_of(load_scenario(LLAMA, {"loader.preset": preset}), order).parts)
    planned, _ = reader.draws(plan(reader, 1, run.steps))
    seen, _ = reader.draws(follow(run.history, reader).kept)
    return order, planned, seen


def counting(preset, size, epochs=1.5):
    order, planned, seen = reads_of(preset, size, epochs)
    return lambda: count(order, planned, seen, np.random.default_rng(0))


def account_at_every_size():
    times = {
        preset: medians_s(*(counting(preset, size) for size in SIZES)) for preset in ("restore", "epoch", "reshuffle")
    }
    restore = times["restore"]
    yield "account of restore, 10^6 to 10^15 samples: slowest over fastest", max(restore) / min(restore), " times", 1.2
    yield "account of epoch, the slowest size", 1000 * max(times["epoch"]), " ms", 20
    yield "account of reshuffle, the slowest size", 1000 * max(times["reshuffle"]), " ms", 200


def account_against_every_sample():
    for preset, bar in (("epoch", 1000), ("reshuffle", 200)):
        order, planned, seen = reads_of(preset, 10**8, 2)
        by_law = counting(preset, 10**8, 2)
        slow, fast = medians_s(lambda o=order, p=planned, s=seen: count_identity(o, p, s).ledger(), by_law, turns=1)
        yield f"account of {preset} against a count of each of 10^8 samples, 2 epochs", slow / fast, " times", bar, True


MEASURES = (account_at_every_size,)
LONG = (account_against_every_sample,)
