"""How a loader reads, what of the reading survives a restart, and what of that goes together."""

from collections.abc import Mapping
from typing import Literal

from pydantic import model_validator

from clustersim.scenario.errors import wrong
from clustersim.scenario.part import Part
from clustersim.scenario.units import Count, FewEitherWay, PositiveCount

# What a checkpoint must save for each way of coming back.
_NEEDS = {
    "exact": ("samples", "batches", "steps"),
    "reshuffle": ("samples", "batches"),
    "remainder": ("samples",),
    "reapply": ("samples",),
    "restart-epoch": ("samples", "batches", "epoch"),
    "next-epoch": ("samples", "epoch"),
}
_TO_A_POSITION = ("exact", "reshuffle", "remainder", "reapply")
# The ways of coming back that ask what was saved.
_BY_STATE = (*_TO_A_POSITION, "restart-epoch", "reshuffle-epoch", "next-epoch")


class Loader(Part):
    """What a checkpoint saves of the reading, and how the loader comes back."""

    preset: str | None = None
    """A shipped composition ("restore" if neither it nor all its parts are said); parts beside it override its own."""
    partition: Literal[
        "global", "strided", "contiguous", "shards", "contiguous-shards", "filtered", "slices", "queue"
    ] = "global"  # fmt: skip
    """One sequence whose batches the ranks split; or a part of the epoch for each: every n-th sample, a run of samples,
    every n-th shard, a run of shards; or all of it, of which each keeps every n-th sample ("filtered") or its slice of
    each global batch ("slices"); or the next shard of a common queue."""
    permutes: Literal["epoch", "part"] = "epoch"
    """With partition = "contiguous" or "shards": the epoch is shuffled and then divided, or each part by itself."""
    dealt_to: Literal["ranks", "first-ranks"] = "ranks"
    """Parts are dealt to the ranks that there are; or they stay dealt to those that the run began with, and nobody
    reads what was dealt to a rank that is lost."""
    readers_per_rank: PositiveCount = 1
    """Workers of a rank that the data is divided over; workers that only fetch ahead are told by prefetch."""
    uneven: Literal["leave", "pad", "drop"] = "leave"
    """Parts that do not come out even: the first hold one more, all are padded, or the epoch's tail is dropped."""
    last_batch: Literal["span", "short", "drop", "pad"] | None = None
    """A batch at an epoch's end goes on in the next one ("span", usual for "global"), is short (usual for parts), is
    dropped, or is filled up from the start of its epoch."""
    repeats: Count = 1
    """More than 1: a part repeats so often in itself (0: without end) and its position goes on over the epochs, instead
    of a loop over epochs around it."""
    rank_batch: Literal["share", "constant"] = "share"
    """What a rank takes a step when ranks change: its share of the global batch, or as much as at first."""
    saves: Literal["samples", "batches", "steps", "epoch", "nothing"]
    """The position in samples, the batches of the epoch, the steps of the run, the number of the epoch, or nothing."""
    state_of: Literal["each", "rank-0"] = "each"
    """Whose state is saved: every rank's own, or rank 0's for all."""
    state_ahead: FewEitherWay = 0
    """Steps by which the state in a checkpoint is ahead of its weights: the loader had delivered so many batches more;
    below 0 fewer, but none from before its last restart. At most 10,000."""
    comes_back: Literal[
        "exact", "restart-epoch", "reshuffle-epoch", "next-epoch", "restart-run", "reshuffle", "remainder", "reapply",
        "continue", "refuse",
    ]  # fmt: skip
    """To the saved position; to the start of its epoch (in a new order: "reshuffle-epoch"), of the next or of the run;
    to the position in a new order of the epoch ("reshuffle") or of what is unread of it ("remainder"); to the position,
    and every later epoch begins there too ("reapply"); it goes on where it was ("continue"); or the run ends."""
    reshuffle_lasts: Literal["epoch", "for-good"] | None = None
    """With comes_back = "reshuffle": the new order holds until the epoch ends ("epoch", if not said) or from now on."""
    keeps_count: bool = False
    """With comes_back = "restart-epoch": the loop goes on counting batches, and so ends the epoch early."""
    epoch_edge: Literal["new", "old", "finished"] = "new"
    """Of what a checkpoint at an epoch's last step is: the next epoch, the old one, or it ends the next one unread."""
    counted_at: Literal["trained", "issued"] = "trained"
    """A sample counts as read when its step is done, or already when it is fetched."""
    prefetch: Count = 0
    """Global batches that all workers together fetch ahead; for counted_at = "issued" or prefetch_saved."""
    prefetch_saved: bool = False
    """A checkpoint holds the `prefetch` batches that each rank has fetched ahead, and they are delivered first."""
    takes_back: PositiveCount | None = None
    """With counted_at = "issued": batches that a restart takes off the saved position, for what was only fetched."""
    snapshot_every: PositiveCount = 1
    """Batches from one saved position to the next; those since the last one are passed over in today's batches."""
    carry: Literal["saved", "lost"] | None = None
    """Where each worker of each rank packs documents as it reads, and so holds a part of one between two samples: it is
    saved, or a restart loses it and begins with the next document. Nothing is held if samples were packed before."""
    buffer: Count = 0
    """Samples that each reader shuffles in a buffer; 0: none."""
    buffer_kind: Literal["classic", "lazy", "half-flush", "window", "chunk"] = "classic"
    """A full buffer lets out, in random order, one sample for each that comes in, or half of it, or all ("window");
    a "chunk" goes out as it lies. A "lazy" one is filled up when the next sample is asked for, and not before."""
    buffer_saved: bool = False
    """A checkpoint holds what the buffers hold; if not, they begin empty where the readers have pulled to."""
    buffer_seed: Literal["epoch", "fresh"] = "epoch"
    """A buffer that is read again from its start gives the same order again, or another after every restart."""
    reader_seeds: Literal["own", "shared"] = "own"
    """What readers shuffle, in buffers or shards of their own, each shuffles by a seed of its own, or all by one: then
    the same places of all parts go together, and about the same ones with other ranks."""
    miscount: Literal["none", "doubled", "last-leg", "rank-as-global"] = "none"
    """The saved count is wrong: batches before the last restart count twice, or not at all ("last-leg"), or a rank's
    own count is taken for that of all."""
    counted_in: PositiveCount | None = None
    """Samples of a unit that the position is saved in, 1 if not said: a micro-batch, a packed row. What makes no whole
    one is read again."""
    taken_for: PositiveCount | None = None
    """Samples that a saved unit is taken for when the loader comes back; if it is not counted_in, that is wrong."""
    interleave: PositiveCount = 1
    """Shards that a reader reads in turn, a sample of each."""
    canonical: Count = 0
    """Runs that the order is cut in, each filled up for the run's first ranks; 0: none."""
    unfinished_shard: Literal["again", "skip"] = "again"
    """With partition = "queue": a shard that a restart interrupts is read again, or what is left of it is not."""
    order_epoch: Literal["own", "first", "since-start", "same"] = "own"
    """The epoch that the seed knows: its own; 0 from a restart to the epoch's end; counted from the restart; none."""
    on_layout_change: Literal["reshard", "keep", "redivide", "refuse"] = "reshard"
    """With other ranks than those that saved: they divide the position of all, keep their own, are dealt what
    nobody has read, or do not come back."""
    missing_state: Literal["fresh", "rank-0", "refuse"] = "fresh"
    """Ranks that have no state of their own: at the epoch's start, where rank 0 is, or no rank comes back."""
    past_end: Literal["end", "refuse", "restart-epoch"] = "end"
    """A saved position that today's part does not reach: at its end, not come back, or at its start."""

    @property
    def spans_epochs(self) -> bool:
        """Whether its batches follow each other over the ends of epochs, at one position of all ranks."""
        return self.last_batch == "span" or (self.last_batch is None and self.partition == "global")

    @property
    def one_by_one(self) -> str:
        """The part of the composition that makes samples be counted one by one, however many there are; or nothing."""
        for key, value in _LISTED:
            if getattr(self, key) == value or (
                value is None and getattr(self, key) != type(self).model_fields[key].default
            ):
                return f"with loader.{key} = {_spelt(getattr(self, key))}"
        if self.comes_back == "remainder" and self.last_batch in _WHOLE:
            return f'with loader.comes_back = "remainder" and last_batch = "{self.last_batch}"'
        if self.buffer:
            for key, value in _KEPT_BUFFER:
                if getattr(self, key) == value or (value is None and getattr(self, key) != 1):
                    return f"with loader.buffer = {self.buffer} and {key} = {_spelt(getattr(self, key))}"
        if self.repeats != 1 and "shards" in self.partition:
            return f'with loader.repeats = {self.repeats} and partition = "{self.partition}"'
        if self.partition == "contiguous" and self.permutes == "part":
            return 'with loader.permutes = "part"'
        return ""

    @model_validator(mode="before")
    @classmethod
    def _reshuffle_ends_with_its_epoch(cls, values: object) -> object:
        if isinstance(values, Mapping) and values.get("comes_back") == "reshuffle":
            return {"reshuffle_lasts": "epoch", **values}
        return values

    @model_validator(mode="after")
    def _check(self) -> "Loader":
        needs = _NEEDS.get(self.comes_back, (self.saves,))
        if self.saves not in needs:
            expected = " or ".join(f'"{each}"' for each in needs)
            raise wrong(f'{expected} with comes_back = "{self.comes_back}"', f'"{self.saves}"', key="saves")
        spans = self.spans_epochs
        if spans and self.saves == "batches":
            expected = '"short", "drop" or "pad" beside saves = "batches", which are those of an epoch'
            raise wrong(expected, '"span"', key="last_batch")
        if spans and self.saves == "steps":
            for key, value in (("epoch_edge", "new"), ("order_epoch", "own")):
                if getattr(self, key) != value:
                    expected = f'"{value}" beside saves = "steps" and batches that span epochs'
                    raise wrong(expected, f'"{getattr(self, key)}"', key=key)
        if self.last_batch == "pad" and self.partition not in _IN_SAMPLES:
            expected = '"short" or "drop" beside parts made of shards, which have no common start to be filled up from'
            raise wrong(expected, '"pad"', key="last_batch")
        if (self.counted_at == "issued" or self.prefetch_saved) != (self.prefetch > 0):
            expected = 'at least 1 with counted_at = "issued" or prefetch_saved, and only then'
            raise wrong(expected, str(self.prefetch), key="prefetch")
        if self.partition in ("filtered", "slices") and self.repeats == 1:
            expected = f'0 or at least 2 with partition = "{self.partition}", whose position goes on over the epochs'
            raise wrong(expected, "1", key="repeats")
        if self.prefetch_saved and self.buffer and not self.buffer_saved:
            raise wrong("true beside prefetch_saved", "false", key="buffer_saved")
        if spans and self.order_epoch in ("since-start", "same"):
            raise wrong('"own" or "first" beside batches that span epochs', f'"{self.order_epoch}"', key="order_epoch")
        if self.order_epoch == "first" and self.comes_back != "exact":
            raise wrong('comes_back = "exact" beside "first"', f'"{self.comes_back}"', key="order_epoch")
        if self.epoch_edge == "finished" and self.comes_back not in _TO_A_POSITION:
            expected = f'comes_back = {" or ".join(map(_spelt, _TO_A_POSITION))} beside "finished"'
            raise wrong(expected, f'"{self.comes_back}"', key="epoch_edge")
        if self.reader_seeds == "shared" and not self.buffer and self.permutes == "epoch":
            raise wrong('a buffer or permutes = "part" beside "shared"', "nothing that is shuffled", key="reader_seeds")
        if self.comes_back == "remainder" and (self.partition != "global" or self.counted_at != "trained"):
            expected = 'partition = "global" and counted_at = "trained" beside "remainder"'
            raise wrong(expected, f'"{self.partition}" and "{self.counted_at}"', key="comes_back")
        usual = {key: field.default for key, field in type(self).model_fields.items()}
        stated = [(key, needed) for key, needed in _TOGETHER if getattr(self, key) != usual[key]]
        stated += [(key, needed) for (key, value), needed in _BESIDE.items() if getattr(self, key) == value]
        for key, needed in stated:
            for other, allowed in needed.items():
                found = getattr(self, other)
                if not allowed:
                    fits, beside = bool(found), f"{other} of at least 1"
                else:
                    fits = found in allowed or (other == "last_batch" and found is None and not spans)
                    beside = f"{other} = {' or '.join(_spelt(each) for each in allowed)}"
                if not fits:
                    raise wrong(f"{beside} beside {_spelt(getattr(self, key))}", _spelt(found), key=key)
        return self


_IN_SAMPLES = ("global", "strided", "contiguous")
_PARTS = ("strided", "contiguous", "shards", "contiguous-shards", "filtered", "slices", "queue")
_WHOLE = ("short", "drop", "pad")
_UNITS: dict[str, tuple[object, ...]] = {
    "partition": ("global",),
    "saves": ("samples", "batches"),
    "comes_back": ("exact", "reshuffle"),
    "last_batch": _WHOLE,
    "counted_at": ("trained",),
    "miscount": ("none",),
    "buffer": (0,),
    "canonical": (0,),
}
# What a part of the composition goes together with where it is not as usual; (): with any but 0.
_TOGETHER: list[tuple[str, dict[str, tuple[object, ...]]]] = [
    ("counted_at", {"saves": ("samples",), "readers_per_rank": (1,)}),
    ("reshuffle_lasts", {"comes_back": ("reshuffle",)}),
    ("permutes", {"partition": ("contiguous", "shards", "contiguous-shards")}),
    (
        "dealt_to",
        {
            "partition": ("strided", "contiguous", "shards", "contiguous-shards"),
            "on_layout_change": ("keep",),
            "permutes": ("epoch",),
            "interleave": (1,),
            "last_batch": ("short",),
            "buffer": (0,),
            "keeps_count": (False,),
        },
    ),
    ("readers_per_rank", {"partition": _PARTS[:-1]}),  # a queue knows ranks alone
    ("uneven", {"partition": _IN_SAMPLES}),
    (
        "repeats",
        {
            "partition": ("strided", "contiguous", "shards", "contiguous-shards", "filtered", "slices"),
            "comes_back": ("exact", "restart-run", "continue"),
            "order_epoch": ("own", "same"),
        },
    ),
    ("rank_batch", {"last_batch": _WHOLE}),
    (
        "keeps_count",
        {"comes_back": ("restart-epoch",), "last_batch": _WHOLE, "partition": ("global", *_PARTS[:-1])},
    ),
    ("snapshot_every", {"saves": ("samples",), "partition": _PARTS, "counted_at": ("trained",)}),
    ("miscount", {"comes_back": ("exact",), "last_batch": _WHOLE}),
    ("takes_back", {"counted_at": ("issued",), "comes_back": ("exact", "reshuffle")}),
    ("counted_in", _UNITS),
    ("taken_for", _UNITS),
    ("carry", {"saves": ("samples",), "comes_back": ("exact",), "state_ahead": (0,)}),
    (
        "buffer",
        {
            "counted_at": ("trained",),
            "snapshot_every": (1,),
            "last_batch": _WHOLE,
            "partition": ("global", *_PARTS[:-1]),  # of a queue it would hold samples of several shards in progress
        },
    ),
    ("buffer_kind", {"buffer": ()}),
    ("buffer_saved", {"buffer": (), "saves": ("samples",)}),
    ("buffer_seed", {"buffer": ()}),
    ("reader_seeds", {"partition": ("strided", "shards", "contiguous-shards")}),
    ("interleave", {"partition": ("shards", "contiguous-shards"), "permutes": ("epoch",), "last_batch": _WHOLE}),
    ("canonical", {"partition": ("global",), "last_batch": _WHOLE}),
    ("unfinished_shard", {"partition": ("queue",)}),
    ("state_of", {"partition": _PARTS}),
    ("state_ahead", {"saves": ("samples", "batches", "steps", "epoch"), "comes_back": _BY_STATE}),
    ("missing_state", {"partition": _PARTS, "on_layout_change": ("keep",)}),
    ("past_end", {"comes_back": ("exact", "reshuffle")}),
]

_WHOLE_INPUT: dict[str, tuple[object, ...]] = {
    "readers_per_rank": (1,),
    "uneven": ("leave",),
    "snapshot_every": (1,),
    "past_end": ("end",),
    "on_layout_change": ("keep", "refuse"),
    "last_batch": ("short",),
    "counted_at": ("trained",),
}
# What one of its choices goes together with.
_BESIDE: dict[tuple[str, object], dict[str, tuple[object, ...]]] = {
    ("on_layout_change", "redivide"): {
        "partition": ("strided", "contiguous", "shards", "contiguous-shards"),
        "permutes": ("epoch",),
        "saves": ("samples",),
        "comes_back": ("exact",),
        "repeats": (1,),
        "buffer": (0,),
    },
    ("partition", "filtered"): _WHOLE_INPUT,
    ("partition", "slices"): _WHOLE_INPUT,
    ("buffer_kind", "lazy"): {"buffer_saved": (True,)},
    ("prefetch_saved", True): {
        "partition": ("filtered", "slices"),
        "saves": ("samples",),
        "comes_back": ("exact",),
        "buffer_kind": ("classic", "lazy"),
    },
}

# What makes a part that no formula gives; None: any value that is not the usual one.
_LISTED: list[tuple[str, object]] = [
    ("on_layout_change", "redivide"),
    ("partition", "filtered"),
    ("partition", "slices"),
    ("interleave", None),
    ("canonical", None),
]

# What makes the places of samples that come out of a buffer matter to more than its own reader; None: any but 1.
_KEPT_BUFFER: list[tuple[str, object]] = [
    ("buffer_saved", True),
    ("buffer_kind", "window"),
    ("partition", "strided"),
    ("permutes", "part"),
    ("repeats", None),
]


def _spelt(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()
