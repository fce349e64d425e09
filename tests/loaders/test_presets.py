"""Presets against what the libraries did when they were crashed and restarted.

960 samples in 24 shards, global batch 24, 2 epochs; the loop runs to the end of its epochs. Extra and missing views
against an ideal of each sample once an epoch.
"""

import math
import re
import statistics

import pytest

from clustersim import load_scenario, simulate
from clustersim.scenario import ScenarioError, presets

# The checkpoints that are restarted from, and the ranks at first and after each; an epoch ends with step 40.
HISTORIES = {
    "same": ([20], [4, 4]),
    "epoch 2": ([60], [4, 4]),
    "twice": ([10, 30], [4, 4, 4]),
    "4 to 3": ([20], [4, 3]),
    "4 to 2": ([20], [4, 2]),
    "2 to 4": ([20], [2, 4]),
    "edge": ([40], [4, 4]),
}
SOUND = dict.fromkeys(HISTORIES, (0, 0))
# A job that grows would refuse the crash that it begins with.
REFUSES = {key: (0, 0) for key in HISTORIES if key != "2 to 4"} | {"4 to 3": "refused", "4 to 2": "refused"}
RESTARTS = {**dict.fromkeys(HISTORIES, (480, 0)), "twice": (720, 0), "edge": (960, 0)}
LOCAL = {**SOUND, "4 to 3": (120, 0), "4 to 2": (240, 0), "2 to 4": (0, 480)}
BUFFER_LOST = {"same": (0, 256), "epoch 2": (0, 256), "twice": (0, 256), "2 to 4": (0, 480), "edge": (0, 0)}
EXACTLY = {
    "torch-distributed-restart": RESTARTS,
    "torch-distributed-skip": SOUND,
    "torch-distributed-no-epoch": {**RESTARTS, "epoch 2": (1440, 0)},
    "torch-dataloader-sampler-state": {
        "same": (0, 96),
        "epoch 2": (0, 96),
        "twice": (0, 192),
        "4 to 2": (192, 0),
        "2 to 4": (0, 480),
        "edge": (0, 0),
    },
    "torchdata-map": LOCAL,
    "torchdata-map-plain-sampler": LOCAL,
    "torchdata-iterable": LOCAL,
    "torchdata-iterable-stateless": {**SOUND, "twice": (0, 240), "2 to 4": (240, 240)},
    "torchdata-iterable-buffer": BUFFER_LOST,
    "datasets-3.6": LOCAL,
    "datasets-4.8": LOCAL,
    "datasets-5.2": LOCAL,
    "datasets-3.6-buffer": BUFFER_LOST,
    "datasets-4.8-buffer": BUFFER_LOST,
    "datasets-5.2-buffer": {**REFUSES, "same": (0, 160), "epoch 2": (0, 160), "twice": (0, 240)},
    "accelerate-skip": SOUND,
    "accelerate-no-skip": RESTARTS,
    "accelerate-stateful": {**SOUND, "edge": (960, 0)},
    "transformers-trainer": {**SOUND, "4 to 3": (144, 0), "4 to 2": (240, 0), "2 to 4": (0, 240)},
    "lightning-plain": {"same": (480, 480), "epoch 2": (480, 480), "twice": (480, 480), "edge": (0, 0)},
    "lightning-stateful": {**SOUND, "edge": (0, 960)},
    "mosaicml-streaming": SOUND,
    "grain-sliced": {key: LOCAL[key] for key in LOCAL if key != "2 to 4"},
    "grain-dataloader": REFUSES,
    "grain-elastic": SOUND,
    "dlrover-shard-queue": {**SOUND, "twice": (80, 0)},
    "litdata-0.2.50": {**SOUND, "4 to 3": (280, 160), "4 to 2": (240, 0), "2 to 4": (480, 0), "edge": (960, 0)},
    "litdata-0.2.76": {**SOUND, "edge": (960, 0)},
    "megatron": SOUND,
    "megatron-cyclic": SOUND,
    "lhotse-simple": {**REFUSES, "same": (360, 0), "epoch 2": (360, 0), "twice": (540, 0), "edge": (720, 0)},
    "lhotse-dynamic": REFUSES,
    "energon": REFUSES,
    "horovod-elastic": SOUND,
    "torchft-sampler": RESTARTS,
    "webdataset-no-state": RESTARTS,
    "tf-data": {**SOUND, "4 to 3": (2, 86), "4 to 2": (0, 172), "2 to 4": (222, 0)},
}
# One measured draw of each law.
AT_RANDOM = {
    "accelerate-1.10-skip": {"epoch 2": (245, 245)},
    "torch-new-permutation": {"same": (240, 240), "epoch 2": (231, 231), "twice": (266, 266), "4 to 3": (240, 240)},
    "torchdata-iterable-buffer": {"4 to 3": (53, 125), "4 to 2": (181, 69)},
    "datasets-3.6-buffer": {"4 to 3": (41, 113), "4 to 2": (168, 56)},
    "grain-sliced": {"2 to 4": (122, 602)},
    "megatron-cyclic-sharded": {"4 to 3": (239, 239), "4 to 2": (228, 228), "2 to 4": (228, 228)},
}
BY_LAW = ["webdataset-resampled"]
PLAIN = ["restore", "epoch", "reshuffle", "unseen-remainder", "restart-run", "no-rewind"]
# What the measured run had beside the preset's own.
MEASURED_WITH = {name: {"buffer": 64} for name in EXACTLY if name.endswith("-buffer")}
MEASURED_WITH["tf-data"] = {"buffer": 64, "repeats": 2}
CASES = [(name, history, figures) for name, of in EXACTLY.items() for history, figures in of.items()]
DRAWN = [(name, history, figures) for name, of in AT_RANDOM.items() for history, figures in of.items()]


def order_of(preset):
    """The order of the data that the preset says it needs, the first of them, or a full shuffle."""
    needs = re.search(r'Needs data\.order = "([a-z-]+)"', presets()[preset])
    return needs[1] if needs else "shuffle"


def scenario(preset, history, samples=960, **loader):
    checkpoints, ranks = HISTORIES[history]
    crashes = [(c + 3, after) for c, after in zip(checkpoints, ranks[1:], strict=True)]
    if ranks[0] < max(ranks):  # a job that grows begins with a crash
        crashes.insert(0, (0, ranks[0]))
    return load_scenario(
        {
            "run": {"epochs": 2},
            "model": {"global_batch": 24, "step_time": "1 s"},
            "cluster": {"nodes": max(ranks), "gpus_per_node": 1},
            "failures": [
                {"cause": "crash", "at_steps": [step for step, _ in crashes], "data": [after for _, after in crashes]}
            ],
            "checkpoint": {"every": "5 steps"},
            "data": {"samples": samples, "shards": 24, "order": order_of(preset)},
            "loader": {"preset": preset, **MEASURED_WITH.get(preset, {}), **loader},
        }
    )


def damage(run):
    summary = run.summary()
    return summary["extra_views_ideal"], summary["missing_views_ideal"]


@pytest.mark.parametrize(("preset", "history", "measured"), CASES)
def test_what_the_library_did(preset, history, measured):
    run = simulate(scenario(preset, history))
    if measured == "refused":
        assert run.history.outcome == "refused"
        assert run.steps == 20
    else:
        assert run.history.outcome == "done"
        assert damage(run) == measured


@pytest.mark.parametrize(("preset", "history", "measured"), DRAWN)
def test_what_the_library_drew(preset, history, measured):
    drawn = [damage(simulate(scenario(preset, history), seed=seed)) for seed in range(30)]
    for found, ours in zip(measured, zip(*drawn, strict=True), strict=True):
        assert abs(found - statistics.mean(ours)) < 4 * statistics.stdev(ours)
    assert {extra - missing for extra, missing in drawn} == {measured[0] - measured[1]}


def test_part_of_a_sharded_order_is_exact_until_the_ranks_change():
    for history in ("same", "epoch 2", "twice", "edge"):
        assert damage(simulate(scenario("megatron-cyclic-sharded", history))) == (0, 0)


@pytest.mark.parametrize("history", ["same", "twice", "4 to 3"])
def test_a_saved_buffer_is_exact_until_the_ranks_change(history):
    run = simulate(scenario("torchdata-iterable-buffer", history, buffer_saved=True))
    assert (damage(run) == (0, 0)) == (history != "4 to 3")


def test_a_plain_sampler_refuses_to_grow_past_its_part():
    """2 to 4 ranks with 300 of 480 samples read by each: 240 are too few now."""
    assert simulate(scenario("torchdata-map-plain-sampler", "2 to 4")).history.outcome == "done"
    document = scenario("torchdata-map-plain-sampler", "2 to 4").resolved()
    document["failures"][0]["at_steps"] = [0, 28]
    run = simulate(load_scenario(document))
    assert run.history.outcome == "refused"
    found = "a saved position is 300, and on 4 ranks a reader has 240 samples"
    assert run.history.reason == f"{found}: on 3 it comes back"


# At 997 samples, in 41 whole batches of 24 and a rest of 13: views an epoch, and steps.
TAILS = {
    "restore": (997, None),
    "megatron-cyclic": (984, 41),
    "accelerate-skip": (1008, 42),
    "transformers-trainer": (1008, 42),
    "mosaicml-streaming": (1008, 42),
    "lightning-stateful": (997, 42),
    "torch-distributed-skip": (1000, 42),
    "torch-distributed-restart": (1000, 42),
    "torchdata-map": (1000, 42),
    "horovod-elastic": (1000, 42),
}


@pytest.mark.parametrize("preset", TAILS)
def test_the_end_of_an_epoch_that_no_batch_divides(preset):
    views, steps = TAILS[preset]
    run = simulate(load_scenario(scenario(preset, "same", samples=997), {"failures": []}))
    if steps is None:  # batches go on over the end of all but the last epoch
        assert (run.steps, run.account.views) == (2 * 997 // 24, 2 * 997 // 24 * 24)
    else:
        assert (run.steps, run.account.views) == (2 * steps, 2 * views)
        assert damage(run) == ((2 * max(0, views - 997), 2 * max(0, 997 - views)))


def test_every_preset_is_tested_and_explains_itself():
    assert sorted(presets()) == sorted({*EXACTLY, *AT_RANDOM, *BY_LAW, *PLAIN})
    for name, about in presets().items():
        first, _, rest = about.partition("\n")
        assert first.endswith(".")
        assert len(first) < 119
        assert "Saves:" in rest
        assert ("easured" in rest) == (name not in PLAIN)


@pytest.mark.parametrize("preset", presets())
def test_an_order_that_a_preset_needs_is_asked_for(preset):
    loader = scenario(preset, "same").loader
    assert (order_of(preset) != "shuffle") == (
        loader.partition in ("shards", "queue") or preset.startswith(("litdata", "tf"))
    )
    if loader.partition in ("shards", "queue"):
        with pytest.raises(ScenarioError, match=r"^scenario: data\.order: expected \"shard-shuffle\" or "):
            load_scenario(scenario(preset, "same"), {"data.order": "shuffle"})


@pytest.mark.parametrize(("crash", "extra", "never"), [(False, (511, 71), 125), (True, (517, 53), 132)])
def test_shards_that_are_drawn_with_replacement(crash, extra, never):
    """Means and deviations of 30 measured runs of 80 steps; never is N / e^2 = 130 in the mean, crash or not."""
    changes = {"run": {"steps": 80}} | ({} if crash else {"failures": []})
    job, runs = load_scenario(scenario("webdataset-resampled", "same"), changes), 60
    seen = [simulate(job, seed=seed).account_ideal.table for seed in range(runs)]
    more = [int(((table.seen - 2).clip(min=0) * table.samples).sum()) for table in seen]
    none = [int(table.samples[table.seen == 0].sum()) for table in seen]
    for found, mean, deviation in ((more, *extra), (none, never, statistics.stdev(none))):
        error = math.hypot(deviation / math.sqrt(30), statistics.stdev(found) / math.sqrt(runs))
        assert abs(statistics.mean(found) - mean) < 3.5 * error


def test_a_stream_that_is_divided_anew_refuses_to_grow_past_its_new_parts():
    """litdata 0.2.76, 2 to 4 ranks with 300 of 480 samples read by each: 240 are too few now."""
    document = scenario("litdata-0.2.76", "2 to 4").resolved()
    document["failures"][0]["at_steps"] = [0, 28]
    reason = simulate(load_scenario(document)).history.reason
    assert reason == "a rank has read 300 samples, and on 4 ranks each has 240: it comes back on 3 or fewer"
