"""Random clusters, failures, recoveries, checkpoints and loaders together, checked after every event of the clock.

After every event each node is in one state; at the end legs and phases follow each other to the nanosecond, buckets sum
to the wall clock, and what the final model saw is what the literal loader delivers over the same legs, to the sample.
"""

import literal
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from literal.agreement import damage, of_ledger, off
from literal.compositions import EPOCHS, compositions
from literal.engine import shards_of
from measured.clustersim_model import loader_keys
from worlds import check_history, run_checked, scenarios

from clustersim import ScenarioError, load_scenario, order_for, simulate
from clustersim.loaders.build import loader_of
from clustersim.loaders.follow import Follower
from clustersim.storage.feeding import clock_feed
from clustersim.training.buckets import time_buckets
from clustersim.training.compile import World

BATCH = 60  # what every degree of `worlds.scenarios` divides
Z = 5.0
COMPOSITIONS = compositions(1000)


@st.composite
def worlds(draw):
    """A scenario with a loader that the literal one knows, and that loader's parts."""
    stated, _ = draw(st.sampled_from(COMPOSITIONS))
    by_shard = "shards" in stated.partition
    orders = ["sequential", "shard-shuffle"] if by_shard else ["shuffle", "shuffle-once", "sequential", "shard-shuffle"]
    samples = draw(st.integers(BATCH, 10 * BATCH))
    end = draw(
        st.sampled_from([{"wall_time": "2 h"}, {"steps": 90, "limit": "1 d"}, {"epochs": EPOCHS, "limit": "1 d"}])
    )
    said = {
        "run": {**end, "seed": draw(st.integers(0, 2**40)), "account": "interval"},
        "model.global_batch": BATCH,
        "data": {"samples": samples, "shards": draw(st.integers(15, 40)), "order": draw(st.sampled_from(orders))},
        "loader": loader_keys(stated, EPOCHS),
    }
    try:
        return load_scenario(draw(scenarios()), said), stated
    except ScenarioError:  # what the loader's parts ask of the rest
        assume(False)


def run_and_check(scenario):
    """The run of a scenario whose clock is checked after every event, and at the end."""
    loader = loader_of(scenario, order_for(scenario, scenario.run.seed))
    follower = Follower(loader) if loader.acts_on_time else None
    history = run_checked(World(scenario, scenario.run.seed, 0, clock_feed(scenario, follower)), scenario)
    check_history(history)
    wall_ns, node_ns = time_buckets(history, scenario.sizes.full_step_ns)
    assert sum(wall_ns.values()) == history.wall_ns
    assert min(wall_ns.values()) >= 0
    assert sum(node_ns.values()) == history.node_ns
    run = simulate(scenario)
    assert (run.history.legs, run.history.happenings) == (history.legs, history.happenings)  # looking changes nothing
    return run


def lives_of(history):
    """The lives (ranks, start, stop, read) of a job: legs between which the loader does not come back are one."""
    lives = []
    for before, leg in zip([None, *history.legs], history.legs, strict=False):
        row = (leg.data, leg.start, leg.stop, leg.read)
        if before is not None and before.goes_on and before.data == leg.data:
            row = (leg.data, lives.pop()[1], *row[2:])
        lives.append(row)
    return lives


def literally(stated, run, lives, steps):
    """Views of each sample in the first so many steps of the lineage of some lives, int64[N], by the literal loader."""
    order, size = order_for(run.scenario, run.seed), run.scenario.sizes.samples
    corpus = literal.Corpus(size, order=shards_of(order, size))
    line = literal.run(stated, corpus, [literal.Attempt(*life) for life in lives], BATCH, EPOCHS, 0)
    assert line.refused is None
    return np.array(line.counts(size, steps=steps))


def differences(run, stated):
    """How far the damage that intervals give is off that of a count of each sample, which is the literal loader's."""
    degree, planned_steps = run.scenario.sizes.data, run.planned_steps
    planned = literally(stated, run, [(degree, 0, planned_steps, planned_steps)], planned_steps)
    seen = literally(stated, run, lives_of(run.history), run.steps)
    assert (run.counts.planned.tolist(), run.counts.seen.tolist()) == (planned.tolist(), seen.tolist())
    ledger = run.account
    if ledger.exact == "identity":
        by_sample = run.counts.ledger().table
        assert [column.tolist() for column in ledger.table] == [column.tolist() for column in by_sample]
    return (of_ledger(ledger) - damage(planned, seen)).tolist()


@pytest.mark.parametrize("count", [60, pytest.param(2000, marks=pytest.mark.slow)])
def test_random_worlds(count):
    found = []

    @settings(
        max_examples=count,
        phases=[Phase.generate],  # a smaller world that fails is worth less than the minutes that it takes to find it
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(worlds())
    def play(world):
        scenario, stated = world
        run = run_and_check(scenario)
        if run.history.outcome != "refused":
            found.append(differences(run, stated))

    play()
    for figure in zip(*found, strict=True):
        assert abs(off(figure)) < Z
