"""The main job: 54 days of Llama 3 405B on 2,048 nodes (arXiv 2407.21783), from its published inputs."""

import math
import statistics

import pytest

from clustersim import load_scenario, simulate

DAY_NS = 86_400 * 10**9


@pytest.fixture(scope="module")
def runs():
    scenario = load_scenario("llama3-405b")
    return [simulate(scenario, replication) for replication in range(100)]


def test_step_time_and_feed(runs):
    summary = runs[0].summary()
    assert summary["step_s"] == pytest.approx(6.2, abs=0.05)
    assert summary["feed_tokens_per_s"] == pytest.approx(2.7e6, rel=0.01)
    assert summary["feed_bytes_per_s"] == pytest.approx(10.8e6, rel=0.01)


def test_more_than_ninety_percent_effective_training_time(runs):
    """The lower 95 % bound of the mean."""
    values = [run.summary()["ettr"] for run in runs]
    assert statistics.mean(values) - 1.98 * statistics.stdev(values) / math.sqrt(len(values)) > 0.90


@pytest.mark.parametrize(("planned", "expected"), [(False, 419), (True, 466)])
def test_failures_of_the_job_in_54_days_of_its_time(runs, planned, expected):
    """Node causes by node-days that the job held, causes of the job by days: 419 unexpected, 47 planned."""
    by_scope = {"node": (0.0, 0.0), "job": (0.0, 0.0)}
    stochastic = {failure.cause: failure for failure in runs[0].scenario.failures}
    for run in runs:
        hits = [h for h in run.history.happenings if h.kind == "failure" and h.where == "job"]
        hits = [h for h in hits if planned or h.cause != "planned maintenance"]
        of_nodes = sum(stochastic[h.cause].scope == "node" for h in hits)
        node_share = run.history.node_ns / (2048 * 54 * DAY_NS)
        for scope, count, share in (("node", of_nodes, node_share), ("job", len(hits) - of_nodes, 1.0)):
            counted, exposed = by_scope[scope]
            by_scope[scope] = (counted + count, exposed + share)
    rate = sum(counted / exposed for counted, exposed in by_scope.values())
    assert abs(rate - expected) < 3 * math.sqrt(expected / len(runs))


def test_interruptions_are_a_poisson_stream(runs):
    counts = [run.summary()["interruptions"] for run in runs]
    assert statistics.variance(counts) / statistics.mean(counts) == pytest.approx(1, abs=4 * math.sqrt(2 / 99))


def test_restore_is_sound_and_nothing_is_lost(runs):
    for run in runs[:10]:
        assert run.account.extra == run.account.missing == 0
        assert run.account.views == run.steps * 2048
        assert sum(run.time_ns.values()) == run.history.wall_ns == 54 * DAY_NS


@pytest.mark.parametrize("loader", ["epoch", "reshuffle"])
def test_other_loaders_damage_millions_over_several_epochs(loader):
    scenario = load_scenario("llama3-405b", {"loader.preset": loader, "data.documents": "5 B"})
    extra = [simulate(scenario, replication).summary()["extra_views"] for replication in range(10)]
    assert min(extra) > 10**8
    assert statistics.stdev(extra) < 0.05 * statistics.mean(extra)


def test_never_seen_under_reshuffling_within_one_epoch():
    """Less than an epoch is planned: a sample is never seen where no leg's order reads it."""
    scenario = load_scenario("llama3-405b", {"loader.preset": "reshuffle"})
    scores = []
    for replication in range(12):
        run = simulate(scenario, replication)
        size = run.loader.size
        unseen = math.prod(1 - stretch.steps * 2048 / size for stretch in run.reads.kept)
        # The plan's part that the first leg read in the plan's own order was seen; the rest is independent of it.
        first = run.reads.kept[0].steps * 2048
        planned_later = run.steps * 2048 - first
        expected = planned_later * unseen / (1 - first / size)
        assert run.account.never == pytest.approx(expected, rel=1e-3)
        scores.append((run.account.never - expected) / math.sqrt(expected))
    assert abs(statistics.mean(scores)) < 4


def test_one_sample_is_found_in_a_second(runs):
    story = runs[0].sample(123_456_789)
    assert (story["fate"] == "kept").sum() in (0, 1)
    kept = story[story["fate"] == "kept"]
    assert all(123_456_789 in runs[0].batch(step) for step in kept["step"])


def test_events_are_paid_per_failure_only(runs):
    """At most six a failure, none a checkpoint and none an idle node."""
    from clustersim.training.compile import World

    world, events = World(runs[0].scenario, 0, 0), 0
    while not world.job.over.processed:
        world.env.step()
        events += 1
    failures = sum(happening.kind == "failure" for happening in world.job.history.happenings)
    assert events <= 6 * failures


def test_the_result_that_the_readme_shows():
    scenario = load_scenario("llama3-405b", {"loader.preset": "reshuffle", "data.documents": "5 B"})
    summaries = [simulate(scenario, replication).summary() for replication in range(20)]
    extra = [summary["extra_views"] / 1e6 for summary in summaries]
    half_width = 2.093 * statistics.stdev(extra) / math.sqrt(20)
    assert [f"{statistics.mean(extra) + sign * half_width:.2f}" for sign in (-1, 1)] == ["317.75", "317.85"]
    assert statistics.mean(summary["never_seen_samples"] for summary in summaries) == pytest.approx(24e6, abs=5e5)
    assert max(summary["identical_steps_share"] for summary in summaries) < 0.02
