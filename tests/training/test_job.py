"""The job's rules, one at a time, on timetables that are worked out by hand."""

import itertools
import pickle

import pytest
from by_hand import job, legs, scripted, seconds
from worlds import check_history, run_checked

from clustersim import planned_batch, simulate
from clustersim import run as run_module
from clustersim.account import same_batches
from clustersim.history import Refused
from clustersim.training.compile import World


def test_without_failures_there_is_one_leg():
    run = simulate(job(checkpoint__stall="2 s", checkpoint__write="5 s"))
    assert legs(run) == [(0, 100, 100, 4)]
    assert seconds(run) == {"useful": 1000, "save_stall": 18}  # a save after each tenth step but the last
    assert run.summary()["checkpoints"] == 10
    assert run.summary()["ettr"] == pytest.approx(1000 / 1018)


def test_a_failure_costs_its_recovery_and_the_work_since_the_last_durable_save():
    """Step 25, in flight since 254 s, is broken off in its middle; the save of step 20 is durable at 229 s."""
    run = simulate(
        job(
            failures=scripted(at_steps=[25], detection="30 s"),
            checkpoint__stall="2 s",
            checkpoint__write="25 s",
            recovery={"start_up": "60 s", "load": "7 s"},
        )
    )
    assert legs(run) == [(0, 25, 20, 4), (20, 100, 100, 4)]
    assert seconds(run) == {
        "useful": 1000,
        "save_stall": 2 * 2 + 7 * 2,
        "wasted_progress": 55,
        "detection": 30,
        "start_up": 60,
        "load": 7,
    }
    assert run.history.legs[0].end_ns == 259 * 10**9


def test_a_save_in_flight_dies_with_the_job():
    run = simulate(job(failures=scripted(at_steps=[25]), checkpoint__stall="2 s", checkpoint__write="56 s"))
    assert legs(run)[0] == (0, 25, 10, 4)


def test_a_failure_during_a_save_finds_the_save_before():
    """The save of step 20 stalls the job from 201 s to 203 s."""
    run = simulate(job(failures=scripted(at_times=["202 s"]), checkpoint__stall="2 s"))
    assert legs(run)[0] == (0, 20, 10, 4)
    assert run.history.legs[0].read == 20  # no step was in flight


def test_a_failure_during_a_recovery_begins_it_anew():
    """Struck at 255 s and, in the middle of loading, at 330 s."""
    run = simulate(
        job(
            failures=[*scripted(at_steps=[25]), {"cause": "again", "at_times": ["330 s"], "detection": "3 s"}],
            recovery={"start_up": "60 s", "load": "40 s"},
        )
    )
    assert legs(run) == [(0, 25, 20, 4), (20, 100, 100, 4)]
    assert seconds(run) == {"useful": 1000, "wasted_progress": 55, "detection": 3, "start_up": 120, "load": 15 + 40}
    assert run.summary()["interruptions"] == 2
    assert run.summary()["restarts"] == 1


PHASES = {
    "diagnosis": "20 s",
    "scheduling": "5 s",
    "start_up": "60 s",
    "start_up_per_node": "2 s",
    "start_up_per_doubling": "3 s",
    "load": "40 s",
    "warm_up": "9 s",
}


def test_phases_of_a_recovery_follow_each_other():
    """Four nodes: the start-up takes 60 + 4 * 2 + 2 * 3 s."""
    run = simulate(job(failures=scripted(at_steps=[25], detection="30 s"), recovery=PHASES))
    spans = [
        (span.phase, (span.begin_ns - 255 * 10**9) // 10**9, (span.end_ns - 255 * 10**9) // 10**9, span.nodes)
        for span in run.history.recoveries[0].spans
    ]
    assert spans == [
        ("detection", 0, 30, 4),
        ("diagnosis", 30, 50, 4),
        ("scheduling", 50, 55, 4),
        ("start_up", 55, 129, 4),
        ("load", 129, 169, 4),
        ("warm_up", 169, 178, 4),
    ]
    assert seconds(run) == {"useful": 1000, "wasted_progress": 55, **{phase: end - a for phase, a, end, _ in spans}}
    assert (run.time["node_hours"] == run.time["hours"] * 4).all()


@pytest.mark.parametrize(
    ("at", "spent"),
    [
        (290, {"detection": 30, "diagnosis": 5}),
        (307, {"detection": 30, "diagnosis": 20, "scheduling": 2}),
        (350, {"detection": 30, "diagnosis": 20, "scheduling": 5, "start_up": 40}),
        (430, {"detection": 30, "diagnosis": 20, "scheduling": 5, "start_up": 74, "load": 40, "warm_up": 6}),
    ],
)
def test_a_failure_in_any_phase_begins_them_anew_and_what_was_spent_stays_where_it_was_spent(at, spent):
    again = {"cause": "again", "at_times": [f"{at} s"]}
    run = simulate(job(failures=[*scripted(at_steps=[25], detection="30 s"), again], recovery=PHASES))
    whole = {"diagnosis": 20, "scheduling": 5, "start_up": 74, "load": 40, "warm_up": 9}
    assert run.summary()["restarts"] == 1
    assert {phase: s for phase, s in seconds(run).items() if phase not in ("useful", "wasted_progress")} == {
        phase: whole.get(phase, 0) + spent.get(phase, 0) for phase in whole | spent
    }


def test_node_hours_are_of_the_nodes_that_are_held():
    """Four nodes until the failure is seen, three from then on."""
    failures = scripted(at_steps=[25], data=[3], detection="30 s")
    run = simulate(job(failures=failures, recovery={"start_up": "60 s"}))
    node_seconds = {bucket: ns / 1e9 for bucket, ns in run.node_time_ns.items() if ns}
    assert node_seconds == {
        "useful": 20 * 10 * 4 + 80 * 10 * 3,
        "degraded": pytest.approx(80 * (40 / 3 - 10) * 3),
        "wasted_progress": 55 * 4,
        "detection": 30 * 4,
        "start_up": 60 * 3,
    }


def test_a_loader_may_take_time_to_come_back():
    class Feed:
        def begin(self, step, degree, goes_on):
            return None

        def resume_ns(self, step, degree):
            return step * 10**8 + degree

        def crash(self):
            return None

        def end(self, stop, read, ended_by):
            pass

    scenario = job(failures=scripted(at_steps=[25], data=[3]), recovery={"load": "7 s"})
    history = World(scenario, 0, 0, Feed()).run()
    check_history(history)
    assert history.recoveries[0].spent_ns("loader_resume") == 2 * 10**9 + 3


@pytest.mark.parametrize("order", [0, 1])
def test_failures_at_one_instant_are_one_interruption(order):
    causes = [*scripted(at_times=["255 s"]), {"cause": "other", "at_times": ["255 s"], "detection": "9 s"}]
    run = simulate(job(failures=causes[::-1] if order else causes))
    assert run.summary()["interruptions"] == 1
    assert run.summary()["failures"] == 2
    assert seconds(run)["detection"] == 9


def test_a_step_that_ends_as_the_failure_strikes_is_done():
    """At 200 s step 19 completes and its save, which costs nothing, is durable; then the failure strikes."""
    assert legs(simulate(job(failures=scripted(at_times=["200 s"]))))[0] == (0, 20, 20, 4)


def test_a_recovery_that_ends_as_a_failure_strikes_leaves_an_empty_leg():
    run = simulate(
        job(
            failures=[*scripted(at_steps=[25]), {"cause": "again", "at_times": ["275 s"]}],
            recovery={"start_up": "20 s"},
        )
    )
    assert legs(run) == [(0, 25, 20, 4), (20, 20, 20, 4), (20, 100, 100, 4)]


def test_a_scripted_failure_strikes_each_entry_once_in_order():
    run = simulate(job(failures=scripted(at_steps=[25, 25, 22, 31, 5, 40])))
    assert [leg.stop for leg in run.history.legs] == [25, 25, 22, 31, 40, 100]  # step 5 is never trained again


def test_a_smaller_degree_paces_by_the_fullest_replica():
    """12 samples on 4, 3 and 2 replicas: 3, 4 and 6 each, so 10, 13.33 and 20 s a step."""
    run = simulate(job(failures=scripted(at_steps=[10, 20, 30], data=[3, 2, 4])))
    assert [leg.step_ns for leg in run.history.legs] == [10**10, 13_333_333_333, 2 * 10**10, 10**10]
    assert seconds(run)["degraded"] == pytest.approx(10 * (10 / 3 + 10))
    assert run.summary()["data_parallel_min"] == 2


def test_micro_batches_that_do_not_come_out_even_pace_by_the_fullest_replica():
    """12 samples, 2 at once, on 4, 3 and 2 replicas: 2, 2 and 3 micro-batches; a short one takes as long as others."""
    parallelism = {"micro_batch": 2}
    run = simulate(job(failures=scripted(at_steps=[10, 20, 30], data=[3, 2, 4]), parallelism=parallelism))
    assert [leg.step_ns for leg in run.history.legs] == [10**10, 10**10, 15 * 10**9, 10**10]
    assert seconds(run)["degraded"] == 10 * 5


def breaking(repair, **changes):
    """Each node fails every 5 days."""
    return job(
        failures=[{"cause": "wear", "rate": "1 per 5 node-days", "repair": repair}],
        run={"wall_time": "60 d"},
        **changes,
    )


def silent(at, seen_after, *others):
    return [{"cause": "bit flip", "kind": "silent", "at_times": [at], "detection": seen_after}, *others]


@pytest.mark.parametrize(
    ("at", "kept"),
    [("255 s", 20), ("300 s", 30), ("299 s", 20), ("95 s", 0), ("340 s", 30)],
)
def test_a_silent_failure_goes_back_behind_itself(at, kept):
    """Saves at 100, 200 and 300 s; the corruption is seen at 355 s. A save that is made at its instant is sound."""
    run = simulate(job(failures=silent(at, f"{355 - int(at[:-2])} s")))
    assert legs(run) == [(0, 35, kept, 4), (kept, 100, 100, 4)]
    assert seconds(run) == {"useful": 1000, "wasted_progress": 355 - 10 * kept}


def test_a_save_that_is_made_before_the_corruption_may_become_durable_after_it():
    assert legs(simulate(job(failures=silent("205 s", "150 s"), checkpoint__write="50 s")))[0] == (0, 35, 20, 4)
    assert legs(simulate(job(failures=silent("205 s", "40 s"), checkpoint__write="50 s")))[0] == (0, 24, 10, 4)


def test_a_restart_from_a_corrupt_checkpoint_does_not_help():
    """The crash at 315 s comes back to step 30, saved after the corruption at 255 s: the second leg is lost."""
    run = simulate(job(failures=silent("255 s", "150 s", {"cause": "crash", "at_times": ["315 s"]})))
    assert legs(run) == [(0, 31, 30, 4), (30, 39, 20, 4), (20, 100, 100, 4)]
    assert run.history.lineage_stops() == [20, 30, 100]
    assert seconds(run) == {"useful": 1000, "wasted_progress": 115 + 90}


def test_a_restart_that_went_behind_the_corruption_ends_it():
    """The crash at 275 s comes back to step 20, saved at 200 s: what is trained and saved from then on is sound."""
    run = simulate(job(failures=silent("255 s", "200 s", {"cause": "crash", "at_times": ["275 s"]})))
    assert legs(run) == [(0, 27, 20, 4), (20, 38, 30, 4), (30, 100, 100, 4)]


def test_two_corruptions_go_back_one_after_the_other():
    """At 355 s to step 20; at 405 s, by what went wrong at 195 s, to step 10."""
    first = {"cause": "older", "kind": "silent", "at_times": ["195 s"], "detection": "210 s"}
    run = simulate(job(failures=silent("255 s", "100 s", first)))
    assert legs(run) == [(0, 35, 20, 4), (20, 25, 10, 4), (10, 100, 100, 4)]


def test_a_corruption_that_is_seen_during_a_recovery_goes_behind_itself_too():
    crash = {"cause": "crash", "at_times": ["315 s"], "detection": "1 h"}
    run = simulate(job(failures=silent("255 s", "150 s", crash)))
    assert legs(run) == [(0, 31, 20, 4), (20, 100, 100, 4)]
    assert seconds(run)["detection"] == 405 - 315


def test_waiting_for_repair_and_for_spares():
    waits = simulate(breaking("1 d", recovery__policy="wait"))
    spares = simulate(breaking("1 d", cluster__spares=8))
    idle = simulate(breaking("1 d", cluster__spares=4, recovery__policy="wait"))
    assert len(waits.history.legs) > 3
    assert waits.time_h["waiting_for_nodes"] > 20
    assert spares.time_h["waiting_for_nodes"] == 0
    assert idle.time_h["waiting_for_nodes"] > 20  # spares are not touched
    assert waits.summary()["data_parallel_min"] == 4


def test_shrinking_to_the_replicas_that_remain_and_growing_back():
    run = simulate(breaking("12 h", recovery__policy="shrink"))
    degrees = list(run.legs["data"])
    assert run.time_h["waiting_for_nodes"] == 0
    assert min(degrees) < 4
    assert any(b > a for a, b in itertools.pairwise(degrees))  # grown back at a later interruption
    assert run.time_h["degraded"] > 0
    assert run.account.extra == run.account.missing == 0


def test_the_least_degree_is_kept():
    run = simulate(breaking("9 d", recovery__policy="shrink", parallelism={"min_data": 3}))
    assert run.summary()["data_parallel_min"] == 3
    assert run.time_h["waiting_for_nodes"] > 0


def test_only_degrees_that_divide_the_batch_where_uneven_ones_are_refused():
    run = simulate(breaking("9 d", recovery__policy="shrink", parallelism={"uneven": "refuse"}, model__global_batch=16))
    assert set(run.legs["data"]) <= {1, 2, 4}
    assert 2 in set(run.legs["data"])


def test_a_replica_of_several_nodes_is_lost_as_a_whole_and_its_healthy_nodes_fill_others():
    """Two replicas of two nodes: one node down leaves one replica and a spare; two down may leave one replica still."""
    run = simulate(breaking("9 d", recovery__policy="shrink", parallelism={"tensor": 2}))
    assert set(run.legs["data"]) == {1, 2}
    assert run.time_h["degraded"] > 0


def test_repairs_queue_for_slots():
    free = simulate(breaking("6 d", recovery__policy="wait"))
    one = simulate(breaking("6 d", recovery__policy="wait", cluster__repair_slots=1))
    assert one.time_h["waiting_for_nodes"] > free.time_h["waiting_for_nodes"]


def test_a_job_whose_nodes_never_come_back_starves():
    run = simulate(breaking("never"))
    assert run.history.outcome == "starved"
    assert "the job holds 3 of the 4 nodes it needs, and no other will come back" in run.history.reason
    assert run.history.wall_ns < run.scenario.run.wall_time
    assert run.summary()["steps"] > 0


def test_a_run_that_never_gets_past_its_checkpoint_ends_at_its_limit():
    run = simulate(
        job(failures=[{"cause": "storm", "rate": "1440 per day", "scope": "job"}], checkpoint__every="50 steps")
    )
    assert run.history.outcome == "limit"
    assert run.history.wall_ns == 20 * 1000 * 10**9
    timed = simulate(
        job(
            failures=[{"cause": "storm", "rate": "1440 per day", "scope": "job"}],
            checkpoint={"every": "1000 steps", "final_checkpoint": False},
            run={"wall_time": "1 d"},
        )
    )
    assert timed.history.outcome == "no progress"
    assert timed.summary()["steps"] == 0


@pytest.mark.parametrize(("final", "steps"), [(True, 86), (False, 80)])
def test_the_end_by_time_keeps_the_last_whole_step_or_the_last_durable_save(final, steps):
    run = simulate(job(run={"wall_time": "865 s"}, checkpoint__final_checkpoint=final))
    assert run.steps == steps
    assert seconds(run) == {"useful": steps * 10, "unfinished": 5} | ({} if final else {"wasted_progress": 60})


def test_young_and_daly_take_the_stall_and_the_rate_of_the_full_job():
    """16 failures a day: M = 90 min; stall 10 s: Young 328.6 s, so 33 steps."""
    failures = [{"cause": "any", "rate": "16 per day", "scope": "job"}]
    run = simulate(job(failures=failures, checkpoint={"every": "young", "stall": "10 s"}))
    assert run.history.legs[0].timetable.step_of(0, 0) == 33


@pytest.mark.parametrize("end", [{"steps": 65}, {"epochs": 2}])
def test_only_an_end_by_time_can_lose_the_last_steps(end):
    run = simulate(job(run=end, checkpoint__final_checkpoint=False, data__samples=396))
    assert run.steps == run.planned_steps == (65 if "steps" in end else 66)
    assert run.account.missing == 0


def test_a_node_that_is_lost_for_good_takes_no_repair_slot():
    """Those that are mended are never four at a time: three slots are enough, unless the lost have them."""
    causes = [
        {"cause": "lost", "rate": "1 per 200 node-days", "repair": "never"},
        {"cause": "mended", "rate": "1 per node-day", "repair": "10 s"},
    ]
    changes = {"run": {"wall_time": "60 d"}, "cluster__spares": 40, "failures": causes}
    runs = [simulate(job(**changes, **slots)) for slots in ({}, {"cluster__repair_slots": 3})]
    lost = runs[0].events.query("kind == 'failure' and cause == 'lost'")
    assert len(lost) > 3
    assert {run.history.outcome for run in runs} == {"done"}
    assert runs[0].history.legs == runs[1].history.legs


def test_the_default_limit_counts_the_saves_of_a_run_without_failures():
    run = simulate(job(checkpoint={"every": "1 steps", "stall": "200 s", "write": "50 s"}))
    assert run.history.outcome == "done"
    assert run.scenario.sizes.limit_ns == 20 * run.history.wall_ns


@pytest.mark.parametrize(
    ("changes", "steps"),
    [
        ({}, [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]),  # the save of step 100 costs no time and is durable
        ({"checkpoint__stall": "2 s"}, [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]),  # the end of the run saves it
        ({"run": {"steps": 34}}, [10, 20, 30, 34]),
        ({"run": {"wall_time": "345 s"}}, [10, 20, 30, 34]),
        ({"run": {"wall_time": "345 s"}, "checkpoint__final_checkpoint": False}, [10, 20, 30]),
    ],
)
def test_each_durable_checkpoint_is_listed_once(changes, steps):
    run = simulate(job(**changes))
    assert run.checkpoints["step"].tolist() == steps
    assert run.summary()["checkpoints"] == len(steps)
    assert run.checkpoints["in_lineage"].all()


def test_failures_that_need_no_time_at_all():
    """Lives that round to nothing, repairs of no time, nodes that fail as they join: no node is in two places."""
    wear = {"cause": "wear", "rate": "1 per node-day", "law": {"type": "weibull", "shape": 0.06}, "repair": "0 s"}
    for ages in ("wall", "in_job", "training"):
        scenario = job(failures=[{**wear, "ages": ages}], cluster__spares=2, run={"wall_time": "1 h"})
        for replication in range(5):
            run_checked(World(scenario, 0, replication), scenario)


def test_ranks_divide_the_batch_of_their_leg():
    run = simulate(job(failures=scripted(at_steps=[25], data=[3])))
    assert [len(run.batch(10, rank)) for rank in range(4)] == [3, 3, 3, 3]
    assert [len(run.batch(30, rank)) for rank in range(3)] == [4, 4, 4]
    assert [sample for rank in range(3) for sample in run.batch(30, rank)] == run.batch(30).tolist()
    with pytest.raises(ValueError, match="no rank 3: step 30 was trained by ranks 0 to 2"):
        run.batch(30, 3)
    with pytest.raises(ValueError, match="no step 100: the lineage has steps 0 to 99"):
        run.batch(100)
    with pytest.raises(ValueError, match="no step 100: they are numbered from 0 to 99"):
        planned_batch(run.scenario, 100)


def test_damage_by_shard_sums_to_the_ledger():
    keys = {"data__order": "shard-shuffle", "data__shards": 7, "loader__preset": "epoch"}
    run = simulate(job(failures=scripted(at_steps=[25, 55]), **keys))
    shards = run.shards
    assert shards["shard"].tolist() == list(range(7))
    assert shards["samples"].sum() == 5000
    assert shards["extra"].sum() == run.account.extra > 0
    assert shards["missing"].sum() == run.account.missing > 0
    assert len(simulate(job()).shards) == 1


@pytest.mark.parametrize("order", ["shuffle", "shuffle-once", "shard-shuffle", "sequential"])
def test_a_run_can_be_sent_to_another_process(order):
    run = simulate(job(failures=scripted(at_steps=[25]), data__order=order, loader__preset="epoch"))
    again = pickle.loads(pickle.dumps(run))
    assert again.summary() == run.summary()
    assert again.batch(40).tolist() == run.batch(40).tolist()


@pytest.mark.parametrize(("seed", "replication"), [(-1, 0), (0, -1), (2**63, 0), (0, 2**63)])
def test_seeds_and_replications_have_bounds(seed, replication):
    with pytest.raises(ValueError, match="of at least 0 and below"):
        simulate(job(), replication, seed)


def test_whole_numbers_are_whole():
    run = simulate(job())
    for call in (lambda: run.sample(1.5), lambda: run.batch(1.0), lambda: simulate(job(), 0, "x")):
        with pytest.raises(TypeError):
            call()


def test_a_loader_that_refuses_ends_the_run_at_that_restart():
    class Feed:
        def begin(self, step, degree, goes_on):
            return Refused("saved by 4 ranks, cannot be restored by 3") if degree == 3 else None

        def resume_ns(self, step, degree):
            return 0

        def crash(self):
            return None

        def end(self, stop, read, ended_by):
            pass

    scenario = job(failures=scripted(at_steps=[25, 45], data=[4, 3], detection="7 s"), recovery={"start_up": "60 s"})
    history = run_checked(World(scenario, 0, 0, Feed()), scenario)
    check_history(history)
    assert (history.outcome, history.reason) == ("refused", "saved by 4 ranks, cannot be restored by 3")
    assert [(leg.start, leg.stop, leg.kept) for leg in history.legs] == [(0, 25, 20), (20, 45, 40)]
    assert history.wall_ns == history.legs[-1].end_ns + 67 * 10**9


@pytest.mark.parametrize(("most", "looked_at"), [(1200, True), (1199, False)])
def test_batches_are_compared_by_their_samples_only_in_small_runs(monkeypatch, most, looked_at):
    """1,200 views: a run that is told to count by sample holds N integers, not every view."""
    calls = []
    monkeypatch.setattr(run_module, "IDENTITY_MAX", most)
    monkeypatch.setattr(run_module, "same_batches", lambda *reads: calls.append(reads) or same_batches(*reads))
    changes = {"run__account": "identity", "data__samples": 600, "loader__preset": "epoch"}
    run = simulate(job(failures=scripted(at_steps=[25]), **changes))
    assert run.summary()["identical_steps_share"] == 0.2
    assert bool(calls) == looked_at
