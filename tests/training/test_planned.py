"""Maintenance and slow nodes: the job saves and is not interrupted; on timetables that are worked out by hand."""

import pytest

from clustersim import ScenarioError, load_scenario, simulate
from clustersim.cli.assumptions import assumptions
from clustersim.forecast import forecast


def job(**changes):
    base = {
        "name": "by hand",
        "run": {"steps": 100},
        "model": {"global_batch": 12, "step_time": "10 s"},
        "cluster": {"nodes": 4, "gpus_per_node": 1},
        "checkpoint": {"every": "10 steps", "stall": "2 s", "write": "1 s"},
        "recovery": {"start_up": "60 s"},
        "data": {"samples": 5000},
    }
    return load_scenario(base, {key.replace("__", "."): value for key, value in changes.items()})


def legs(run):
    return [(leg.begin_ns / 1e9, leg.end_ns / 1e9, leg.start, leg.stop, leg.kept) for leg in run.history.legs]


def seconds(run):
    return {bucket: ns / 1e9 for bucket, ns in run.time_ns.items() if ns}


def window(**keys):
    return [{"name": "firmware", **keys}]


def slow(after, **keys):
    """Each node, or the job, is slow this long after it was new or became slow."""
    law = {"type": "empirical", "durations": [after]}
    return [{"cause": "hot", "kind": "slow", "slows": 1.5, "detection": "100 s", "law": law, **keys}]


# --- the whole machine


def test_the_job_saves_and_comes_back_when_the_window_is_over():
    """Step 25, in flight from 254 s, ends at 264 s; its save is durable at 267 s; the window is over at 3,855 s."""
    run = simulate(job(maintenance=window(at=["255 s"], takes="1 h")))
    assert legs(run) == [(0, 267, 0, 26, 26), (3915, 4669, 26, 100, 100)]
    assert [leg.ended_by for leg in run.history.legs] == ["firmware", "end of run"]
    assert seconds(run) == {"useful": 1000, "save_stall": 7 + 14, "maintenance": 3588, "start_up": 60}
    assert run.summary()["interruptions"] == run.summary()["failures"] == 0
    assert run.account.extra == run.account.missing == 0


def test_a_step_that_a_closing_leg_never_begins_does_not_fail_while_it_saves():
    """Step 26, in flight at 269 s if nothing closed the leg; the save after step 25 is durable at 366 s."""
    failures = [{"cause": "scripted", "at_steps": [26]}]
    closing = {"maintenance": window(at=["255 s"], takes="100 s"), "checkpoint__write": "100 s"}
    run = simulate(job(failures=failures, **closing))
    assert [(leg.start, leg.stop, leg.read, leg.ended_by) for leg in run.history.legs] == [
        (0, 26, 26, "firmware"),
        (26, 26, 27, "scripted"),
        (26, 100, 100, "end of run"),
    ]


def test_windows_come_again():
    """Every 1,000 s from 1,000 s on, for 100 s each."""
    run = simulate(job(maintenance=window(every="1000 s", takes="100 s"), checkpoint__write="0 s", run={"steps": 250}))
    assert [leg[0] for leg in legs(run)] == [0, 1160, 2160]
    assert seconds(run)["maintenance"] == (1100 - 1010) + (2100 - 2008)


def test_a_window_that_is_over_before_the_job_has_saved_costs_the_restart_alone():
    run = simulate(job(maintenance=window(at=["255 s"], takes="10 s")))
    assert "maintenance" not in seconds(run)
    assert legs(run) == [(0, 267, 0, 26, 26), (327, 327 + 754, 26, 100, 100)]


@pytest.mark.parametrize(
    ("at", "detection", "maintenance", "start_up"),
    [
        ("270 s", 50, 3600 - 35, 60),  # found at 305 s, when the window has begun
        ("320 s", 50, 3600, 15 + 60),  # while it starts
    ],
)
def test_a_window_that_begins_in_a_recovery_holds_the_start_up(at, detection, maintenance, start_up):
    crash = [{"cause": "crash", "at_times": ["255 s"], "detection": "50 s"}]
    run = simulate(job(maintenance=window(at=[at], takes="1 h"), failures=crash))
    spent = seconds(run)
    assert (spent["detection"], spent["maintenance"], spent["start_up"]) == (detection, maintenance, start_up)
    assert run.summary()["interruptions"] == 1


def test_a_failure_in_a_window_does_not_end_it():
    crash = [{"cause": "crash", "at_times": ["1000 s"], "detection": "50 s"}]
    run = simulate(job(maintenance=window(at=["255 s"], takes="1 h"), failures=crash))
    assert seconds(run)["maintenance"] == 3588 - 50
    assert seconds(run)["detection"] == 50
    assert legs(run)[1][0] == 3915


def test_a_failure_before_the_save_is_an_interruption_and_the_window_follows():
    """Struck at 266 s, when the save of step 25 is not durable: the job goes back to step 20."""
    run = simulate(job(maintenance=window(at=["255 s"], takes="1 h"), failures=[{"cause": "x", "at_times": ["266 s"]}]))
    assert legs(run) == [(0, 266, 0, 26, 20), (3915, 3915 + 814, 20, 100, 100)]
    assert seconds(run)["wasted_progress"] == 60
    assert seconds(run)["maintenance"] == 3855 - 266


# --- some nodes


def test_nodes_take_turns_and_spares_take_their_places():
    """Nodes 0 and 1 at 255 s; 2 and 3 an hour after them; then the spares, which the job holds by now."""
    rolling = window(every="1 h", takes="10 min", nodes=2)
    run = simulate(job(maintenance=rolling, cluster__spares=2, run={"wall_time": "4.5 h"}))
    out = [(outage.node, outage.begin_ns / 1e9) for outage in run.history.outages]
    assert [node for node, _ in out] == [0, 1, 2, 3, 4, 5, 0, 1]
    assert [begin // 3600 for _, begin in out] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert run.history.legs[0].ended_by == "firmware"
    assert "waiting_for_nodes" not in seconds(run)
    assert run.summary()["interruptions"] == 0
    events = run.events["kind"].value_counts()
    assert events["maintenance"] == events["service"] == 8


def test_spares_are_looked_after_without_the_job():
    run = simulate(job(maintenance=window(at=["0 s", "10 s", "20 s"], takes="10 s", nodes=2), cluster__spares=2))
    assert [outage.node for outage in run.history.outages] == [0, 1, 2, 3, 4, 5]
    spared = simulate(job(maintenance=window(at=["100 s"], takes="1 h", nodes=1), cluster__spares=0))
    assert seconds(spared)["waiting_for_nodes"] == 3600
    assert legs(spared)[0][1] == 103  # the save that was due at 100 s is its last


def test_a_node_in_repair_is_not_taken_out_again():
    law = {"type": "empirical", "durations": ["1 h"]}
    wear = [{"cause": "wear", "law": law, "repair": "3 h"}]
    changes = {"cluster": {"nodes": 1, "gpus_per_node": 1}, "run": {"wall_time": "4.5 h"}}
    run = simulate(job(maintenance=window(at=["2 h"], takes="30 h", nodes=1), failures=wear, **changes))
    assert [(outage.cause, outage.end_ns / 3.6e12) for outage in run.history.outages] == [("wear", 4)]


# --- slow nodes


def test_a_slow_job_stretches_its_steps_until_that_is_over():
    """Slow from 255 s to 355 s: six steps of 15 s from step 26 on, which begins at 264 s, with a save among them."""
    run = simulate(job(failures=slow("255 s", scope="job"), run={"steps": 45}))
    assert len(run.history.legs) == 1
    assert seconds(run) == {"useful": 450, "save_stall": 8, "slow_nodes": 30}
    assert run.checkpoints["durable_h"].mul(3600).round().tolist() == [103, 205, 327, 439, 488]


def test_a_script_makes_the_job_slow_at_a_time_or_in_the_middle_of_a_step():
    """Step 26 is half done at 269 s; until 369 s steps 27 to 33 take 15 s, with the save at step 30 among them."""
    hot = {"cause": "hot", "kind": "slow", "slows": 1.5, "detection": "100 s"}
    at_random = simulate(job(failures=slow("255 s", scope="job"), run={"steps": 45}))
    at_time = simulate(job(failures=[{**hot, "at_times": ["255 s"]}], run={"steps": 45}))
    assert (at_time.time_ns, legs(at_time)) == (at_random.time_ns, legs(at_random))
    at_step = simulate(job(failures=[{**hot, "at_steps": [26, 40]}], run={"steps": 45}))
    assert seconds(at_step) == {"useful": 450, "save_stall": 8, "slow_nodes": (7 + 4) * 5}
    assert at_step.events["kind"].tolist() == ["slow", "detection", "slow"]
    assert at_step.summary()["interruptions"] == at_step.summary()["failures"] == 0
    expected = forecast(at_step.scenario)
    assert (expected.scripted_slow, expected.scripted_failures, expected.interruption_mean_h) == (2, 0, None)


def test_what_was_slow_and_lost_is_wasted():
    """Six slow steps, 26 to 31, of which the save at step 30 keeps four."""
    crash = {"cause": "crash", "at_steps": [33]}
    run = simulate(job(failures=[*slow("255 s", scope="job"), crash], run={"steps": 36}))
    first = run.history.legs[0]
    assert (first.stop, first.kept) == (33, 30)
    assert seconds(run)["slow_nodes"] == 20
    assert seconds(run)["wasted_progress"] == 3 * 10 + 2 * 5 + 5


def test_what_is_slow_is_slow_again_and_may_be_so_already():
    """Every 50 s for 100 s, so from 50 s on; two at a time are no slower than one. All seven steps from step 5 on."""
    run = simulate(job(failures=slow("50 s", scope="job"), run={"steps": 12}))
    assert seconds(run) == {"useful": 120, "save_stall": 2, "slow_nodes": 7 * 5}


def test_a_slow_node_is_replaced_when_it_is_found_and_the_job_has_saved():
    """As slow as the slowest, and found at 355 s: the step in flight ends at 356 s, its save at 359 s."""
    law = {"type": "empirical", "durations": ["255 s"]}
    run = simulate(
        job(failures=slow("255 s", law=law, repair="1 h"), cluster__nodes=1, cluster__spares=1, run={"steps": 40})
    )
    assert legs(run)[0] == (0, 359, 0, 32, 32)
    assert run.history.legs[0].ended_by == "hot"
    assert run.summary()["interruptions"] == run.summary()["failures"] == 0
    assert [(outage.node, outage.begin_ns / 1e9) for outage in run.history.outages] == [(1, 355), (0, 359)]


def test_a_slow_node_that_is_found_during_a_recovery_leaves_at_once():
    """Slow at 240 s, the only node and its spare; a crash at 255 s; found at 270 s, while it starts; back at 290 s."""
    law = {"type": "empirical", "durations": ["240 s"]}
    hot, crash = slow("240 s", law=law, detection="30 s", repair="20 s"), {"cause": "x", "at_times": ["255 s"]}
    run = simulate(job(failures=[*hot, crash], cluster__nodes=1, cluster__spares=1, run={"steps": 30}))
    assert legs(run)[1][0] == 290 + 60
    assert (seconds(run)["waiting_for_nodes"], seconds(run)["start_up"]) == (20, 15 + 60)
    assert run.summary()["interruptions"] == 1


def test_a_slow_node_in_the_job_slows_it_only_while_it_is_there():
    """All are slow at 1 h and 2 h. Without a repair they stay where they are, and spares slow nothing."""
    law = {"type": "empirical", "durations": ["1 h"]}
    changes = {"cluster": {"nodes": 1, "gpus_per_node": 1, "spares": 5}, "run": {"wall_time": "2.9 h"}}
    run = simulate(job(failures=slow("1 h", law=law), **changes))
    assert len(run.history.legs) == 1
    assert (run.events["kind"] == "slow").sum() == 6 * 2
    assert seconds(run)["slow_nodes"] == pytest.approx(2 * 100 / 3, abs=5)


def test_young_leaves_slow_nodes_out():
    failures = [{"cause": "any", "rate": "16 per day", "scope": "job"}]
    slows = {"cause": "hot", "kind": "slow", "slows": 2, "detection": "1 h", "rate": "1 per node-day"}
    intervals = [
        simulate(job(failures=causes, checkpoint={"every": "young", "stall": "10 s"}))
        .history.legs[0]
        .timetable.step_of(0, 0)
        for causes in (failures, [*failures, slows])
    ]
    assert intervals == [33, 33]


def test_what_is_planned_and_what_is_slow_is_said_and_counts_as_no_interruption():
    hot = {"cause": "hot", "kind": "slow", "slows": 1.5, "detection": "2 h", "rate": "1 per 4 node-days"}
    crash = {"cause": "any", "rate": "2 per day", "scope": "job", "detection": "1 h"}
    planned = [*window(every="7 d", takes="4 h"), {"name": "rolling", "at": ["1 d"], "takes": "30 min", "nodes": 2}]
    scenario, without = job(failures=[crash, hot], maintenance=planned), forecast(job(failures=[crash]))
    expected = forecast(scenario)
    assert (expected.failures_per_day, expected.restart_s) == (without.failures_per_day, without.restart_s)
    told = dict(zip(*(list(column.cells) for column in assumptions(scenario, expected).columns), strict=True))
    assert told["failures"].startswith("2 a day from 1 cause, ")
    assert told["failures"].endswith("; hot: slow 1 times a day, 1.5 x a step, found after 2 h")
    assert told["maintenance"] == "firmware: the whole machine for 4 h, every 7 d; rolling: 2 nodes for 30 min, 1 time"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"maintenance": window(takes="1 h")},
            "maintenance.0.every: expected either every or at, found neither",
        ),
        (
            {"maintenance": window(takes="1 h", every="1 d", at=["1 d"])},
            "maintenance.0.every: expected either every or at, found both",
        ),
        (
            {"maintenance": window(takes="1 h", at=["2 d", "1 d"])},
            "maintenance.0.at: expected increasing times, found a list out of order",
        ),
        (
            {"maintenance": window(takes="1 d", every="1 d")},
            "maintenance.0.takes: expected less than every, or the machine is never up, found no less",
        ),
        (
            {"maintenance": window(takes="1 h", every="1 d", nodes=5)},
            "maintenance.0.nodes: expected at most 4, the nodes and spares of the cluster, found 5",
        ),
        (
            {"maintenance": window(takes="1 h", every="1 s", nodes=4), "run": {"wall_time": "1 y"}},
            "maintenance.0.every: expected at most 1e+06 nodes out within the run's limit, in all windows together, "
            "found 1.26e+08",
        ),
        (
            {"maintenance": window(takes="1 h", every="1 d") * 2},
            'maintenance.1.name: expected a name that no failure and no other maintenance has, found "firmware"',
        ),
        (
            {"maintenance": {"name": "x"}},
            "maintenance: expected a list of tables, each headed [[maintenance]], found a single table",
        ),
        (
            {"recovery__policy": "shrink", "parallelism": {"uneven": "refuse", "min_data": 5}, "cluster__nodes": 6},
            "parallelism.min_data: expected a divisor of 12 from it to 5, as uneven degrees are refused, found 5",
        ),
        (
            {"failures": slow("1 h", law={"type": "exponential"}, rate="1e9 per node-day")},
            "failures: expected at most 2e+07 random failures within the run's limit, found 9.43e+08",
        ),
        (
            {"failures": slow("1 h", detection="0 s")},
            'failures.0.detection: expected the time until it is found with kind = "slow", found "0 s"',
        ),
        (
            {"failures": slow("1 h", slows=1)},
            'failures.0.slows: expected a multiple above 1, at most 1000, with kind = "slow", found 1.0',
        ),
        (
            {"failures": slow("1 h", kind="crash")},
            'failures.0.slows: expected kind = "slow" beside it, found "crash"',
        ),
        (
            {"failures": slow("1 h", scope="domain"), "cluster__nodes_per_domain": 2},
            'failures.0.scope: expected a node or the job that is slow with kind = "slow", found "domain"',
        ),
        (
            {"failures": slow("1 h", repair="1 h", misdiagnosis=0.5)},
            'failures.0.misdiagnosis: expected no misdiagnosis with kind = "slow", found 0.5',
        ),
        (
            {"failures": [{"cause": "hot", "kind": "slow", "at_steps": [5], "detection": "1 h"}]},
            'failures.0.slows: expected a multiple above 1, at most 1000, with kind = "slow", found nothing',
        ),
        (
            {"failures": [{"cause": "hot", "at_steps": [5], "slows": 2}]},
            'failures.0.slows: expected kind = "slow" beside it, found "crash"',
        ),
        (
            {
                "failures": [
                    {"cause": "x", "kind": "slow", "slows": 2, "at_steps": [5], "detection": "1 h", "data": [3]}
                ]
            },
            'failures.0.data: expected no degrees with kind = "slow", after which nothing restarts, found some',
        ),
    ],
)
def test_what_does_not_go_together_is_refused(changes, message):
    with pytest.raises(ScenarioError) as told:
        job(**changes)
    assert str(told.value).endswith(message)


@pytest.mark.parametrize("seed", range(5))
def test_a_scripted_failure_strikes_once_whatever_the_pace(seed):
    """Several nodes become slow before the step: its timetable is drawn up anew each time, to the same end or not."""
    slow = {"cause": "hot", "kind": "slow", "rate": "40 per node-day", "slows": 1.2, "detection": "10 d"}
    failures = [{"cause": "drill", "at_steps": [47]}, slow]
    run = simulate(job(failures=failures, run__seed=seed, model__step_time="100 s"))
    assert [leg.stop for leg in run.history.legs if leg.ended_by == "drill"] == [47]
    assert run.history.outcome == "done"
