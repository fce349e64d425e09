"""Which parts reproduce which measured loader: (loader, version) -> (parts, order of the corpus).

Read off the libraries' behaviour, named once here; the literal loader itself knows no library.
"""

from literal import Parts

EXACT = Parts()
REFUSES = Parts(on_layout_change="refuse")
EPOCH = Parts(saves="epoch", comes_back="restart-epoch", epoch_edge="old")
OLD_EDGE = Parts(epoch_edge="old", past_end="restart-epoch")
LOCAL = Parts("strided")
SHARDS = Parts("shards")
GRAIN = Parts("strided", passes="repeat", last_batch="drop")
SAMPLER = Parts("strided", counted_at="issued", missing_state="rank-0")
SPLIT = Parts("contiguous", permutes="part", past_end="refuse", epoch_edge="old")
STATELESS = Parts("shards", saves="steps", miscount="doubled", epoch_edge="old")
LITDATA_50 = Parts(
    "contiguous-shards", epoch_edge="old", past_end="restart-epoch", missing_state="rank-0", worker_split="runs"
)
LITDATA_76 = Parts(
    "contiguous-shards",
    epoch_edge="old",
    past_end="restart-epoch",
    on_layout_change="redivide",
    worker_split="runs",
    last_batch="drop",
)
WEBDATASET = Parts(
    "shards",
    permutes="part",
    saves="epoch",
    comes_back="restart-epoch",
    epoch_edge="old",
    buffer=64,
    reader_seeds="shared",
    order_epoch="since-start",
)
RESAMPLED = Parts("shards", saves="epoch", comes_back="reshuffle-epoch", epoch_edge="old")
DATASETS_36, DATASETS_52 = "datasets 3.6.0", "datasets 5.2.0"
CLASSIC = {"buffer": 64, "reader_seeds": "shared"}
HALF = {**CLASSIC, "buffer_kind": "half-flush"}


def but(parts, **changes):
    return Parts(**(vars(parts) | changes))


COMPOSITIONS = {
    "accelerate seedable sampler + skip_first_batches": {
        "accelerate 1.15.0": (EXACT, "shuffle"),
        "accelerate 1.10.1": (but(EXACT, order_epoch="first"), "shuffle"),
    },
    "accelerate non-seedable RandomSampler + skip_first_batches": (but(EXACT, order_epoch="first"), "shuffle"),
    "accelerate split_batches=True + skip_first_batches": (EXACT, "shuffle"),
    "accelerate use_stateful_dataloader=True": (OLD_EDGE, "shuffle"),
    "accelerate iterable (IterableDatasetShard) + skip_first_batches": {
        "accelerate 1.15.0": (EXACT, "shard-shuffle"),
        "accelerate 1.10.1": (but(EXACT, order_epoch="first"), "shard-shuffle"),
    },
    "HF-Trainer rule, fixed per-device batch": (
        Parts(rank_batch=6, saves="steps", last_batch="pad"),
        "shuffle",
    ),
    "accelerate no skip (ignore_data_skip)": (EPOCH, "shuffle"),
    "horovod ElasticSampler (reimpl.)": (EXACT, "shuffle"),
    "dlrover ElasticDistributedSampler (reimpl.)": (EXACT, "shuffle"),
    "dlrover shard task queue: doing+todo re-queued (reimpl.)": (Parts("queue"), "shard-shuffle"),
    "shard queue: shards in progress counted as done (skip)": (
        Parts("queue", unfinished_shard="skip"),
        "shard-shuffle",
    ),
    "tf.data shard(R,r).shuffle(64).repeat.batch, iterator ckpt": (
        Parts(
            "filtered",
            passes="repeat",
            buffer=64,
            buffer_kind="lazy",
            buffer_saved=True,
            prefetch=4,
            prefetch_saved=True,
            missing_state="rank-0",
        ),
        "sequential",
    ),
    "tf.data shuffle(N).repeat.batch(B) then row slice per rank, iterator ckpt": (
        Parts("slices", passes="repeat", prefetch=6, prefetch_saved=True, missing_state="rank-0"),
        "shuffle",
    ),
    "energon savable loader shuffle_buffer=64 w0": (
        Parts("shards", passes="endless", buffer=64, buffer_saved=True, on_layout_change="refuse"),
        "shard-shuffle",
    ),
    "energon savable loader shuffle_buffer=64 w2": (
        Parts("shards", workers=2, passes="endless", buffer=64, buffer_saved=True, on_layout_change="refuse"),
        "shard-shuffle",
    ),
    "energon savable loader no shuffle buffer w0": (
        Parts("shards", passes="endless", on_layout_change="refuse"),
        "shard-shuffle",
    ),
    "energon + checkpoint redist (R*W=4 fixed, micro batch fixed)": (
        Parts("shards", readers=4, passes="endless", buffer=64, buffer_saved=True),
        "shard-shuffle",
    ),
    "energon + checkpoint redist, no shuffle buffer (R*W=4 fixed)": (
        Parts("shards", readers=4, passes="endless"),
        "shard-shuffle",
    ),
    "grain.MapDataset shuffle,slice[r::R],repeat,to_iter_dataset": (GRAIN, "shuffle"),
    "grain.MapDataset shuffle,slice[r::R],repeat,to_iter_dataset, rank0 state to new ranks": (
        but(GRAIN, missing_state="rank-0"),
        "shuffle",
    ),
    "grain.MapDataset shuffle,slice,mp_prefetch(2)": (but(GRAIN, workers=2, worker_split="strided"), "shuffle"),
    "grain.IterDataset WindowShuffle(64)": (but(GRAIN, buffer=64, buffer_kind="window"), "sequential"),
    "grain.DataLoader IndexSampler workers0, sampler check patched over": (
        Parts("contiguous", permutes="part", passes="repeat", on_layout_change="reshard"),
        "sequential",
    ),
    "grain.ElasticIterator": (EXACT, "shuffle"),
    "grain.ElasticIterator mp workers2": (EXACT, "shuffle"),
    "grain.DataLoader IndexSampler workers0": (REFUSES, "shuffle"),
    "grain.DataLoader IndexSampler workers2": (REFUSES, "shuffle"),
    "grain.MapDataset shuffle,repeat,batch(B) global then row slice": (EXACT, "shuffle"),
    "hf.IterableDataset(generator) no shuffle split_by_node": {
        DATASETS_36: (SHARDS, "sequential"),
        DATASETS_52: (SHARDS, "shard-shuffle"),
    },
    "hf.IterableDataset(generator) shuffle buf=1 (shards only)": {
        DATASETS_36: (but(SHARDS, **CLASSIC | {"buffer": 1}), "shard-shuffle"),
        DATASETS_52: (but(SHARDS, **HALF | {"buffer": 1}, interleave=10), "shard-shuffle"),
    },
    "hf.IterableDataset(generator) shuffle buf=64 split_by_node": {
        DATASETS_36: (but(SHARDS, **CLASSIC), "shard-shuffle"),
        DATASETS_52: (but(SHARDS, **HALF, interleave=10), "shard-shuffle"),
    },
    "hf.IterableDataset(generator) shuffle buf=64 max_buffer_input_shards=1": {
        DATASETS_36: (but(SHARDS, **CLASSIC), "shard-shuffle"),
        DATASETS_52: (but(SHARDS, **HALF), "shard-shuffle"),
    },
    "hf.IterableDataset(generator) shuffle buf=32 max_buffer_input_shards=1": {
        DATASETS_36: (but(SHARDS, **CLASSIC | {"buffer": 32}), "shard-shuffle"),
        DATASETS_52: (but(SHARDS, **HALF | {"buffer": 32}), "shard-shuffle"),
    },
    "hf.IterableDataset(generator) shuffle buf=64, rank0 state to new ranks": {
        DATASETS_36: (but(SHARDS, **CLASSIC, missing_state="rank-0"), "shard-shuffle"),
        DATASETS_52: (but(SHARDS, **HALF, interleave=10, missing_state="rank-0"), "shard-shuffle"),
    },
    "hf.IterableDataset(arrow map->iterable) shuffle buf=64": {
        DATASETS_36: (but(SHARDS, **CLASSIC), "shard-shuffle"),
        DATASETS_52: (but(SHARDS, **HALF, interleave=10), "shard-shuffle"),
    },
    "hf.IterableDataset(arrow map->iterable) no shuffle": {
        DATASETS_36: (SHARDS, "sequential"),
        DATASETS_52: (SHARDS, "shard-shuffle"),
    },
    "hf.IterableDataset buf=64, restart + skip by reading": {
        DATASETS_36: (but(SHARDS, **CLASSIC, saves="steps", missing_state="rank-0"), "shard-shuffle"),
        DATASETS_52: (but(SHARDS, **HALF, interleave=10, saves="steps", missing_state="rank-0"), "shard-shuffle"),
    },
    "hf.IterableDataset buf=64 in torchdata.SDL w0": {
        DATASETS_36: (but(SHARDS, **CLASSIC), "shard-shuffle"),
        DATASETS_52: (but(SHARDS, **HALF, interleave=10), "shard-shuffle"),
    },
    "hf.IterableDataset buf=64 in torchdata.SDL w2": {
        DATASETS_36: (but(SHARDS, **CLASSIC, workers=2), "shard-shuffle"),
        DATASETS_52: (but(SHARDS, **HALF, interleave=10, workers=2, comes_back="refuse"), "shard-shuffle"),
    },
    "hf.IterableDataset no shuffle in torchdata.SDL w2": {
        DATASETS_36: (but(SHARDS, workers=2), "sequential"),
        DATASETS_52: (but(SHARDS, workers=2), "shard-shuffle"),
    },
    "lhotse SimpleCutSampler": (
        Parts(miscount="rank-as-global", epoch_edge="old", on_layout_change="refuse"),
        "shuffle",
    ),
    "lhotse DynamicCutSampler shuffle_buffer=64": (REFUSES, "shuffle"),
    "lhotse DynamicBucketingSampler 3 buckets": (REFUSES, "shuffle"),
    "lightning fit(ckpt_path) DataLoader (1 rank)": (
        Parts(saves="epoch", comes_back="restart-epoch", loop_counter="kept"),
        "shuffle",
    ),
    "lightning fit(ckpt_path) StatefulDataLoader (1 rank)": (Parts(epoch_edge="finished"), "shuffle"),
    "litdata StreamingDataLoader shuffle w0": {
        "litdata 0.2.50": (LITDATA_50, "samples-in-shards"),
        "litdata 0.2.76": (LITDATA_76, "samples-in-shards"),
    },
    "litdata StreamingDataLoader shuffle w0 drop_last=False": {
        "litdata 0.2.50": (LITDATA_50, "samples-in-shards"),
        "litdata 0.2.76": (but(LITDATA_76, last_batch="short"), "samples-in-shards"),
    },
    "litdata StreamingDataLoader shuffle w2": {
        "litdata 0.2.50": (but(LITDATA_50, workers=2), "samples-in-shards"),
        "litdata 0.2.76": (but(LITDATA_76, workers=2), "samples-in-shards"),
    },
    "litdata posix-fast WindowShuffle (chunk granularity) w0": (LITDATA_76, "samples-in-shards"),
    "litdata posix-fast WindowShuffle (chunk granularity) w2": (but(LITDATA_76, workers=2), "samples-in-shards"),
    "megatron.single (consumed_samples)": (EXACT, "sequential"),
    "megatron.single, grad-accum 2 microbatches": (EXACT, "sequential"),
    "megatron.cyclic data_sharding=True": (
        Parts("contiguous", permutes="part", on_layout_change="reshard"),
        "sequential",
    ),
    "megatron.cyclic data_sharding=False": (EXACT, "shuffle"),
    **{
        f"mosaic StreamingDataset {name}": (EXACT, "shuffle")
        for name in (
            "py1e ncn=default w0",
            "py1e ncn=default w2",
            "py1e ncn=12 w0",
            "py1s ncn=12 w0",
            "py1br ncn=default w0",
            "py1br ncn=12 w0",
        )
    },
    "mosaic StreamingDataset py1s ncn=default(64/node) w0": (Parts(canonical=64), "shuffle"),
    "torch.DataLoader w0, sampler.state_dict() saved": (SAMPLER, "shuffle"),
    "torch.DataLoader w2 pf2, sampler.state_dict() saved": (but(SAMPLER, prefetch=4), "shuffle"),
    "torch.DataLoader w1 pf3, sampler.state_dict() saved": (but(SAMPLER, prefetch=3), "shuffle"),
    "torch.DataLoader w4 pf2, sampler.state_dict() saved": (but(SAMPLER, prefetch=8), "shuffle"),
    "torch.DistSampler/epoch-saved,restart-epoch": (EPOCH, "shuffle"),
    "torch.DistSampler/no set_epoch,restart-epoch": (EPOCH, "shuffle-once"),
    "torch.DistSampler/epoch not saved (start at 0)": (Parts(saves="nothing", comes_back="restart-run"), "shuffle"),
    "torch.DistSampler/islice skip batches": (EXACT, "shuffle"),
    "torch.DistSampler/islice skip, drop_last": (EXACT, "shuffle"),
    "torch.shuffle=True new seed after restart": (but(EPOCH, comes_back="reshuffle-epoch"), "shuffle"),
    "torch.new permutation + skip batches": (but(EXACT, comes_back="reshuffle"), "shuffle"),
    "torchdata.SDL map+StatefulDistSampler w0": (LOCAL, "shuffle"),
    "torchdata.SDL map+StatefulDistSampler w0, rank0 state to new ranks": (
        but(LOCAL, missing_state="rank-0"),
        "shuffle",
    ),
    "torchdata.SDL map+StatefulDistSampler w2": (LOCAL, "shuffle"),
    "torchdata.SDL map+StatefulDistSampler w2, rank0 state to new ranks": (
        but(LOCAL, missing_state="rank-0"),
        "shuffle",
    ),
    "torchdata.SDL map+StatefulDistSampler w2 snapshot_every=7": (
        but(LOCAL, snapshot_every=7, epoch_edge="old", past_end="refuse"),
        "shuffle",
    ),
    "torchdata.SDL map+plain DistSampler w0": (but(LOCAL, past_end="refuse", epoch_edge="old"), "shuffle"),
    "torchdata.SDL map+plain DistSampler w2": (but(LOCAL, past_end="refuse", epoch_edge="old"), "shuffle"),
    "torchdata.SDL map shuffle=True, per-rank contiguous split w0": (SPLIT, "sequential"),
    "torchdata.SDL map shuffle=True, per-rank contiguous split w2": (SPLIT, "sequential"),
    "torchdata.SDL iterable stateless no-shuffle-buffer w0": (STATELESS, "shard-shuffle"),
    "torchdata.SDL iterable stateless no-shuffle-buffer w2": (but(STATELESS, workers=2), "shard-shuffle"),
    "torchdata.SDL iterable stateless buf=64 seeded w0": (but(STATELESS, buffer=64), "shard-shuffle"),
    "torchdata.SDL iterable stateless buf=64 seeded w2": (but(STATELESS, buffer=64, workers=2), "shard-shuffle"),
    "torchdata.SDL iterable stateless buf=64 unseeded w0": (
        but(STATELESS, buffer=64, buffer_seed="never"),
        "shard-shuffle",
    ),
    "torchdata.SDL iterable stateful(pos) no buffer w0": (SHARDS, "shard-shuffle"),
    "torchdata.SDL iterable stateful(pos) no buffer w2": (but(SHARDS, workers=2), "shard-shuffle"),
    "torchdata.SDL iterable stateful(pos) buf=64 not saved w0": (but(SHARDS, buffer=64), "shard-shuffle"),
    "torchdata.SDL iterable stateful(pos) buf=64 not saved w2": (but(SHARDS, buffer=64, workers=2), "shard-shuffle"),
    "torchdata.SDL iterable stateful(pos+buffer+rng) buf=64 w0": (
        but(SHARDS, buffer=64, buffer_saved=True),
        "shard-shuffle",
    ),
    "torchdata.SDL iterable stateful(pos+buffer+rng) buf=64 w2": (
        but(SHARDS, buffer=64, buffer_saved=True, workers=2),
        "shard-shuffle",
    ),
    "webdataset detshuffle split_by_node buf=64, no state": (WEBDATASET, "sequential"),
    "webdataset shuffle(seed) split_by_node buf=64, no state": (
        but(WEBDATASET, buffer_seed="once", order_epoch="own"),
        "sequential-once",
    ),
    "webdataset resampled=True with_epoch(N/R) buf=64": (but(RESAMPLED, buffer=64), "with-replacement"),
    "webdataset ResampledShards(deterministic=True) with_epoch(N/R)": (
        but(RESAMPLED, comes_back="restart-epoch", order_epoch="since-start"),
        "with-replacement",
    ),
}


def composition(loader, version):
    """Parts and order of a measured variant, None where no composition of parts makes it."""
    found = COMPOSITIONS.get(loader)
    return found.get(version) if isinstance(found, dict) else found
