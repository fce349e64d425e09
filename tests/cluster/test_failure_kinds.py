"""How the job meets a failure: crash, hang, silent corruption, false alarm; and what a restart in place mends."""

import math

import pytest
import simpy

from clustersim import load_scenario, simulate
from clustersim.cluster.causes import JOB
from clustersim.cluster.cluster import Cluster
from clustersim.cluster.compile import causes_of, machine_of
from clustersim.cluster.lifetimes import Lifetimes

SECOND = 10**9


def world(failures, **changes):
    base = {
        "name": "kinds",
        "run": {"wall_time": "100 d"},
        "model": {"global_batch": 12, "step_time": "10 s"},
        "cluster": {"nodes": 4, "gpus_per_node": 1, "spares": 2},
        "failures": failures,
        "checkpoint": {"every": "10 steps"},
        "data": {"samples": "1 T"},
    }
    return load_scenario(base, {key.replace("__", "."): value for key, value in changes.items()})


def kinds(run):
    return run.events["kind"].value_counts().to_dict()


def hits_of(scenario, seconds, trains_from=0):
    """What a job would hear that trains from a time on and does nothing about it: (second, hit)."""
    env, causes = simpy.Environment(), causes_of(scenario, 0, 0)
    heard = []
    cluster = Cluster(env, causes, Lifetimes(0, 0), machine_of(scenario), scenario.sizes.limit_ns)
    cluster.on_hits = lambda hits, now: heard.extend((now / SECOND, hit) for hit in hits)
    env.run(until=trains_from * SECOND + 1)
    cluster.training_starts(env.now)
    env.run(until=seconds * SECOND)
    return heard, cluster


def test_a_share_of_the_failures_takes_no_node():
    run = simulate(world([{"cause": "x", "rate": "5 per node-day", "repair": "1 min", "transient": 0.3}]))
    told = kinds(run)
    failures, repairs = told["failure"], told["repair"]
    assert failures > 2000
    assert abs(repairs - 0.7 * failures) < 3.5 * math.sqrt(failures * 0.3 * 0.7) + 1


@pytest.mark.parametrize("ages", ["wall", "in_job", "training"])
def test_failures_that_are_all_transient_are_those_of_a_cause_without_repair(ages):
    cause = {"cause": "x", "rate": "1 per node-day", "law": {"type": "weibull", "shape": 2}, "ages": ages}
    without = simulate(world([cause]))
    assert simulate(world([cause | {"repair": "1 d", "transient": 1}])).history == without.history
    assert len(without.history.legs) > 50


@pytest.mark.parametrize(("timeout", "gpu_hours"), [("600 s", 85.3), ("2280 s", 324.3)])
def test_a_hang_costs_its_timeout(timeout, gpu_hours):
    """512 GPUs frozen in step 145 of 500, and a limit of 600 s, or of 1,800 s and a second watchdog's 480 s."""
    hang = {"cause": "stalled link", "kind": "hang", "at_steps": [145], "detection": timeout}
    run = simulate(
        world([hang], run={"steps": 500}, cluster={"nodes": 64}, parallelism={"data": 512}, model__global_batch=512)
    )
    assert run.time_h["detection"] * 512 == pytest.approx(gpu_hours, abs=0.05)
    first = run.history.legs[0]
    assert (first.stop, first.kept, first.read) == (145, 140, 146)  # the last whole step; no save falls due meanwhile
    assert run.history.outcome == "done"


def test_a_hang_that_nothing_notices_never_ends():
    hang = {"cause": "stalled link", "kind": "hang", "at_steps": [145], "detection": "never"}
    run = simulate(world([hang], run={"steps": 500, "limit": "3 d"}))
    assert run.history.outcome == "limit"
    assert run.time_h["detection"] == pytest.approx(72 - 145.5 * 10 / 3600)
    # Somebody restarts it by hand.
    run = simulate(world([hang, {"cause": "operator", "at_times": ["5 h"]}], run={"steps": 500, "limit": "3 d"}))
    assert run.history.outcome == "done"
    assert run.time_h["detection"] == pytest.approx(5 - 145.5 * 10 / 3600)


def test_a_silent_failure_stops_the_job_when_it_is_seen_and_says_since_when():
    silent = {"cause": "bit flip", "kind": "silent", "at_times": ["100 s", "400 s"], "detection": "250 s"}
    heard, cluster = hits_of(world([silent]), 1000)
    assert [(at, hit.k, hit.lost, hit.corrupt_since_ns) for at, hit in heard] == [
        (350, 0, (), 100 * SECOND),
        (650, 1, (), 400 * SECOND),
    ]
    assert [(row.time_ns // SECOND, row.kind) for row in cluster.happenings] == [
        (100, "failure"),
        (350, "detection"),
        (400, "failure"),
        (650, "detection"),
    ]


def test_what_does_not_train_corrupts_nothing():
    """The flip at 100 s meets a job that does not train before 200 s; flips of spares corrupt nothing either."""
    silent = {"cause": "bit flip", "kind": "silent", "at_times": ["100 s", "400 s"], "detection": "250 s"}
    heard, _ = hits_of(world([silent]), 1000, trains_from=200)
    assert [hit.corrupt_since_ns for _, hit in heard] == [400 * SECOND]
    silent = {"cause": "bit flip", "kind": "silent", "rate": "2 per node-day", "detection": "1 h"}
    heard, cluster = hits_of(world([silent]), 86400 * 30)
    flips = [row for row in cluster.happenings if row.kind == "failure"]
    seen = [row for row in cluster.happenings if row.kind == "detection"]
    assert {row.where for row in flips} == {"job", "spare"}
    due = [row for row in flips if row.where == "job" and row.time_ns + 3600 * SECOND < 86400 * 30 * SECOND]
    assert len(seen) == len(heard) == len(due) > 20


def test_a_silently_bad_node_works_until_it_is_seen_and_then_goes_to_repair():
    silent = {"cause": "bit flip", "kind": "silent", "rate": "1 per node-day", "detection": "1 h", "repair": "20 h"}
    heard, cluster = hits_of(world([silent]), 86400 * 3)
    at, hit = heard[0]
    assert hit.lost == (next(row.node for row in cluster.happenings if row.kind == "detection"),)
    assert hit.corrupt_since_ns == at * SECOND - 3600 * SECOND
    back = next(row for row in cluster.happenings if (row.kind, row.node) == ("repair", hit.lost[0]))
    assert back.time_ns == at * SECOND + 20 * 3600 * SECOND


def test_a_false_alarm_stops_the_job_and_breaks_nothing():
    alarm = {"cause": "health check", "kind": "false-alarm", "rate": "0.2 per node-day", "detection": "2 min"}
    run = simulate(world([alarm]))
    assert kinds(run).keys() == {"false alarm"}
    summary = run.summary()
    assert summary["failures"] == 0
    in_job = (run.events["where"] == "job").sum()
    assert summary["interruptions"] == in_job > 50
    assert run.time_h["detection"] == pytest.approx(in_job * 2 / 60, rel=0.01)
    assert run.time_h["waiting_for_nodes"] == 0


@pytest.mark.parametrize(("starts", "hours"), [("failure", 10), ("detection", 13)])
def test_a_repair_starts_at_the_failure_or_at_its_detection(starts, hours):
    cause = {"cause": "x", "kind": "hang", "detection": "3 h", "rate": "0.1 per node-day", "repair": "10 h"}
    events = simulate(world([cause | {"repair_starts": starts}])).events
    repaired = events[events["kind"] == "repair"]
    assert len(repaired) > 20
    for _, row in repaired.iterrows():
        failed = events[(events["node"] == row["node"]) & (events["kind"] == "failure")]["time_h"]
        assert row["time_h"] - failed[failed < row["time_h"]].max() == pytest.approx(hours)


def test_repairs_are_admitted_in_the_order_of_their_detection():
    """One slot: the hang of the first hour is seen after the crash of the second."""
    causes = [
        {"cause": "hang", "kind": "hang", "detection": "5 h", "repair_starts": "detection"},
        {"cause": "crash"},
    ]
    common = {"repair": "10 h", "law": {"type": "empirical", "durations": ["1 h"]}}
    causes = [causes[0] | common, causes[1] | common | {"law": {"type": "empirical", "durations": ["2 h"]}}]
    scenario = world(causes, cluster={"nodes": 1, "gpus_per_node": 1, "spares": 0, "repair_slots": 1})
    events = simulate(scenario).events
    assert events["kind"].head(2).tolist() == ["failure", "repair"]
    assert events["time_h"].head(2).tolist() == [1, 1 + 5 + 10]


def test_the_job_is_no_node():
    scenario = world([{"cause": "bug", "kind": "silent", "rate": "3 per day", "scope": "job", "detection": "1 h"}])
    heard, cluster = hits_of(scenario, 86400 * 5)
    assert len(heard) > 5
    assert all(hit.lost == () for _, hit in heard)
    assert {row.node for row in cluster.happenings} == {JOB}
