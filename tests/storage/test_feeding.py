"""A storage in the run: starved steps are longer, and coming back takes time."""

import pytest

from clustersim import load_scenario, simulate
from clustersim.forecast import forecast
from clustersim.storage.bounds import replay_s, resume_s
from clustersim.storage.compile import reading_of, store_of
from clustersim.storage.feeding import StoredFeed, wait_ns
from clustersim.storage.patterns import access_of
from clustersim.study.histories import groups

JOB = {
    "run": {"steps": 300},
    "model": {"global_batch": 64, "step_time": "1 s"},
    "cluster": {"nodes": 8, "gpus_per_node": 1},
    "failures": [{"cause": "crash", "at_steps": [130, 255]}],
    "checkpoint": {"every": "20 steps", "stall": "2 s"},
    "data": {"samples": 6400, "shards": 16, "bytes_per_sample": "100 kB"},
}
DISKS = {"preset": "hard-disk"}


def world(**parts):
    return load_scenario({**JOB, "storage": DISKS, **parts})


def test_a_store_that_keeps_up_costs_the_run_its_way_back_alone():
    fast, plain = simulate(world(storage={"preset": "nvme"})), simulate(load_scenario(JOB))
    assert fast.time_ns["data_starvation"] == plain.time_ns["loader_resume"] == 0
    assert fast.history.wall_ns - plain.history.wall_ns == fast.time_ns["loader_resume"] > 0
    assert fast.time_ns | {"loader_resume": 0} == plain.time_ns


def test_a_window_that_lasts_many_steps_does_not_hide_the_wait():
    """131 samples are read ahead, 8 a step: the store gives one of them a second where eight are asked for."""
    slow = {"read_bandwidth": "1 kB/s", "operations_per_s": 1}
    data = {"samples": 240, "bytes_per_sample": "1 kB", "order": "sequential"}
    scenario = load_scenario("workshop", {"storage": slow, "data": data})
    assert wait_ns(scenario, 4) == pytest.approx(7e9, rel=0.05)


def test_a_starved_step_is_longer_by_its_wait():
    """A disk that serves 32 requests a second: a step of 64 samples takes two seconds, and not one."""
    scenario = world(storage={**DISKS, "operations_per_s": 32})
    assert wait_ns(scenario, 8) == pytest.approx(1e9, rel=0.01)
    run = simulate(scenario)
    waits = wait_ns(scenario, 8)
    assert run.steps == 300
    assert run.time_ns["useful"] == 300 * 10**9
    assert run.time_ns["data_starvation"] == 300 * waits
    assert run.time_ns["degraded"] == 0
    # 10 steps of each crash, and half of the one in flight
    assert run.time_ns["wasted_progress"] == pytest.approx((10 + 15 + 1) * (10**9 + waits))
    assert sum(run.time_ns.values()) == run.history.wall_ns
    assert run.summary()["ettr"] == pytest.approx(300e9 / run.history.wall_ns)


def test_the_time_between_saves_is_training_that_waits():
    slow = simulate(world(storage={**DISKS, "operations_per_s": 32}, checkpoint={"every": "30 s"}))
    assert slow.checkpoints["step"].head(3).tolist() == [15, 30, 45]


def test_fewer_replicas_wait_for_less():
    """A step of half the replicas takes twice as long: what starves eight feeds four."""
    scenario = world(storage={**DISKS, "operations_per_s": 40})
    assert wait_ns(scenario, 8) == pytest.approx(0.6e9, rel=0.01)
    assert wait_ns(scenario, 4) == 0


@pytest.mark.parametrize(
    ("loader", "order", "again"),
    [
        ({"preset": "restore"}, "shuffle", 0),
        ({"preset": "epoch"}, "shuffle", 0),
        ({"preset": "torch-distributed-skip"}, "shuffle", 1),
        ({"preset": "torchdata-iterable-buffer", "buffer": 200}, "shard-shuffle", 0),
    ],
)
def test_coming_back_costs_an_open_and_a_batch_a_refill_or_all_that_was_read(loader, order, again):
    scenario = world(loader=loader, data={**JOB["data"], "order": order})
    reading = reading_of(scenario)
    store = store_of(scenario.storage, reading.nodes)
    access = access_of("shuffle-buffer" if "buffer" in loader else "random", reading, store)
    # 100 steps an epoch: the crashes go back to steps 20 and 40 of their epochs
    back_s = [replay_s(again * step, access, reading, store) for step in (20, 40)]
    assert simulate(scenario).time_ns["loader_resume"] == pytest.approx(1e9 * sum(back_s))
    if "buffer" in loader:
        assert resume_s(access, reading, store) > 2 * resume_s(
            access_of("shard-shuffle", reading, store), reading, store
        )


# 640 MB at 64/9 MB/s: a copy takes 90 s, an epoch 100 steps of 1 s.
BEHIND = {
    "storage": {
        "read_bandwidth": "1 GB/s",
        "operations_per_s": 10**6,
        "shuffle_bandwidth": f"{640_000_000 / 90:.3f} B/s",
    },
    "feed": {"pattern": "copy-behind"},
}


def waits_of(crashes, steps, **parts):
    """What restarts wait for copies, in seconds: beside the way back to their batch."""
    scenario = world(
        run={"steps": steps},
        failures=[{"cause": "crash", "at_steps": crashes}] if crashes else [],
        **{**BEHIND, **parts},
    )
    run = simulate(scenario)
    assert run.time_ns["data_starvation"] == 0
    reading = reading_of(scenario)
    store = store_of(scenario.storage, reading.nodes)
    back_s = resume_s(access_of("copy-behind", reading, store), reading, store)
    spent_s = [each.spent_ns("loader_resume") / 1e9 for each in run.history.recoveries]
    return [round(each and each - back_s, 3) for each in spent_s]


@pytest.mark.parametrize(
    ("crashes", "steps", "waits"),
    [
        # 30 s of a copy are lost and the epoch has 80 steps left: 10 s. Then 15 are lost of another, 60 left, 30 s.
        ([130, 255], 320, [10, 30]),
        ([130, 255], 300, [10, 0]),  # nothing is read of the epoch after that
        ([189], 320, [70]),  # the copy was a second short: 20 steps are left from the checkpoint
        ([191], 320, [0]),  # it was made
        ([191, 192], 320, [0, 0]),  # and stays
        ([101, 109], 320, [0, 0]),  # from step 100 on there is time for another one
        ([130, 131], 320, [10, 10]),  # ten seconds of waiting made no whole copy
        ([], 320, []),
    ],
)
def test_a_crash_begins_the_copy_of_the_next_epoch_anew(crashes, steps, waits):
    assert waits_of(crashes, steps) == waits


def test_what_a_restart_waited_for_is_made_of_the_next_copy():
    """10 s were waited at step 120, where 80 are left: the copy is whole with the epoch, and at step 199 not."""
    assert waits_of([130, 205], 320) == [10, 0]
    assert waits_of([130, 199], 320) == [10, 70]


@pytest.mark.parametrize(("in_place", "waits_s"), [(True, 0), (False, 70)])
def test_survivors_that_go_on_in_place_go_on_with_the_copy(in_place, waits_s):
    """95 s of one that takes 90, with a crash after 50 of them; 20 steps are left from step 180."""
    feed = StoredFeed(world(**BEHIND, run={"steps": 320}), None)
    feed.begin(0, 8)
    feed.end(150, 151, "crash")
    made_ns = feed.resume_ns(110, 8)  # 90 steps are left: the way back to the batch alone
    feed.begin(150, 8, goes_on=in_place)
    feed.end(195, 196, "crash")
    assert feed.resume_ns(180, 8) - made_ns == pytest.approx(waits_s * 10**9, abs=1)


def test_a_loader_that_ends_the_run_is_asked_beside_the_storage():
    run = simulate(world(run={"epochs": 2}, loader={"preset": "epoch"}))
    plain = simulate(load_scenario({**JOB, "run": {"epochs": 2}, "loader": {"preset": "epoch"}}))
    assert run.steps == plain.steps
    assert run.time_ns["loader_resume"] > 0


def test_loaders_share_a_history_only_without_a_storage():
    loaders = [{"preset": "restore"}, {"preset": "torch-distributed-skip"}]
    assert groups([load_scenario({**JOB, "loader": loader}) for loader in loaders], None) == [[0, 1]]
    assert groups([world(loader=loader) for loader in loaders], None) == [[0], [1]]


def test_the_forecast_knows_that_steps_wait():
    told = forecast(world(storage={**DISKS, "operations_per_s": 32}))
    assert told.step_s == pytest.approx(2, rel=0.01)
    assert told.failure_free_h == pytest.approx((300 * 2 + 14 * 2) / 3600, rel=0.01)
    warning = "the storage starves the job: read by random, at most 0.5 of what is asked for comes, by its operations"
    assert told.warnings == (warning,)
    assert forecast(world()).warnings == ()
