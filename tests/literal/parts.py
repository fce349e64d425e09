"""The parts that a literal loader is composed of. It knows parts, never a library's name.

A *reader* is what a rank is for the loader; where the partition is global there is one reader for the whole job.
A *stream* is one worker of a reader. A *pass* is what a stream holds before it ends.
"""

from dataclasses import dataclass

CHOICES = {
    "partition": {
        "global": "one reader takes whole global batches; the split over ranks is no part of what is read",
        "strided": "reader r of R takes the offsets r, r + R, r + 2R, .. of the epoch's order",
        "contiguous": "reader r takes the r-th of R runs; the first hold one more where they do not come out even",
        "contiguous-shards": "reader r takes the r-th of R runs of shards",
        "shards": "reader r takes the shards r, r + R, ..",
        "shards-or-rows": "the same; if R does not divide them, it reads all and keeps each R-th of what it has read",
        "filtered": "every reader reads everything and keeps each R-th sample; its position is that in the input",
        "slices": "every reader reads whole global batches and keeps its slice of them",
        "queue": "a reader that has used up its shard takes the next one of a queue that is common to all",
    },
    "permutes": {
        "epoch": "the epoch is permuted, then divided",
        "part": "every reader permutes its own part (its shards, where the partition is by shards)",
    },
    "dealt_to": {
        "ranks": "an epoch is dealt to the readers that there are",
        "first-ranks": "to those that the run began with, if they were more: the parts of the others nobody reads",
    },
    "worker_split": {
        "shards": "stream w of W takes the reader's shards w, w + W, ..",
        "strided": "its samples w, w + W, ..",
        "runs": "the w-th of W equal runs",
        "side-by-side": "the epoch is cut in R x W runs, of samples or of shards, W of them side by side for a reader",
    },
    "uneven": {
        "leave": "parts may be unequal: the epoch ends with the first reader that has nothing more",
        "pad": "the order is filled up from its start until streams divide it (and their batches, if none is short)",
        "drop": "its end is cut off until it does",
    },
    "last_batch": {
        "short": "the rest of a pass is a batch",
        "drop": "it is none",
        "pad": "there is none: the order is filled up from its start until whole batches divide it (not with shards)",
        "span": "the batch goes on in the next epoch (global partition only)",
    },
    "passes": {
        "epoch": "a stream holds one epoch, and the loop over epochs is outside",
        "repeat": "it holds all E epochs, and then the run is over",
        "endless": "it never ends; a loop outside counts steps",
    },
    "saves": {
        "samples": "where each stream stands",
        "steps": "batches: of each reader's epoch, or of the run where a rank's batch is given",
        "epoch": "only the epoch",
        "nothing": "",
    },
    "counted_at": {
        "trained": "a sample counts as read when the step that reads it is done",
        "issued": "when it is fetched, `prefetch` batches of its reader ahead",
    },
    "miscount": {
        "none": "",
        "doubled": "batches that a restart skips are counted once more",
        "last-leg": "they are not counted",
        "rank-as-global": "the count of one rank's samples comes back as the global position",
    },
    "comes_back": {
        "exact": "to the saved position",
        "restart-epoch": "to the start of the saved epoch",
        "next-epoch": "to the start of the epoch after it",
        "restart-run": "to the very first sample",
        "reshuffle": "to the saved position, in a fresh order",
        "reshuffle-epoch": "to the start of the saved epoch, in a fresh order",
        "remainder": "to what the epoch has not read, in a fresh order",
        "reapply": "to the saved position, and every later epoch begins there too",
        "continue": "it does not come back: it goes on where it was when the job died",
        "refuse": "it does not come back, and the run ends",
    },
    "reshuffle_lasts": {
        "epoch": "a fresh order lasts until the epoch's end",
        "for-good": "for all later epochs too",
    },
    "order_epoch": {
        "own": "an epoch is read in its own order",
        "first": "after a restart the epoch goes on in the order of epoch 0",
        "since-start": "the seed counts epochs from the restart",
    },
    "epoch_edge": {
        "new": "a checkpoint at an epoch's last step belongs to the epoch that begins",
        "old": "to the one that ended",
        "finished": "it says that the loader is finished: the epoch that begins gets nothing",
    },
    "loop_counter": {
        "with-data": "an epoch ends with its data",
        "kept": "the loop counts an epoch's steps on over a restart, wherever the data begins",
    },
    "on_layout_change": {
        "keep-local": "reader r goes on where reader r was, in its own new part",
        "reshard": "every reader stands at an equal share of the global position",
        "redivide": "what nobody has read, in the order of the steps, is dealt anew batch by batch, from a whole step "
        "of today's on; with dropped batches it is cut to whole batches of every stream",
        "refuse": "it does not come back",
    },
    "missing_state": {
        "fresh": "a reader without a state of its own begins the epoch (or the pass)",
        "rank-0": "it takes the state of reader 0",
        "refuse": "the job does not come back",
    },
    "past_end": {
        "end": "from a position at or behind the end of a part nothing is left of this epoch",
        "restart-epoch": "the epoch is read again",
        "refuse": "a position behind the end is an error",
    },
    "buffer_kind": {
        "classic": "a full buffer gives one out for each one that comes in",
        "lazy": "it is filled up before one is taken out, so that between two samples it has a hole",
        "half-flush": "when it is full, half of it goes out",
        "window": "when it is full, all of it goes out; whoever comes back shuffles a window the same way",
        "chunk": "when it is full, all of it goes out as it lies",
    },
    "buffer_seed": {
        "epoch": "a stream shuffles the same way whenever it reads the same epoch",
        "once": "the same way in every epoch",
        "never": "afresh after every restart",
    },
    "reader_seeds": {
        "own": "every stream shuffles its buffer, and every reader its part, by random numbers of its own",
        "shared": "all by the same",
    },
    "unfinished_shard": {
        "again": "a shard in progress goes back to the head of the queue, whole",
        "skip": "it counts as done",
    },
}


@dataclass(frozen=True)
class Parts:
    """One composition. Sizes are in samples, `prefetch` and `snapshot_every` in batches of a reader."""

    partition: str = "global"
    permutes: str = "epoch"
    dealt_to: str = "ranks"
    readers: int = 0  # a fixed number of readers whatever the ranks; 0: one for each rank
    workers: int = 1  # streams of a reader, which deliver its batches in turn; one that has no more is left out
    worker_split: str = "shards"
    uneven: str = "leave"
    canonical: int = 0  # runs of the order that are filled up, each, to a multiple of the run's first ranks; 0: none
    last_batch: str = "short"
    passes: str = "epoch"
    rank_batch: int = 0  # samples of a rank's batch; 0: the global batch divided by the ranks
    saves: str = "samples"
    snapshot_every: int = 1  # what was read since the last snapshot is read again and thrown away, in today's batches
    counted_at: str = "trained"
    prefetch: int = 0
    takes_back: int = 0  # batches of its reader that are taken off a position when it comes back
    prefetch_saved: bool = False  # the state holds the batches fetched ahead, and they are delivered first
    miscount: str = "none"
    comes_back: str = "exact"
    reshuffle_lasts: str = "epoch"
    order_epoch: str = "own"
    epoch_edge: str = "new"
    loop_counter: str = "with-data"
    on_layout_change: str = "keep-local"
    missing_state: str = "fresh"
    past_end: str = "end"
    buffer: int = 0  # of each stream; 0: none
    buffer_kind: str = "classic"
    buffer_saved: bool = False
    buffer_seed: str = "epoch"
    reader_seeds: str = "own"
    interleave: int = 1  # groups of its shards that a stream reads in turn; 1: one shard after another
    unfinished_shard: str = "again"
    counted_in: int = 1  # a position is saved in whole units of so many samples (global partition only)
    state_ahead: int = 0  # a checkpoint holds the loader's state of so many steps later (below 0: earlier)
    taken_for: int = 0  # and comes back as so many samples for each of them; 0: as many as it has
    skip: tuple = ()  # positions that no step reads, with batches that span epochs
    ramp: tuple = ()  # (until, batch): smaller batches until so many samples are trained, with batches that span epochs

    def __post_init__(self):
        for part, choices in CHOICES.items():
            if getattr(self, part) not in choices:
                raise ValueError(f"{part} = {getattr(self, part)!r}: one of {', '.join(choices)}")
