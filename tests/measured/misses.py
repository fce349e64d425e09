"""Measured rows that our models are known not to reproduce: (loader, version, scenarios or all) -> the reason."""

MISSES = [
    (
        "hf.IterableDataset(arrow map->iterable) shuffle buf=64",
        "datasets 5.2.0",
        None,
        "tables of 6 rows go through the buffer whole: rows of an open table are read again; no part for it",
    ),
    (
        "hf.IterableDataset buf=64 in torchdata.SDL w2",
        "datasets 5.2.0",
        ["2to4", "2to4_25"],
        "in these two the saved readers happen to fit; the part says that it never comes back",
    ),
    (
        "lightning fit(ckpt_path) StatefulDataLoader (1 rank)",
        "lightning 2.6.6",
        ["boundary"],
        "its own limit of epochs ends the run before T steps are done; ours goes on in the epoch after the empty one",
    ),
    (
        "lhotse DynamicBucketingSampler 3 buckets",
        "lhotse 1.33.0",
        None,
        "batches are cut by length within buckets: 102 steps for 80, so T steps end early; no part for it",
    ),
    (
        "litdata posix-fast WindowShuffle (chunk granularity) w0",
        "litdata 0.2.76",
        None,
        "windows of whole chunks lose their tails when they are divided anew; no part for it",
    ),
    (
        "litdata posix-fast WindowShuffle (chunk granularity) w2",
        "litdata 0.2.76",
        None,
        "windows of whole chunks lose their tails when they are divided anew; no part for it",
    ),
    (
        "grain.DataLoader IndexSampler workers0, sampler check patched over",
        "grain 0.2.18",
        None,
        "its check removed: each of fewer ranks comes back a sample early, in an index shuffle that is not uniform",
    ),
]


def reason(row):
    """Why the row is a known miss, None if it is none."""
    for loader, version, scenarios, why in MISSES:
        if (row.loader, row.version) == (loader, version) and (scenarios is None or row.scenario in scenarios):
            return why
    return None
