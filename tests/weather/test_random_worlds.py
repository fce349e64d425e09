"""Random clusters, failures, recoveries, checkpoints and loaders together, checked after every event of the clock.

After every event each node is in one state; at the end legs and phases follow each other to the nanosecond, buckets sum
to the wall clock, and what the final model saw is what the literal loader delivers over the same legs, to the sample.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from literal.agreement import damage, of_ledger, off
from literal.poison import Victim
from weather.data_worlds import Life, data_worlds
from worlds import check_history, run_checked

from clustersim import simulate
from clustersim.loaders.build import loader_of
from clustersim.loaders.follow import Follower
from clustersim.loaders.taken_out import follower_of
from clustersim.simulation import orders_for
from clustersim.storage.feeding import clock_feed
from clustersim.training.buckets import time_buckets
from clustersim.training.compile import World

Z = 5.0


def run_and_check(scenario):
    """The run of a scenario whose clock is checked after every event, and at the end."""
    loader = loader_of(scenario, *orders_for(scenario, scenario.run.seed))
    follower = Follower(loader) if loader.acts_on_time else None
    if scenario.poison is not None:
        follower = follower_of(scenario, loader, scenario.run.seed, 0)
    history = run_checked(World(scenario, scenario.run.seed, 0, clock_feed(scenario, follower)), scenario)
    check_history(history)
    wall_ns, node_ns = time_buckets(history, scenario.sizes.full_step_ns)
    assert sum(wall_ns.values()) == history.wall_ns
    assert min(wall_ns.values()) >= 0
    assert sum(node_ns.values()) == history.node_ns
    run = simulate(scenario)
    assert (run.history.legs, run.history.happenings) == (history.legs, history.happenings)  # looking changes nothing
    return run


def lives_of(legs):
    """The lives of a job: legs between which the loader does not come back are one."""
    lives = []
    for before, leg in zip([None, *legs], legs, strict=False):
        life = Life(leg.leg, leg.data, leg.start, leg.stop, leg.read, before is not None and before.goes_on)
        if life.in_place and before.data == leg.data:
            last = lives.pop()
            life = life._replace(leg=last.leg, start=last.start, in_place=last.in_place)
        lives.append(life)
    return lives


def counted(batches, samples):
    """Views of each of so many samples in some batches, int64[samples]."""
    return np.bincount([x for batch in batches for x in batch], minlength=samples)


def trained(world, run):
    """What each step of the final model trained on, by the literal loader; it reads every leg where there is poison."""
    legs, poison = run.history.legs, world.scenario.poison
    if poison is None:
        return world.reads(lives_of(legs), run.steps)
    victim = Victim(poison.samples, poison.together, poison.retries, poison.act, world.scenario.sizes.batch)
    for number, leg in enumerate(legs):
        *before, life = lives_of(legs[: number + 1])
        batches = world.reads([*before, life._replace(stop=leg.read)], leg.read)
        victim.live(leg, batches[leg.start :])
    return victim.model[: run.steps]


def differences(run, world):
    """How far damage is off: of a count of each sample to the literal loader's, and of intervals to that count.

    The first is none, to the sample, where nothing but the order draws. int64[2, 3]
    """
    size, degree, steps = run.scenario.sizes.samples, run.scenario.sizes.data, run.planned_steps
    planned = counted(world.reads([Life(0, degree, 0, steps, steps)], steps), size)
    seen = counted(trained(world, run), size)
    ours, ledger = run.counts, run.account
    assert (ours.planned.sum(), ours.seen.sum()) == (planned.sum(), seen.sum())
    if not world.draws:
        assert (ours.planned.tolist(), ours.seen.tolist()) == (planned.tolist(), seen.tolist())
    if ledger.exact == "identity" and world.scenario.data.corpora is None:
        by_sample = ours.ledger().table
        assert [column.tolist() for column in ledger.table] == [column.tolist() for column in by_sample]
    by_sample = damage(ours.planned, ours.seen)
    return np.array([by_sample - damage(planned, seen), of_ledger(ledger) - by_sample])


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
    @given(data_worlds())
    def play(world):
        run = run_and_check(world.scenario)
        if run.history.outcome != "refused":
            found.append(differences(run, world))

    play()
    for figures in np.array(found).reshape(-1, 6).T:
        assert abs(off(figures.tolist())) < Z
