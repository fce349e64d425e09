"""Survivors that go on in place: what is lost costs the step in flight, and replicas join again as they are back."""

import math

import numpy as np
import pytest
from by_hand import job, legs, scripted, seconds
from worlds import check_history

from clustersim import ScenarioError, simulate

IN_PLACE = {"policy": "shrink", "in_place": True}


def committed_share(run):
    steps = [(leg.stop - leg.start, leg.read - leg.stop) for leg in run.history.legs]
    committed, failed = (sum(column) for column in zip(*steps, strict=True))
    return committed / (committed + failed)


def thirty_groups(failures, seed=0):
    """torchft's elastic run: 30 replica groups, 10.9 s a step, 6,249 steps begun in 68,114 s."""
    return simulate(
        job(
            run={"wall_time": "68114.1 s"},
            model={"global_batch": 30, "step_time": "10.9 s"},
            cluster={"nodes": 30, "gpus_per_node": 1},
            failures=failures,
            checkpoint={"every": "10000 steps"},
            recovery=IN_PLACE,
        ),
        seed=seed,
    )


def test_the_share_of_committed_steps_with_failures_at_even_times():
    """The published run committed 5,145 of 6,249 steps, 82.3 %, with about 1,100 failures."""
    evenly = thirty_groups(scripted(at_times=[f"{61.92 * k + 1:.2f} s" for k in range(1100)]))
    assert committed_share(evenly) == pytest.approx(1 - 1100 / 6249, abs=2e-4)
    minutely = thirty_groups(scripted(at_times=[f"{60 * k + 1} s" for k in range(1135)]))
    assert committed_share(minutely) == pytest.approx(1 - 10.9 / 60, abs=2e-4)
    assert minutely.summary()["restarts"] == 0


def test_the_share_of_committed_steps_with_random_failures():
    """A step is committed if nothing strikes in it: exp(-10.9 / 60)."""
    shares = [thirty_groups([{"cause": "kill", "rate": "2 per node-hour"}], seed) for seed in range(20)]
    shares = np.array([committed_share(run) for run in shares])
    z = (shares.mean() - math.exp(-10.9 / 60)) / (shares.std(ddof=1) / math.sqrt(len(shares)))
    assert abs(z) < 3.5
    assert shares.std(ddof=1) < 0.01


def test_a_failure_costs_the_step_in_flight_and_the_regrouping():
    """Step 25 begins at 258 s, after two saves of 4 s; struck at 263 s it ends at 268 s and is thrown away."""
    run = simulate(
        job(
            failures=scripted(at_steps=[25], data=[3]),
            checkpoint__stall="4 s",
            recovery={**IN_PLACE, "regroup": "2 s", "start_up": "1 h", "load": "1 h"},
        )
    )
    assert legs(run) == [(0, 25, 25, 4), (25, 100, 100, 3)]
    first, second = run.history.legs
    assert (first.read, first.end_ns, second.begin_ns) == (26, 263 * 10**9, 270 * 10**9)
    assert seconds(run) == {
        "useful": 1000,
        "degraded": pytest.approx(75 * 10 / 3),
        "wasted_progress": 10,
        "start_up": 2,
        "save_stall": 9 * 4,
    }
    # The interval goes on: the next save falls due after step 30, not 35.
    assert run.checkpoints["step"].tolist() == [*range(10, 100, 10), 100]
    assert (run.summary()["interruptions"], run.summary()["restarts"]) == (1, 0)
    assert run.account.extra == run.account.missing == 0


def test_only_degrees_that_divide_the_batch_go_on():
    """A batch of 16 in steps of 4 groups: three cannot divide it, two go on (meta-pytorch/torchft#302)."""
    run = wears(
        cluster={"nodes": 4, "gpus_per_node": 1},
        model__global_batch=16,
        parallelism={"uneven": "refuse"},
        recovery=IN_PLACE,
    )
    assert [leg.data for leg in run.history.legs] == [4, 2, 4]


def test_a_batch_that_shrinks_with_the_replicas_takes_no_longer_a_step():
    """Three groups of 8; two go on with 16 samples a step, in steps of 10 s as before."""
    loader = {"partition": "strided", "rank_batch": "constant", "saves": "samples", "comes_back": "exact"}
    run = simulate(
        job(
            run={"steps": 20},
            cluster={"nodes": 3, "gpus_per_node": 1},
            model__global_batch=24,
            failures=scripted(at_steps=[10], data=[2]),
            recovery={**IN_PLACE, "batch": "shrinks"},
            loader=loader,
        )
    )
    assert seconds(run) == {"useful": 200, "wasted_progress": 10}
    assert run.summary()["lineage_views"] == 10 * 24 + 10 * 16
    assert run.summary()["missing_views"] - run.summary()["extra_views"] == 10 * 8


def test_failures_in_the_step_that_fails_are_one_loss_and_a_hang_makes_it_longer():
    """Struck at 255 and 257 s; the hang from 258 s on is seen at 278 s, 18 s after the end of the step."""
    hang = {"cause": "hang", "kind": "hang", "at_times": ["258 s"], "detection": "20 s"}
    causes = [*scripted(at_times=["255 s", "257 s"]), hang]
    run = simulate(job(failures=causes, recovery={**IN_PLACE, "regroup": "1 s"}))
    assert legs(run) == [(0, 25, 25, 4), (25, 100, 100, 4)]
    assert seconds(run) == {"useful": 1000, "wasted_progress": 10, "detection": 18, "start_up": 1}
    assert run.summary()["interruptions"] == 3


@pytest.mark.parametrize("cause", [{"scope": "job"}, {"kind": "silent"}])
def test_what_stops_or_reaches_every_replica_is_a_restart(cause):
    law = {"law": {"type": "empirical", "durations": ["255 s"]}, "ages": "wall"}
    run = simulate(job(failures=[{"cause": "all", **law, **cause}], run={"wall_time": "300 s"}, recovery=IN_PLACE))
    assert legs(run)[0] == (0, 25, 20, 4)
    assert not run.history.legs[0].goes_on


def test_a_full_restart_goes_back_behind_the_legs_that_went_on():
    """Struck in steps 23 and 27; the corruption of 275 s is seen at 296 s, before which step 20 was saved."""
    silent = {"cause": "flip", "kind": "silent", "at_times": ["275 s"], "detection": "21 s"}
    run = simulate(job(failures=[*scripted(at_steps=[23, 27]), silent], recovery=IN_PLACE))
    assert legs(run) == [(0, 23, 23, 4), (23, 27, 27, 4), (27, 27, 20, 4), (20, 100, 100, 4)]
    assert run.history.lineage_stops() == [20, 23, 27, 100]
    check_history(run.history)


def wears(**changes):
    """One of three nodes fails at 255 s, for 300 s."""
    wear = {"cause": "wear", "law": {"type": "empirical", "durations": ["255 s", "9 y"]}, "repair": "300 s"}
    scenario = job(failures=[wear], **changes)
    for replication in range(200):
        run = simulate(scenario, replication=replication)
        mine = [row for row in run.history.happenings if row.kind == "failure"]
        if [(row.time_ns, row.where) for row in mine] == [(255 * 10**9, "job")]:
            return run
    raise AssertionError("no such replication")


def test_a_replica_joins_when_its_node_is_back_and_healed():
    """12 samples on 3 nodes: 10 s a step, 15 s on two. Step 25 fails until 260 s. The node is back at 555 s: after the
    step in flight, which ends at 560 s, it is taken and heals for 40 s; at 600 s the step in flight ends at 605 s."""
    run = wears(cluster={"nodes": 3, "gpus_per_node": 1}, recovery={**IN_PLACE, "rejoin": "40 s"})
    assert legs(run) == [(0, 25, 25, 3), (25, 45, 45, 2), (45, 48, 48, 2), (48, 100, 100, 3)]
    assert [leg.end_ns // 10**9 for leg in run.history.legs[:3]] == [255, 560, 605]
    assert [leg.nodes for leg in run.history.legs] == [3, 2, 3, 3]
    assert [leg.ended_by for leg in run.history.legs[:3]] == ["wear", "regrouping", "regrouping"]
    assert seconds(run) == {"useful": 1000, "degraded": 23 * 5, "wasted_progress": 10}
    assert sum(run.node_time_ns.values()) == run.history.node_ns


def test_a_spare_heals_while_the_others_train():
    run = wears(
        cluster={"nodes": 3, "gpus_per_node": 1, "spares": 1}, recovery={**IN_PLACE, "rejoin": "40 s", "regroup": "1 s"}
    )
    assert legs(run) == [(0, 25, 25, 3), (25, 28, 28, 2), (28, 100, 100, 3)]
    assert run.history.legs[1].begin_ns == 261 * 10**9
    assert run.history.legs[1].end_ns == 306 * 10**9  # healed at 301 s


def test_a_mended_node_takes_a_regrouping_to_heal_and_one_to_join():
    """Back at 555 s; the step in flight ends at 561 s, from 562 s on it heals for 40 s, and until a step ends."""
    run = wears(cluster={"nodes": 3, "gpus_per_node": 1}, recovery={**IN_PLACE, "rejoin": "40 s", "regroup": "1 s"})
    assert [(leg.begin_ns // 10**9, leg.end_ns // 10**9) for leg in run.history.legs[1:3]] == [(261, 561), (562, 607)]
    assert seconds(run)["start_up"] == 3


def test_without_replicas_enough_the_job_restarts():
    run = wears(
        cluster={"nodes": 3, "gpus_per_node": 1}, recovery={**IN_PLACE, "start_up": "7 s"}, parallelism={"min_data": 3}
    )
    assert legs(run) == [(0, 25, 20, 3), (20, 100, 100, 3)]
    assert seconds(run)["waiting_for_nodes"] == 300


@pytest.mark.parametrize(
    ("recovery", "line"),
    [
        ({"in_place": True}, 'policy: expected "shrink" with in_place, found "spare"'),
        ({**IN_PLACE, "grow_back": "at-once"}, "grow_back: expected none beside in_place, .*, found"),
        ({"batch": "shrinks"}, 'loader.rank_batch: expected "constant" with recovery.batch = "shrinks", found "share"'),
        ({"rejoin": "1 min"}, "rejoin: expected in_place beside it, found none"),
    ],
)
def test_keys_that_do_not_go_together(recovery, line):
    with pytest.raises(ScenarioError, match=rf"^scenario: (recovery\.)?{line}"):
        job(recovery=recovery)
