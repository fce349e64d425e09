"""What a run costs: `pytest benchmarks`. Read the table; nothing here asserts a time."""

import numpy as np
import pytest
import simpy

from clustersim import load_scenario, simulate
from clustersim.account import count
from clustersim.training.compile import World

LLAMA = load_scenario("llama3-405b")


def bare_timeouts(events):
    """So many timeouts of one SimPy process."""
    env = simpy.Environment()

    def process():
        for _ in range(events):
            yield env.timeout(1)

    env.process(process())
    env.run()


def events_of(scenario):
    world, events = World(scenario, 0, 0), 0
    while not world.job.over.processed:
        world.env.step()
        events += 1
    return events


def test_bare_loop_of_as_many_events(benchmark):
    benchmark(bare_timeouts, events_of(LLAMA))


def test_llama_clock(benchmark):
    history = benchmark(lambda: World(LLAMA, 0, 0).run())
    failures = sum(happening.kind == "failure" for happening in history.happenings)
    assert events_of(LLAMA) <= 6 * failures


@pytest.mark.parametrize("loader", ["restore", "epoch", "reshuffle", "no-rewind"])
def test_llama_account(benchmark, loader):
    """The ledger of a run whose corpus is passed three times."""
    run = simulate(load_scenario(LLAMA, {"loader.preset": loader, "data.documents": "5 B"}))
    planned, seen = run.planned_draws, run.seen_draws
    benchmark(lambda: count(run.order, planned, seen, np.random.default_rng(0)))


@pytest.mark.parametrize("loader", ["restore", "epoch", "reshuffle"])
@pytest.mark.parametrize("scale", [10**6, 10**9, 10**12, 10**15])
def test_account_of_a_fixed_history_at_every_size(benchmark, loader, scale):
    """The legs of the main job with the batch scaled to the samples: 466 restarts over an epoch and a half."""
    base = simulate(LLAMA)
    batch = max(1, scale * 3 // (2 * base.steps))
    changes = {"model.global_batch": batch, "data": {"samples": base.steps * batch * 2 // 3}, "loader.preset": loader}
    changes |= {"model.flops_per_gpu": "", "model.step_time": "6.2208 s", "parallelism": {}, "cluster.gpus_per_node": 1}
    changes |= {"cluster.nodes": 1, "failures": []}
    run = simulate(load_scenario({**LLAMA.resolved(), "failures": []}, {k: v for k, v in changes.items() if v != ""}))
    benchmark(lambda: count(run.order, run.planned_draws, run.seen_draws, np.random.default_rng(0)))
