"""Conservation laws over random scenarios: nodes after every event, nanoseconds, steps and views at the end."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from worlds import check_history, run_checked, scenarios, world_of

from clustersim import load_scenario, simulate
from clustersim.account import count, count_identity
from clustersim.training.buckets import time_buckets


@settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(scenarios())
def test_nodes_and_nanoseconds(scenario):
    history = run_checked(world_of(scenario), scenario)
    check_history(history)
    wall_ns, node_ns = time_buckets(history, scenario.sizes.full_step_ns)
    assert sum(wall_ns.values()) == history.wall_ns
    assert min(wall_ns.values()) >= 0
    assert sum(node_ns.values()) == history.node_ns
    if scenario.sizes.wall_ns is not None and history.outcome == "done":
        assert history.wall_ns == scenario.sizes.wall_ns
    if scenario.run.steps is not None and history.outcome == "done":
        assert history.legs[-1].stop == scenario.run.steps


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(scenarios())
def test_views(scenario):
    run = simulate(scenario)
    ledger, sizes = run.account, scenario.sizes
    assert int(ledger.samples.sum()) == sizes.samples
    assert ledger.views == run.steps * sizes.batch
    assert ledger.planned_views == run.planned_steps * sizes.batch
    assert ledger.extra - ledger.missing == ledger.views - ledger.planned_views
    interval = count(run.spaces, run.planned_draws, run.seen_draws, np.random.default_rng(0))
    identity = count_identity(run.spaces, run.planned_draws, run.seen_draws).ledger()
    assert (interval.views, interval.planned_views) == (identity.views, identity.planned_views)
    if interval.exact == "identity":
        for ours, theirs in zip(interval.table, identity.table, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    if scenario.loader.preset == "restore" and run.history.outcome == "done":
        assert ledger.extra == 0
        assert ledger.missing == run.summary()["missing_views"] == 0
        assert run.summary()["identical_steps_share"] == 1.0


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(scenarios())
def test_the_story_of_every_sample_sums_to_the_ledger(scenario):
    run = simulate(scenario)
    legs = run.history.legs
    reads = 0
    for sample in range(scenario.sizes.samples):
        story = run.sample(sample)
        assert (story["fate"] == "kept").sum() == run.counts.seen[sample]
        reads += len(story)
        for step in story.loc[story["fate"] == "kept", "step"].head(2):
            assert sample in run.batch(step)
    assert reads == sum(leg.read - leg.start for leg in legs) * scenario.sizes.batch


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(scenarios(), st.sampled_from(["identity", "interval"]))
def test_damage_by_restart_ends_in_the_ledger(scenario, account):
    scenario = load_scenario(scenario, {"run.account": account})
    run = simulate(scenario)
    damage = run.damage
    assert len(damage) == len(run.history.legs) - 1
    if len(damage):
        last = damage.iloc[-1]
        assert (last["extra_views"], last["missing_views"]) == (run.account.extra, run.account.missing)
    assert (damage[["extra_views", "missing_views", "discarded_views"]] >= 0).all(axis=None)
    planned = np.minimum(damage["lineage_views"] // scenario.sizes.batch, run.planned_steps) * scenario.sizes.batch
    surplus = damage["lineage_views"] - planned
    assert (damage["extra_views"] - damage["missing_views"])[:-1].tolist() == surplus[:-1].tolist()
