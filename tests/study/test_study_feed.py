"""The table of feeding: who keeps up, and what a restart does."""

import math

import numpy as np
import pytest

from clustersim.scenario import ScenarioError, load_scenario, presets
from clustersim.storage.patterns import PATTERNS
from clustersim.storage.quality import same_shard_behind_a_buffer, same_shard_in_a_run
from clustersim.study.feed import feed

SMALL = {
    "run": {"epochs": 2},
    "model": {"global_batch": 24, "step_time": "100 ms"},
    "cluster": {"nodes": 4, "gpus_per_node": 1},
    "checkpoint": {"every": "10 steps"},
    "data": {"samples": 9600, "shards": 96, "bytes_per_sample": "20 kB"},
    "storage": {"preset": "hard-disk", "units": 4},
    "feed": {"workers": 2},
}


def rows(table):
    return {(row["store"], row["pattern"], row["loader"]): row for row in table.to_dict("records")}


def test_a_row_a_pattern_on_the_scenarios_own_store():
    table = feed(SMALL, steps=20)
    assert table["pattern"].tolist() == list(PATTERNS)
    assert set(table["store"]) == {"scenario"}
    assert table["loader"].tolist() == ["scenario"] * 2 + ["torchdata-iterable-buffer"] + ["scenario"] * 5
    bounds = table.filter(regex="^keeps_up_")
    assert bounds.shape[1] == 4
    assert (table["keeps_up"] == bounds.min(axis=1)).all()


def test_without_a_store_every_shipped_one():
    plain = {**SMALL}
    del plain["storage"]
    told = []
    table = feed(plain, steps=5, progress=told.append)
    assert list(dict.fromkeys(table["store"])) == list(presets("storage"))
    assert told == [row / len(table) for row in range(1, len(table) + 1)]


def test_random_reads_fail_on_disks_and_nvme_carries_them():
    own = rows(feed("images", steps=30))
    nvme = rows(feed(load_scenario("images", {"storage": {"preset": "nvme"}}), steps=30))
    for pattern in ("random", "indices"):
        on_disks, on_nvme = own["scenario", pattern, "scenario"], nvme["scenario", pattern, "scenario"]
        assert on_disks["bottleneck"] == "operations"
        assert on_disks["keeps_up"] == pytest.approx(24 * 150 / 8192)
        assert on_disks["keeps_up_bandwidth"] > 1
        assert on_disks["wait_share"] == pytest.approx(1 - on_disks["keeps_up"], rel=0.03)
        assert on_nvme["keeps_up"] > 10
        assert on_nvme["wait_share"] < 0.001
    assert own["scenario", "shard-shuffle", "scenario"]["keeps_up"] > 5
    assert own["scenario", "shard-shuffle", "scenario"]["wait_share"] < 0.01


def test_one_restart_in_mid_epoch():
    table = rows(feed(SMALL, loaders=["epoch", "transformers-trainer"], steps=5))
    restored = table["scenario", "random", "scenario"]
    assert (restored["extra_views"], restored["missing_views"], restored["reproducible"]) == (0, 0, True)
    again = table["scenario", "random", "epoch"]
    # 400 steps an epoch; the crash in step 205 goes back to 200, from where the epoch is read from its start
    assert (again["extra_views"], again["missing_views"], again["reproducible"]) == (4800, 4800, False)
    buffered = table["scenario", "shuffle-buffer", "torchdata-iterable-buffer"]
    assert buffered["missing_views"] == 24  # 0.25 % of the data, in eight buffers of three
    assert not buffered["reproducible"]


def test_a_loader_that_counts_batches_reads_them_again_to_find_its_place():
    table = rows(feed(SMALL, loaders=["transformers-trainer"], steps=5))
    saved, counted = table["scenario", "random", "scenario"], table["scenario", "random", "transformers-trainer"]
    assert counted["resume_s"] - saved["resume_s"] == pytest.approx(200 * 24 / (4 * 150))
    assert counted["first_batch_s"] == saved["first_batch_s"]


def test_a_loader_that_deals_shards_out_mixes_those_of_all_ranks():
    """Batches of 24 of four ranks: six samples of each, of shards that no other rank has; shards of 100."""
    table = rows(feed(SMALL, loaders=["torchdata-iterable"], steps=5))
    of_one_rank = 4 * 6 * 5 / (24 * 23)  # the pairs of a batch
    one_stream = table["scenario", "shard-shuffle", "scenario"]
    dealt = table["scenario", "shard-shuffle", "torchdata-iterable"]
    buffered = table["scenario", "shuffle-buffer", "torchdata-iterable-buffer"]  # buffers of three
    assert one_stream["same_shard"] == pytest.approx(same_shard_in_a_run(24, 100))
    assert dealt["same_shard"] == pytest.approx(of_one_rank * same_shard_in_a_run(6, 100))
    assert buffered["same_shard"] == pytest.approx(of_one_rank * same_shard_behind_a_buffer(6, 100, 3))


def test_what_the_scenario_does_not_allow_says_why():
    table = rows(feed({**SMALL, "data": {**SMALL["data"], "shards": 2}}, steps=5))
    refused = table["scenario", "shuffle-buffer", "torchdata-iterable-buffer"]
    assert "data.shards: expected at least 8 shards" in refused["refused"]
    assert math.isnan(refused["extra_views"])
    assert refused["reproducible"] is None
    assert (refused["keeps_up"], refused["wait_share"], refused["memory_bytes"]) == (0, 1, 24 * 20_000)  # as asked for


def test_ranks_without_a_shard_wait_for_ever():
    changes = {"loader": {"preset": "torchdata-iterable"}, "data": {**SMALL["data"], "order": "shard-shuffle"}}
    table = rows(feed({**SMALL, **changes, "feed": {"workers": 1}}, steps=5))
    assert table["scenario", "shard-shuffle", "scenario"]["keeps_up"] > 0
    with pytest.raises(ScenarioError, match="at least 4 shards"):
        feed({**SMALL, "data": {**changes["data"], "shards": 3}, "loader": changes["loader"]}, steps=5)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"stores": ["nvmee"]}, 'storage.preset: expected one of .*, found "nvmee"; did you mean "nvme"'),
        ({"loaders": ["epok"]}, 'loader.preset: expected a preset .*; did you mean "epoch"'),
    ],
)
def test_a_preset_that_is_none_is_refused(arguments, told):
    with pytest.raises(ScenarioError, match=told):
        feed(SMALL, steps=5, **arguments)


@pytest.mark.parametrize("step", [0, 30, 400])
def test_a_step_to_come_back_to(step):
    table = rows(feed(SMALL, loaders=["transformers-trainer"], steps=5, resume_at=step))
    saved, counted = table["scenario", "random", "scenario"], table["scenario", "random", "transformers-trainer"]
    assert counted["resume_s"] - saved["resume_s"] == pytest.approx(step * 24 / (4 * 150))


def test_a_step_that_the_epoch_does_not_have_is_refused():
    with pytest.raises(ValueError, match="expected a step from 0 to 400, where the epoch ends, found 401"):
        feed(SMALL, steps=5, resume_at=401)


@pytest.mark.parametrize("per_day", [2, 24])
def test_a_copy_that_crashes_begin_anew_takes_as_long_as_it_is_played(per_day):
    """A corpus of 192 GB at 10 MB/s, 5 h 20 min, and failures at random: 20,000 makings."""
    changes = {
        "data": {**SMALL["data"], "bytes_per_sample": "20 MB"},
        "storage": {**SMALL["storage"], "shuffle_bandwidth": "2.5 MB/s"},
        "failures": [{"cause": "crash", "rate": f"{per_day} per day", "scope": "job"}],
    }
    table = rows(feed({**SMALL, **changes}, steps=5))
    copy, in_place = table["scenario", "copy", "scenario"], table["scenario", "random", "scenario"]
    making = 192e9 / 1e7
    assert copy["preparation_s"] == pytest.approx(making)
    rng, made, spent = np.random.default_rng(per_day), 0, []
    took = 0.0
    while made < 20_000:
        life = rng.exponential(86_400 / per_day)
        took += min(life, making)
        if life >= making:
            made += 1
            spent.append(took)
            took = 0.0
    error = np.std(spent) / math.sqrt(len(spent))
    assert abs(np.mean(spent) - copy["preparation_with_crashes_s"]) < 4 * error
    assert copy["preparation_with_crashes_s"] > 1.2 * making
    assert in_place["preparation_with_crashes_s"] == 0


def test_without_random_failures_a_copy_takes_its_time():
    copy = rows(feed(SMALL, steps=5))["scenario", "copy", "scenario"]
    assert copy["preparation_with_crashes_s"] == copy["preparation_s"] > 0


def test_windows_in_place_cost_reads_and_a_copy_64_times_the_space():
    table = rows(feed("windows", steps=5))
    in_place, copy = table["scenario", "random", "scenario"], table["scenario", "copy", "scenario"]
    assert (in_place["copy_factor"], copy["copy_factor"]) == (0, 1024 / 16)
    assert copy["space_bytes"] == 65 * in_place["space_bytes"] == 65 * 2 * 32e9
    assert in_place["reads_per_step"] == 16_384
    assert copy["reads_per_step"] == 16_384 * 4096 / 2**17  # a window of read-ahead at a time
    assert in_place["bytes_per_step"] == 16_384 * (4096 + 4095)
