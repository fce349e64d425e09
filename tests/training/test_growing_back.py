"""Growing back to full degree in a planned restart, which saves first and is no interruption."""

import pytest
from by_hand import job, legs, seconds

from clustersim import ScenarioError, simulate

WRITE = {"stall": "2 s", "write": "5 s"}


def two_replicas(grow_back, *causes, **changes):
    """One of two nodes fails at 255 s and is mended at 555 s; its partner trains on, 20 s a step, from 315 s on.

    Saves at 100 and 202 s: the second leg starts at step 20. At 555 s it is 240 s old; its tenth step was saved until
    202 s, so step 11 is complete, and step 12 will be at 242 s.
    """
    wear = {"cause": "wear", "law": {"type": "empirical", "durations": ["255 s", "9 y"]}, "repair": "300 s"}
    changes = {"checkpoint": {"every": "10 steps", **WRITE}} | changes
    scenario = job(
        failures=[wear, *causes],
        cluster={"nodes": 2, "gpus_per_node": 1},
        recovery={"policy": "shrink", "start_up": "60 s", "grow_back": grow_back},
        **changes,
    )
    for replication in range(50):
        run = simulate(scenario, replication=replication)
        if [row.time_ns for row in run.history.happenings if row.cause == "wear"] == [255 * 10**9, 555 * 10**9]:
            return run
    raise AssertionError("no such replication")


def test_by_default_it_waits_for_the_next_interruption():
    run = two_replicas("next-interruption")
    assert legs(run) == [(0, 25, 20, 2), (20, 100, 100, 1)]
    later = {"cause": "later", "at_times": ["700 s"]}
    assert [leg[-1] for leg in legs(two_replicas("next-interruption", later))] == [2, 1, 2]


def test_at_once_the_step_in_flight_is_completed_and_saved_first():
    run = two_replicas("at-once")
    assert legs(run) == [(0, 25, 20, 2), (20, 32, 32, 1), (32, 100, 100, 2)]
    assert run.history.legs[1].end_ns == (315 + 242 + 2 + 5) * 10**9
    assert run.history.legs[1].ended_by == "growing back"
    assert (run.summary()["interruptions"], run.summary()["restarts"]) == (1, 2)
    assert seconds(run) == {
        "useful": 1000,
        "degraded": 12 * 10,
        "wasted_progress": 51,  # steps 20 to 24 and a second of step 25
        "save_stall": 2 * 2 + (2 + 2 + 5) + 6 * 2,
        "start_up": 2 * 60,
    }
    assert run.checkpoints.query("leg == 1")["step"].tolist() == [30, 32]
    assert run.account.extra == run.account.missing == 0


def test_at_the_next_checkpoint_the_save_that_falls_due_is_the_last():
    run = two_replicas("next-checkpoint")
    assert legs(run) == [(0, 25, 20, 2), (20, 40, 40, 1), (40, 100, 100, 2)]
    assert run.history.legs[1].end_ns == (315 + 402 + 2 + 5) * 10**9
    assert run.checkpoints.query("leg == 1")["step"].tolist() == [30, 40]


def test_the_last_save_waits_for_the_one_before_it():
    """Step 30's save, made 202 s into the leg, is written until 262 s: step 32, complete at 242 s, waits for it."""
    run = two_replicas("at-once", checkpoint={"every": "10 steps", "stall": "2 s", "write": "60 s"})
    assert legs(run)[1] == (10, 22, 22, 1)  # step 20's save was not durable when the node failed
    assert run.history.legs[1].end_ns == (315 + 262 + 2 + 60) * 10**9


@pytest.mark.parametrize(("at", "kept"), [(556, 30), (558, 30), (563, 30), (564, 32)])
def test_a_failure_before_the_last_save_is_durable_is_an_interruption(at, kept):
    """The last save is durable at 564 s; at that very instant it is, and the failure finds it."""
    run = two_replicas("at-once", {"cause": "crash", "at_times": [f"{at} s"]})
    assert legs(run)[1:] == [(20, 31 if at == 556 else 32, kept, 1), (kept, 100, 100, 2)]
    assert run.summary()["interruptions"] == 2


def test_a_script_does_not_strike_in_the_last_save():
    """Step 32 would be in flight at 252 s of the leg, if it went on; it is trained, and struck, in the next one."""
    run = two_replicas("at-once", {"cause": "scripted", "at_steps": [32]})
    assert legs(run) == [(0, 25, 20, 2), (20, 32, 32, 1), (32, 32, 32, 2), (32, 100, 100, 2)]


def test_it_does_not_restart_for_a_step_that_is_the_last():
    assert len(two_replicas("at-once", run={"steps": 32}).history.legs) == 2
    assert len(two_replicas("at-once", run={"steps": 33}).history.legs) == 3


def test_the_end_by_time_in_the_last_save():
    keys = {"run": {"wall_time": "561 s"}}
    run = two_replicas("at-once", **keys)
    assert (legs(run)[-1], seconds(run)["save_stall"]) == ((20, 32, 32, 1), 4 + 2 + 4)
    run = two_replicas("at-once", checkpoint={"every": "10 steps", **WRITE, "final_checkpoint": False}, **keys)
    assert legs(run)[-1] == (20, 32, 30, 1)


def test_only_a_job_that_shrinks_grows_back():
    with pytest.raises(
        ScenarioError, match=r'recovery\.policy: expected "shrink" with grow_back = "at-once", found "spare"'
    ):
        job(recovery={"grow_back": "at-once"})
