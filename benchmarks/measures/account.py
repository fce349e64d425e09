"""The account: the same legs at every size, and against going through every sample."""

from dataclasses import replace
from math import sqrt
from statistics import mean, stdev

import numpy as np
from measures.clock import LLAMA
from measures.process import peak_mb
from measures.timing import beside_timeouts, medians_s, reference_ms

from clustersim import ScenarioError, load_scenario, simulate
from clustersim.account import count, count_identity
from clustersim.data.corpus import Corpus
from clustersim.data.orders import order_of
from clustersim.loaders.build import loader_of
from clustersim.loaders.follow import follow, plan
from clustersim.loaders.sequence import SequenceLoader
from clustersim.scenario.load import presets

SIZES = (10**6, 10**9, 10**12, 10**15)
AT_SCALE = {
    "parallelism": {"tensor": 8, "pipeline": 1, "context": 1, "data": 2048, "min_data": 1024},
    "loader.readers_per_rank": 8,
    "data.shards": 20_000,
    "data.order": "shard-shuffle",
}
SHUFFLED = {"data.order": "shuffle"}
ONE_READER = {"loader.readers_per_rank": 1}


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


def against_every_sample(preset):
    """How long an account of 10^8 samples takes, sample by sample and by law, and by how much their extra views differ.

    The first applies the orders to every view, and counts the views of every sample: some minutes, and 5 GB.
    """
    order, planned, seen = reads_of(preset, 10**8, 2)
    (fast,) = medians_s(lambda: count(order, planned, seen, np.random.default_rng(0)))
    extra = [count(order, planned, seen, np.random.default_rng(seed)).extra for seed in range(20)]
    ledgers = []
    (slow,) = medians_s(lambda: ledgers.append(count_identity(order, planned, seen).ledger()), turns=1)
    off = abs(ledgers[0].extra - mean(extra))
    assert off <= 5 * stdev(extra) * sqrt(1 + 1 / len(extra))
    return slow, fast, off / ledgers[0].extra


def account_against_every_sample():
    for preset, bar in (("epoch", 1000), ("reshuffle", 200)):
        slow, fast, off = against_every_sample(preset)
        what = f"account of {preset} against a count of each of 10^8 samples, 2 epochs"
        told = f"{slow:.0f} s, {1000 * fast:.1f} ms; extra views differ by {off:.1g} of them"
        yield what, slow / fast, " times", bar, True, told


def sixteen_thousand_readers():
    """20,000 shards over 2,048 ranks of 8 workers."""
    for preset, what, bar_s, bar_mb in (
        ("torchdata-iterable-buffer", "lose a buffer of 1,000 each", 1, 300),
        ("webdataset-no-state", "begin their epoch again", 2, 500),
    ):
        scenario = load_scenario(LLAMA, AT_SCALE | {"loader.preset": preset})
        run = simulate(scenario)
        (account,) = beside_timeouts(lambda run=run: replace(run).account)
        told = f"account of 16,384 readers that {what}"
        yield f"{told}, on the machine of the bars", reference_ms(account) / 1000, " s", bar_s
        simulated = f"run = cs.simulate(cs.load_scenario(scenario, {AT_SCALE | {'loader.preset': preset}}))"
        yield f"{told}: its memory", peak_mb(f"{simulated}; run.account") - peak_mb(simulated), " MB", bar_mb


def every_preset():
    """The same with each preset: readers or, where it has none, ranks; in shards that are shuffled or, if it has to be,
    in a full shuffle.
    """
    for preset in presets():
        for shape in (AT_SCALE, AT_SCALE | SHUFFLED, AT_SCALE | ONE_READER, AT_SCALE | SHUFFLED | ONE_READER):
            try:
                scenario = load_scenario(LLAMA, shape | {"loader.preset": preset})
            except ScenarioError:  # the next may go together with it
                continue
            run = simulate(scenario)
            (account,) = medians_s(lambda run=run: replace(run).account, turns=1)
            simulated = f"run = cs.simulate(cs.load_scenario(scenario, {shape | {'loader.preset': preset}}))"
            told = f"{peak_mb(f'{simulated}; run.account') - peak_mb(simulated):.0f} MB"
            yield f"account of 2,048 ranks, 466 restarts, with {preset}", account, " s", None, False, told
            break


MEASURES = (account_at_every_size, sixteen_thousand_readers)
LONG = (account_against_every_sample,)
# Of use when something is slow, and no part of the table.
ALONE = (every_preset,)
