"""All usages of all libraries that are compared."""

from conformance import jobs, literal_loaders
from conformance.ours import literal, preset
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

TORCHDATA = (
    Usage(
        "torchdata",
        "DataLoader, 2 workers, the sampler's state",
        "torch_readers.SamplerState",
        literal(literal_loaders.PerRankFetched),
        jobs=jobs.some(jobs.ALL),
    ),
    Usage(
        "torchdata",
        "StatefulDataLoader, map style",
        "torchdata_readers.MapStyle",
        literal(literal_loaders.PerRank),
        jobs=jobs.ALL,
    ),
)

USAGES = TORCH + TORCHDATA
