"""All usages of all libraries that are compared."""

from conformance import jobs
from conformance.catalogue_torch import SHARDS, TORCH, TORCHDATA
from conformance.ours import counts, literal, preset
from conformance.usages import Usage

CLASSIC = {"buffer": 64, "reader_seeds": "shared"}
HALF_FLUSH = {**CLASSIC, "buffer_kind": "half-flush"}
# Where no number of ranks divides the shards all ranks read one stream, and each keeps its part.
DATASETS = (
    Usage(
        "datasets", "in order", "datasets_readers.Unshuffled", preset("datasets-3.6", order="sequential"), versions="<5"
    ),
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
        preset("datasets-3.6-buffer", order="shard-shuffle", buffer=64),
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
        jobs=jobs.ALL,
        versions=">=1.15",
        rank_0_for_new=True,
    ),
    Usage(
        "accelerate",
        "seedable sampler, batches skipped",
        "accelerate_readers.Skipping",
        preset("accelerate-1.10-skip"),
        jobs=jobs.ALL,
        versions="<1.15",
        rank_0_for_new=True,
    ),
    Usage("accelerate", "epoch restarted", "accelerate_readers.NotSkipping", preset("accelerate-no-skip")),
    Usage(
        "accelerate",
        "stateful loader",
        "accelerate_readers.Stateful",
        preset("accelerate-stateful"),
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
        # Its loop hands in the epoch, and the shards are shuffled before they are split.
        preset("webdataset-no-state", order="shard-shuffle", permutes="epoch", order_epoch="own", buffer=64),
    ),
)

GRAIN = (
    Usage(
        "grain",
        "sliced for each rank, repeated",
        "grain_readers.Sliced",
        preset("grain-sliced"),
        ends=("epochs",),  # the library's stream is over after its epochs, the preset's goes on
    ),
    Usage(
        "grain",
        "sliced for each rank, repeated",
        "grain_readers.Sliced",
        literal(partition="strided", passes="repeat"),
        jobs=jobs.UNEVEN_JOBS,
    ),
    Usage(
        "grain", "DataLoader, IndexSampler", "grain_readers.Indexed", preset("grain-dataloader"), refusals=(ValueError,)
    ),
    Usage(
        "grain",
        "DataLoader, IndexSampler",
        "grain_readers.Indexed",
        literal(partition="strided", passes="repeat", on_layout_change="refuse"),
        jobs=jobs.UNEVEN_JOBS,
        refusals=(ValueError,),
    ),
    Usage("grain", "ElasticIterator", "grain_readers.Elastic", preset("grain-elastic"), rank_0_for_new=True),
    Usage(
        "grain",
        "ElasticIterator",
        "grain_readers.Elastic",
        literal(passes="repeat", last_batch="drop"),
        jobs=jobs.UNEVEN_JOBS,
        rank_0_for_new=True,
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
        jobs=jobs.ALL + jobs.DIVIDED_AGAIN,
        versions=">=0.2.76",
        rank_0_for_new=True,
    ),
    Usage(
        "litdata",
        "shuffled",
        "litdata_readers.Shuffled",
        counts(preset("litdata-0.2.50", order="nested-shuffle")),
        versions="<0.2.76",
        rank_0_for_new=True,
    ),
)

# 12 canonical nodes fill 997 and 1,000 samples up to 1,008, which is whole batches. The position counts what was filled
# in, so that at the edge it lies beyond the end.
STREAMING = (
    Usage(
        "mosaicml-streaming",
        "py1e",
        "streaming_readers.Elastic",
        preset("mosaicml-streaming"),
        jobs=jobs.EVEN_JOBS + jobs.at_edge(jobs.UNEVEN_JOBS, whether=False),
        rank_0_for_new=True,
    ),
    Usage(
        "mosaicml-streaming",
        "py1e",
        "streaming_readers.Elastic",
        literal(comes_back="refuse"),
        jobs=jobs.at_edge(jobs.UNEVEN_JOBS),
        refusals=(ValueError,),
        rank_0_for_new=True,
    ),
)

USAGES = TORCH + TORCHDATA + DATASETS + ACCELERATE + WEBDATASET + GRAIN + LITDATA + STREAMING
