"""All usages of all libraries that are compared."""

from conformance import jobs
from conformance.ours import OneGenerator, counts, literal, preset
from conformance.usages import Usage

TORCH = (
    Usage(
        "torch",
        "DistributedSampler, epoch restarted",
        "torch_readers.Restarting",
        preset("torch-distributed-restart"),
    ),
    Usage(
        "torch",
        "DistributedSampler, set_epoch forgotten",
        "torch_readers.WithoutSetEpoch",
        preset("torch-distributed-restart", order="shuffle-once"),
    ),
    Usage(
        "torch",
        "DistributedSampler, epoch not saved",
        "torch_readers.Restarting",
        preset("torch-distributed-no-epoch"),
        saves_epoch=False,
    ),
    Usage(
        "torch",
        "DistributedSampler, batches skipped",
        "torch_readers.Skipping",
        preset("torch-distributed-skip"),
        rank_0_for_new=True,
    ),
    Usage(
        "torch",
        "DistributedSampler, drop_last, batches skipped",
        "torch_readers.SkippingDropLast",
        preset("torch-distributed-skip"),
        rank_0_for_new=True,
    ),
    Usage(
        "torch",
        "new permutation, batches skipped",
        "torch_readers.NewPermutation",
        preset("torch-new-permutation", reshuffle_lasts="for-good"),
        jobs=jobs.begun_whole(jobs.EVEN_JOBS),
        rank_0_for_new=True,
    ),
)

SHARDS = {"partition": "shards"}
STRIDED = {"partition": "strided", "uneven": "pad"}

TORCHDATA = (
    Usage(
        "torchdata",
        "DataLoader, 2 workers, the sampler's state",
        "torch_readers.SamplerState",
        literal(**STRIDED, counted_at="issued", prefetch=4),
        jobs=jobs.some(jobs.ALL),
    ),
    Usage(
        "torchdata",
        "StatefulDataLoader, map style",
        "torchdata_readers.MapStyle",
        literal(**STRIDED),
        jobs=jobs.ALL,
    ),
    Usage(
        "torchdata",
        "StatefulDataLoader, map style, 2 workers, snapshots",
        "torchdata_readers.MapStyleSnapshots",
        literal(**STRIDED, snapshot_every=7),
        jobs=jobs.some(jobs.EVEN_JOBS),
    ),
    Usage(
        "torchdata",
        "iterable without a state",
        "torchdata_readers.Stateless",
        literal("shard-shuffle", **SHARDS, saves="steps", miscount="doubled"),
    ),
    Usage(
        "torchdata",
        "iterable with its position",
        "torchdata_readers.WithPosition",
        literal("shard-shuffle", **SHARDS),
    ),
    Usage(
        "torchdata",
        "iterable with its position, 2 workers",
        "torchdata_readers.WithPosition2",
        literal("shard-shuffle", **SHARDS, workers=2),
        jobs=jobs.some(jobs.EVEN_JOBS),
    ),
    Usage(
        "torchdata",
        "iterable, buffer of 64 not saved",
        "torchdata_readers.BehindBuffer",
        literal("shard-shuffle", **SHARDS, buffer=64),
    ),
    Usage(
        "torchdata",
        "iterable, buffer of 64 not saved, 2 workers",
        "torchdata_readers.BehindBuffer2",
        literal("shard-shuffle", **SHARDS, buffer=64, workers=2),
        jobs=jobs.some(jobs.EVEN_JOBS),
    ),
    Usage(
        "torchdata",
        "iterable, buffer of 64 saved",
        "torchdata_readers.WithBuffer",
        literal("shard-shuffle", **SHARDS, buffer=64, buffer_saved=True),
    ),
)

CLASSIC = {"buffer": 64, "corpus": OneGenerator}
HALF_FLUSH = {**CLASSIC, "buffer_kind": "half-flush"}
# Where no number of ranks divides the shards all ranks read one stream, and each keeps its part.
DATASETS = (
    Usage("datasets", "in order", "datasets_readers.Unshuffled", literal("sequential", **SHARDS), versions="<5"),
    Usage(
        "datasets",
        "in order",
        "datasets_readers.Unshuffled",
        literal("sequential", **SHARDS),
        ends=("epochs",),  # its later epochs shuffle the shards, though nobody asked for it
        versions=">=5",
    ),
    Usage(
        "datasets",
        "in order",
        "datasets_readers.Unshuffled",
        literal("sequential"),
        jobs=jobs.never_growing(jobs.UNEVEN_JOBS),
    ),
    Usage(
        "datasets",
        "buffer of 64",
        "datasets_readers.Buffered",
        literal("shard-shuffle", **SHARDS, **CLASSIC),
        versions="<5",
    ),
    Usage(
        "datasets",
        "buffer of 64",
        "datasets_readers.Buffered",
        literal("shard-shuffle", **CLASSIC),
        jobs=jobs.never_growing(jobs.UNEVEN_JOBS),
        versions="<5",
    ),
    Usage(
        "datasets",
        "buffer of 64, one shard at a time",
        "datasets_readers.BufferedOneShard",
        literal("shard-shuffle", **SHARDS, **HALF_FLUSH),
        versions=">=5",
    ),
    Usage(
        "datasets",
        "buffer of 64, one shard at a time",
        "datasets_readers.BufferedOneShard",
        literal("shard-shuffle", **HALF_FLUSH),
        jobs=jobs.never_growing(jobs.UNEVEN_JOBS),
        versions=">=5",
    ),
)

PADDED = {"saves": "steps", "last_batch": "pad"}
ACCELERATE = (
    Usage(
        "accelerate",
        "seedable sampler, batches skipped",
        "accelerate_readers.Skipping",
        preset("accelerate-skip"),
        versions=">=1.15",
        rank_0_for_new=True,
    ),
    Usage(
        "accelerate",
        "seedable sampler, batches skipped",
        "accelerate_readers.Skipping",
        literal(**PADDED),
        jobs=jobs.UNEVEN_JOBS,
        versions=">=1.15",
        rank_0_for_new=True,
    ),
    Usage(
        "accelerate",
        "seedable sampler, batches skipped",
        "accelerate_readers.Skipping",
        preset("accelerate-1.10-skip"),
        jobs=jobs.begun_whole(jobs.EVEN_JOBS),
        versions="<1.15",
        rank_0_for_new=True,
    ),
    Usage(
        "accelerate",
        "seedable sampler, batches skipped",
        "accelerate_readers.Skipping",
        literal(last_batch="pad", order_epoch="first"),
        jobs=jobs.at_edge(jobs.UNEVEN_JOBS, whether=False),
        versions="<1.15",
        rank_0_for_new=True,
    ),
    Usage("accelerate", "epoch restarted", "accelerate_readers.NotSkipping", preset("accelerate-no-skip")),
    Usage(
        "accelerate",
        "stateful loader",
        "accelerate_readers.Stateful",
        literal(last_batch="pad", past_end="restart-epoch", epoch_edge="old"),
        jobs=jobs.ALL,
        versions=">=1.15",
        rank_0_for_new=True,
    ),
    Usage(
        "accelerate",
        "iterable, batches skipped",
        "accelerate_readers.SkippingIterable",
        literal("sequential", **PADDED),
        jobs=jobs.ALL,
        rank_0_for_new=True,
    ),
)

WEBDATASET = (
    Usage(
        "webdataset",
        "split by node, no state",
        "webdataset_readers.WithoutState",
        literal("shard-shuffle", **SHARDS, saves="epoch", epoch_edge="old", buffer=64),
    ),
)

WHOLE_RUN = {"passes": "repeat", "uneven": "leave"}
GRAIN = (
    Usage(
        "grain",
        "sliced for each rank, repeated",
        "grain_readers.Sliced",
        literal(partition="strided", **WHOLE_RUN),
        jobs=jobs.ALL,
    ),
    Usage(
        "grain",
        "DataLoader, IndexSampler",
        "grain_readers.Indexed",
        literal(partition="strided", **WHOLE_RUN, on_layout_change="refuse"),
        jobs=jobs.ALL,
        refusals=(ValueError,),
    ),
    Usage(
        "grain",
        "ElasticIterator",
        "grain_readers.Elastic",
        literal(**WHOLE_RUN, last_batch="drop"),
        jobs=jobs.ALL,
        rank_0_for_new=True,
    ),
    Usage("grain", "ElasticIterator", "grain_readers.Elastic", preset("grain-elastic"), rank_0_for_new=True),
    Usage(
        "grain", "DataLoader, IndexSampler", "grain_readers.Indexed", preset("grain-dataloader"), refusals=(ValueError,)
    ),
)

# The rest of the epoch keeps the order of the ranks that began it; later epochs have an order of today's ranks.
LITDATA = (
    Usage(
        "litdata",
        "shuffled",
        "litdata_readers.Shuffled",
        counts(
            literal(
                "samples-in-shards",
                partition="contiguous",
                on_layout_change="redivide",
                last_batch="drop",
                past_end="restart-epoch",
                epoch_edge="old",
            )
        ),
        jobs=jobs.ALL,
        versions=">=0.2.76",
        rank_0_for_new=True,
    ),
)

# The position counts what the last batch was filled up with, so that at the edge it lies beyond the end.
STREAMING = (
    Usage("mosaicml-streaming", "py1e", "streaming_readers.Elastic", preset("mosaicml-streaming"), rank_0_for_new=True),
    Usage(
        "mosaicml-streaming",
        "py1e",
        "streaming_readers.Elastic",
        literal(**PADDED),
        jobs=jobs.at_edge(jobs.UNEVEN_JOBS, whether=False),
        rank_0_for_new=True,
    ),
    Usage(
        "mosaicml-streaming",
        "py1e",
        "streaming_readers.Elastic",
        literal(**PADDED, comes_back="refuse"),
        jobs=jobs.at_edge(jobs.UNEVEN_JOBS),
        refusals=(ValueError,),
        rank_0_for_new=True,
    ),
)

USAGES = TORCH + TORCHDATA + DATASETS + ACCELERATE + WEBDATASET + GRAIN + LITDATA + STREAMING
