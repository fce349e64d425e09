"""What there is to read, in which order, and what of the reading survives a restart."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

from pydantic import model_validator

from clustersim.scenario.errors import wrong
from clustersim.scenario.part import Part
from clustersim.scenario.units import Count, PositiveCount, PositiveNumber

# Shards are held one by one.
_MOST_SHARDS = 10_000_000
# Beyond it the samples of any corpus are too many to count.
_LONGEST_DOCUMENT = 1e15
# What a checkpoint must save for each way of coming back.
_NEEDS = {
    "exact": ("samples",),
    "reshuffle": ("samples",),
    "restart-epoch": ("samples", "epoch"),
    "next-epoch": ("samples", "epoch"),
}


class Data(Part):
    """The corpus and its order."""

    documents: PositiveCount | None = None
    """Documents of the corpus; each is a sample unless they are packed."""
    samples: PositiveCount | None = None
    """Instead of documents."""
    tokens_per_document: PositiveNumber | None = None
    """Mean length of a document."""
    packing: Literal["none", "concat"] = "none"
    """concat: documents end to end, cut into samples of sequence_length tokens; the last partial one is dropped."""
    shards: PositiveCount = 1
    """Files of samples."""
    order: Literal["shuffle", "shuffle-once", "sequential", "shard-shuffle"] = "shuffle"
    """Each epoch shuffled anew, or all by one shuffle; as the samples lie; or shards shuffled, each read through."""

    @model_validator(mode="after")
    def _check(self) -> "Data":
        if (self.documents is None) == (self.samples is None):
            found = "neither" if self.documents is None else "both"
            raise wrong("either documents or samples", found, key="samples")
        if self.shards > _MOST_SHARDS:
            raise wrong("at most 10 M shards", str(self.shards), key="shards")
        if self.tokens_per_document is not None and self.tokens_per_document >= _LONGEST_DOCUMENT:
            raise wrong("a mean length below 1e15 tokens", str(self.tokens_per_document), key="tokens_per_document")
        if self.packing == "concat":
            for key in ("documents", "tokens_per_document"):
                if getattr(self, key) is None:
                    raise wrong(f'{key} beside packing = "concat"', "nothing", key=key)
        return self

    def count_samples(self, sequence_length: int | None) -> int:
        """Samples of an epoch (may be 0); `sequence_length` in tokens, needed where documents are packed."""
        if self.samples is not None:
            return self.samples
        # `_check` left no other case.
        assert self.documents is not None
        if self.packing == "none":
            return self.documents
        if sequence_length is None:
            raise wrong('a sequence length beside data.packing = "concat"', "nothing", key="model.sequence_length")
        # The decimal that the user wrote, not the float nearest to it.
        return int(self.documents * Fraction(repr(self.tokens_per_document)) // sequence_length)


class Loader(Part):
    """What a checkpoint saves of the reading, and how the loader comes back."""

    preset: str | None = None
    """A shipped composition ("restore" if neither it nor all its parts are said); parts beside it override its own."""
    saves: Literal["samples", "epoch", "nothing"]
    """The position in samples, the number of the epoch, or nothing."""
    comes_back: Literal["exact", "restart-epoch", "next-epoch", "restart-run", "reshuffle", "continue"]
    """To the saved position, to the start of its epoch, of the next or of the run, there in a new order, or not."""
    reshuffle_lasts: Literal["epoch", "for-good"] | None = None
    """With comes_back = "reshuffle": the new order holds until the epoch ends ("epoch", if not said) or from now on."""
    epoch_edge: Literal["new", "old", "finished"] = "new"
    """Of what a checkpoint at an epoch's last step is: the next epoch, the old one, or it ends the next one unread."""
    counted_at: Literal["trained", "issued"] = "trained"
    """A sample counts as read when its step is done, or already when it is fetched."""
    prefetch: Count = 0
    """Global batches that all workers together fetch ahead; for counted_at = "issued"."""
    order_epoch: Literal["own", "first"] = "own"
    """The order in which an epoch goes on after a restart: its own, or epoch 0's, as if the seed forgot the epoch."""
    on_layout_change: Literal["reshard", "refuse"] = "reshard"
    """With other ranks than those that saved: they divide the global position, or the loader does not come back."""

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
        if (self.counted_at == "issued") != (self.prefetch > 0):
            raise wrong('at least 1 with counted_at = "issued", and only then', str(self.prefetch), key="prefetch")
        if self.counted_at == "issued" and self.saves != "samples":
            raise wrong('"trained" unless saves = "samples"', '"issued"', key="counted_at")
        if self.order_epoch == "first" and self.comes_back != "exact":
            raise wrong('"own" unless comes_back = "exact"', '"first"', key="order_epoch")
        if self.epoch_edge == "finished" and self.comes_back not in ("exact", "reshuffle"):
            raise wrong('"new" or "old" unless it comes back to its position', '"finished"', key="epoch_edge")
        if self.reshuffle_lasts is not None and self.comes_back != "reshuffle":
            raise wrong('comes_back = "reshuffle" beside it', f'"{self.comes_back}"', key="reshuffle_lasts")
        return self
