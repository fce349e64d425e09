"""Twenty restarts of a job, replayed under every preset, against the literal loader of the same composition.

960 samples in 24 shards, global batch 24, six epochs of 40 steps. Where the literal counts do not depend on its seed,
ours are the same to the sample; else their means agree.
"""

import math
import statistics
from collections import Counter
from dataclasses import replace

import literal
import pytest
from literal import Parts
from measured.clustersim_model import composed as keys_and_order
from measured.compositions import COMPOSITIONS

from clustersim import load_scenario
from clustersim.scenario import presets
from clustersim.study.replay import run_of
from clustersim.study.restarts import read_restarts

SAMPLES, SHARDS, BATCH, EPOCHS, RANKS = 960, 24, 24, 6, 4
STEPS = EPOCHS * SAMPLES // BATCH
# Step reached, step restarted from. Some restarts lie at an epoch's end (40, 80, 120, 160); some go back behind the leg
# before, as after a silent corruption; some legs are empty.
ROWS = [
    *((7, 5), (19, 15), (33, 30), (42, 40), (58, 55), (61, 50), (66, 65), (65, 65), (83, 80), (101, 95)),
    *((112, 110), (124, 120), (139, 135), (150, 145), (163, 160), (178, 175), (190, 185), (207, 205), (229, 225)),
    (236, 235),
]
# Ranks from a restart on, by row; 4 at first.
OTHER_RANKS = {4: 3, 9: 2, 12: 4, 17: 3}
# The composition of each preset: a measured variant (and its version where there are several), or what its name says.
WAYS = {
    "restore": Parts(last_batch="span"),
    "epoch": Parts(last_batch="span", saves="epoch", comes_back="restart-epoch"),
    "reshuffle": Parts(last_batch="span", comes_back="reshuffle"),
    "restart-run": Parts(last_batch="span", saves="nothing", comes_back="restart-run"),
    "no-rewind": Parts(last_batch="span", saves="nothing", comes_back="continue"),
    "unseen-remainder": Parts(comes_back="remainder"),
    "energon": Parts(last_batch="span", on_layout_change="refuse"),
    # As measured; a checkpoint at an epoch's end, which no measured run goes on from twice, is the old epoch's.
    "accelerate-1.10-skip": Parts(saves="steps", order_epoch="first", epoch_edge="old"),
    "torchft-sampler": Parts("strided", uneven="pad", saves="epoch", comes_back="restart-epoch", epoch_edge="old"),
}
D36, D52 = "datasets 3.6.0", "datasets 5.2.0"
MEASURED = {
    "accelerate-no-skip": ("accelerate no skip (ignore_data_skip)",),
    "accelerate-skip": ("accelerate seedable sampler + skip_first_batches", "accelerate 1.15.0"),
    "accelerate-stateful": ("accelerate use_stateful_dataloader=True",),
    "datasets-3.6": ("hf.IterableDataset(generator) no shuffle split_by_node", D36),
    "datasets-3.6-buffer": ("hf.IterableDataset(generator) shuffle buf=64 split_by_node", D36),
    "datasets-4.8": ("hf.IterableDataset(generator) no shuffle split_by_node", D36),
    "datasets-4.8-buffer": ("hf.IterableDataset(generator) shuffle buf=64 split_by_node", D36),
    "datasets-5.2-buffer": ("hf.IterableDataset(generator) shuffle buf=64 max_buffer_input_shards=1", D52),
    "datasets-5.2": ("hf.IterableDataset(generator) no shuffle split_by_node", D52),
    "dlrover-shard-queue": ("dlrover shard task queue: doing+todo re-queued (reimpl.)",),
    "grain-dataloader": ("grain.DataLoader IndexSampler workers0",),
    "grain-elastic": ("grain.ElasticIterator",),
    "grain-sliced": ("grain.MapDataset shuffle,slice[r::R],repeat,to_iter_dataset",),
    "horovod-elastic": ("horovod ElasticSampler (reimpl.)",),
    "lhotse-dynamic": ("lhotse DynamicCutSampler shuffle_buffer=64",),
    "lhotse-simple": ("lhotse SimpleCutSampler",),
    "lightning-plain": ("lightning fit(ckpt_path) DataLoader (1 rank)",),
    "lightning-stateful": ("lightning fit(ckpt_path) StatefulDataLoader (1 rank)",),
    "litdata-0.2.50": ("litdata StreamingDataLoader shuffle w0", "litdata 0.2.50"),
    "litdata-0.2.76": ("litdata StreamingDataLoader shuffle w0", "litdata 0.2.76"),
    "megatron": ("megatron.single (consumed_samples)",),
    "megatron-cyclic": ("megatron.cyclic data_sharding=False",),
    "megatron-cyclic-sharded": ("megatron.cyclic data_sharding=True",),
    "mosaicml-streaming": ("mosaic StreamingDataset py1e ncn=default w0",),
    "torch-dataloader-sampler-state": ("torch.DataLoader w2 pf2, sampler.state_dict() saved",),
    "torch-distributed-no-epoch": ("torch.DistSampler/epoch not saved (start at 0)",),
    "torch-distributed-restart": ("torch.DistSampler/epoch-saved,restart-epoch",),
    "torch-distributed-skip": ("torch.DistSampler/islice skip batches",),
    "torch-new-permutation": ("torch.new permutation + skip batches",),
    "torchdata-iterable": ("torchdata.SDL iterable stateful(pos) no buffer w0",),
    "torchdata-iterable-buffer": ("torchdata.SDL iterable stateful(pos) buf=64 not saved w0",),
    "torchdata-iterable-stateless": ("torchdata.SDL iterable stateless no-shuffle-buffer w0",),
    "torchdata-map": ("torchdata.SDL map+StatefulDistSampler w0",),
    "torchdata-map-plain-sampler": ("torchdata.SDL map+plain DistSampler w0",),
    "transformers-trainer": ("HF-Trainer rule, fixed per-device batch",),
    "tf-data": ("tf.data shard(R,r).shuffle(64).repeat.batch, iterator ckpt",),
    "webdataset-no-state": ("webdataset detshuffle split_by_node buf=64, no state",),
    "webdataset-resampled": ("webdataset resampled=True with_epoch(N/R) buf=64",),
}
# What the measured variant had, and the preset leaves to the user.
BUFFERED = (
    "datasets-3.6-buffer", "datasets-4.8-buffer", "datasets-5.2-buffer", "torchdata-iterable-buffer",
    "webdataset-no-state", "webdataset-resampled",
)  # fmt: skip
WITH = {preset: {"buffer": 64} for preset in BUFFERED}
WITH["tf-data"] = {"buffer": 64}
# What the preset says, where the variant was measured on the same ranks alone or comes back on some others.
REFUSING = ("datasets-5.2-buffer",)


def composed(preset):
    """The literal parts and order of a preset."""
    if preset in WAYS:
        return WAYS[preset], "shuffle"
    variant, *version = MEASURED[preset]
    parts, order = COMPOSITIONS[variant][version[0]] if version else COMPOSITIONS[variant]
    return replace(parts, on_layout_change="refuse") if preset in REFUSING else parts, order


def literally(preset, ranks, seed):
    """Histogram {times seen: samples} of the final model after `STEPS` steps; None where the loader refuses."""
    parts, order = composed(preset)
    starts = [(0, RANKS)] + [(start, ranks.get(row, 0)) for row, (_, start) in enumerate(ROWS)]
    lives, now = [], RANKS
    for (start, after), stop in zip(starts, [reached for reached, _ in ROWS] + [None], strict=True):
        now = after or now
        lives.append(literal.Attempt(now, start, stop, None if stop is None else stop + 1))
    # A stream that repeats the corpus goes on beyond the end of the run.
    epochs = EPOCHS if parts.passes == "epoch" else 3 * EPOCHS
    line = literal.run(parts, literal.Corpus(SAMPLES, SHARDS, order, seed), lives, BATCH, epochs, STEPS)
    return None if line.refused else Counter(line.counts(SAMPLES, steps=STEPS))


def ours(preset, file, seed):
    _, order = keys_and_order(*composed(preset), EPOCHS)
    scenario = load_scenario(
        {
            "run": {"steps": STEPS},
            "model": {"global_batch": BATCH, "step_time": "1 s"},
            "cluster": {"nodes": RANKS, "gpus_per_node": 1},
            "checkpoint": {"every": "5 steps"},
            "data": {"samples": SAMPLES, "shards": SHARDS, "order": order},
            "loader": {"preset": preset, **WITH.get(preset, {})},
        }
    )
    run = run_of(read_restarts(file), scenario, seed=seed)
    if run.history.outcome == "refused":
        return None
    assert len(run.history.legs) == len(ROWS) + 1
    seen = Counter()
    for _, times, samples in run.ledger.itertuples(index=False):
        seen[times] += samples
    return seen


def written(path, ranks):
    """The rows as a user would write them down by hand."""
    lines = ["step_reached,step_restarted_from,data"]
    lines += [f"{reached},{start},{ranks.get(row, '')}" for row, (reached, start) in enumerate(ROWS)]
    path.write_text("\n".join(lines) + "\n")
    return path


def damage(seen):
    ideal = STEPS * BATCH // SAMPLES
    return (
        sum(samples * max(0, times - ideal) for times, samples in seen.items()),
        sum(samples * max(0, ideal - times) for times, samples in seen.items()),
        seen[0],
    )


@pytest.mark.parametrize("ranks", [{}, OTHER_RANKS], ids=["same ranks", "other ranks"])
@pytest.mark.parametrize("preset", [*WAYS, *MEASURED])
def test_twenty_restarts(preset, ranks, tmp_path):
    file = written(tmp_path / "restarts.csv", ranks)
    told = [literally(preset, ranks, seed) for seed in range(3)]
    if all(each == told[0] for each in told):
        assert [ours(preset, file, seed) for seed in range(3)] == told
        return
    assert None not in told
    law = [damage(each) for each in (*told, *(literally(preset, ranks, seed) for seed in range(3, 15)))]
    drawn = [damage(ours(preset, file, seed)) for seed in range(15)]
    for right, found in zip(zip(*law, strict=True), zip(*drawn, strict=True), strict=True):
        error = math.hypot(*(statistics.stdev(each) / len(each) ** 0.5 for each in (right, found)))
        assert abs(statistics.mean(right) - statistics.mean(found)) <= 4 * error


def test_every_preset_is_here():
    assert {*WAYS, *MEASURED} == {*presets()}
