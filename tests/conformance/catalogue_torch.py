"""The usages of torch and torchdata that are compared."""

from conformance import jobs
from conformance.ours import literal, preset
from conformance.usages import Usage

TORCH = (
    Usage(
        "torch",
        "DistributedSampler, epoch restarted",
        "torch_readers.Restarting",
        preset("torch-distributed-restart"),
        jobs=jobs.ALL,
    ),
    Usage(
        "torch",
        "DistributedSampler, set_epoch forgotten",
        "torch_readers.WithoutSetEpoch",
        preset("torch-distributed-restart", order="shuffle-once"),
        jobs=jobs.ALL,
    ),
    Usage(
        "torch",
        "DistributedSampler, epoch not saved",
        "torch_readers.Restarting",
        preset("torch-distributed-no-epoch"),
        jobs=jobs.ALL,
        saves_epoch=False,
    ),
    Usage(
        "torch",
        "DistributedSampler, batches skipped",
        "torch_readers.Skipping",
        preset("torch-distributed-skip"),
        jobs=jobs.ALL,
        rank_0_for_new=True,
    ),
    Usage(
        "torch",
        "DistributedSampler, drop_last, batches skipped",
        "torch_readers.SkippingDropLast",
        preset("torch-distributed-skip", uneven="drop", last_batch="drop"),
        jobs=jobs.ALL,
        rank_0_for_new=True,
    ),
    Usage(
        "torch",
        "new permutation, batches skipped",
        "torch_readers.NewPermutation",
        preset("torch-new-permutation"),
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
        preset("torch-dataloader-sampler-state"),
        jobs=jobs.some(jobs.ALL),
    ),
    Usage(
        "torchdata",
        "StatefulDataLoader, map style",
        "torchdata_readers.MapStyle",
        preset("torchdata-map"),
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
        preset("torchdata-iterable-stateless", order="shard-shuffle"),
    ),
    Usage(
        "torchdata",
        "iterable with its position",
        "torchdata_readers.WithPosition",
        preset("torchdata-iterable", order="shard-shuffle"),
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
        preset("torchdata-iterable-buffer", order="shard-shuffle", buffer=64),
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
