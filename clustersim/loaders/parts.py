"""The parts that a loader is composed of, and what every loader answers.

What the words of a composition mean is said where scenarios say them: `clustersim.scenario.loader.Loader`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from clustersim.account import Dealt, Draws, Ledger, Spaces, Sparse, count, count_dealt, count_sparse
from clustersim.account.spaces import in_blocks
from clustersim.loaders.buffers import BufferKind
from clustersim.loaders.deal import Uneven

Saves = Literal["samples", "batches", "steps", "epoch", "nothing"]
ComesBack = Literal[
    "exact", "restart-epoch", "reshuffle-epoch", "next-epoch", "restart-run", "reshuffle", "remainder", "reapply",
    "continue", "refuse",
]  # fmt: skip
ReshuffleLasts = Literal["epoch", "for-good"]
CountedAt = Literal["trained", "issued"]
OrderEpoch = Literal["own", "first", "since-start", "same"]
EpochEdge = Literal["new", "old", "finished"]
OnLayoutChange = Literal["reshard", "keep", "redivide", "refuse"]
Partition = Literal[
    "global", "strided", "contiguous", "shards", "contiguous-shards", "filtered", "slices", "queue"
]  # fmt: skip
MissingState = Literal["fresh", "rank-0", "refuse"]
PastEnd = Literal["end", "refuse", "restart-epoch"]


@dataclass(frozen=True, slots=True)
class Parts:
    """One composition. That the parts go together is checked where scenarios are read."""

    saves: Saves
    comes_back: ComesBack
    reshuffle_lasts: ReshuffleLasts = "epoch"
    epoch_edge: EpochEdge = "new"
    counted_at: CountedAt = "trained"
    prefetch: int = 0  # global batches that are fetched ahead, over all workers
    prefetch_saved: bool = False
    takes_back: int | None = None  # of them a restart reads so many again, as what was fetched and not trained
    order_epoch: OrderEpoch = "own"
    on_layout_change: OnLayoutChange = "reshard"
    partition: Partition = "global"
    permutes: Literal["epoch", "part"] = "epoch"
    dealt_to: Literal["ranks", "first-ranks"] = "ranks"
    readers_per_rank: int = 1  # workers that the data is divided over
    uneven: Uneven = "leave"
    last_batch: Literal["span", "short", "drop", "pad"] = "span"
    repeats: int = 1
    rank_batch: Literal["share", "constant"] = "share"
    missing_state: MissingState = "fresh"
    past_end: PastEnd = "end"
    miscount: Literal["none", "doubled", "last-leg", "rank-as-global"] = "none"
    counted_in: int | None = None  # samples of a unit in which the position is saved, None: 1
    taken_for: int | None = None  # samples that such a unit is taken for, None: as many as it has
    keeps_count: bool = False
    snapshot_every: int = 1
    buffer: int = 0  # samples that each reader shuffles in a buffer
    buffer_kind: BufferKind = "classic"
    buffer_saved: bool = False
    buffer_seed: Literal["epoch", "fresh"] = "epoch"
    reader_seeds: Literal["own", "shared"] = "own"
    interleave: int = 1  # shards that each reader reads in turn
    canonical: int = 0  # runs of the order that are filled up for the first ranks, 0: none
    unfinished_shard: Literal["again", "skip"] = "again"
    state_of: Literal["each", "rank-0"] = "each"
    state_ahead: int = 0  # steps by which the state in a checkpoint is ahead of its weights


class Position(NamedTuple):
    """Where a loader of so many ranks stands.

    `samples` were delivered of its endless sequence; until the epoch's end it reads the order `family` of epoch
    `order_epoch`, None for the epoch's own.
    """

    samples: int
    ranks: int
    family: int = 0
    order_epoch: int | None = None


class Stretch(NamedTuple):
    """What a loader delivers in a run of steps: the positions [start, start + steps x batch).

    The epoch that `start` lies in is read in the order `family` of epoch `order_epoch`; later ones in their own of
    `family_after`.
    """

    step: int
    steps: int
    start: int
    family: int
    order_epoch: int
    family_after: int


class Advance(NamedTuple):
    """Steps delivered (fewer than asked if the loader came to its end), and the position after them."""

    stretch: Stretch
    position: Position


class Saved(NamedTuple):
    """What a checkpoint keeps of the loader; None where it keeps nothing of the kind."""

    ranks: int
    samples: int | None = None
    epoch: int | None = None
    begun: bool = False  # something had been read
    finished: bool = False  # the loader was at the end of an epoch, and says so
    family: int = 0  # the order that it read


Ranges = list[tuple[int, int]]
"""Steps [from, to)."""


class Delivered(Protocol):
    """Steps [step, step + steps) as a loader delivers them; what they mean in samples only that loader can tell."""

    @property
    def step(self) -> int:
        """The first step."""

    @property
    def steps(self) -> int:
        """How many."""


class ToCount(NamedTuple):
    """Reads with a place, reads of some samples of a stretch, and reads of blocks that were dealt out.

    The last stand alone, or beside a plan with a place. `drawn`: one draw from a law, not what was read.
    """

    planned: Draws
    seen: Draws
    planned_some: Sparse = Sparse.empty()
    seen_some: Sparse = Sparse.empty()
    drawn: bool = False
    planned_dealt: Sequence[Dealt] = ()
    seen_dealt: Sequence[Dealt] = ()


class Loader(Protocol):
    """A loader without its bytes: positions in, stretches out. Advancing a, then b steps equals advancing a + b.

    Positions, stretches and what is saved are the loader's own; nobody else looks inside.
    """

    @property
    def parts(self) -> Parts:
        """What it is composed of."""

    @property
    def acts_on_time(self) -> bool:
        """Whether it may end the run, so that the clock has to ask it."""

    def start(self, ranks: int) -> Any:
        """Where it stands before the first step."""

    def advance(self, at: Any, step: int, steps: int) -> Any:
        """Deliver the batches of `steps` steps from `step` on, or fewer if it comes to its end.

        Returns an object with the `stretch` that was delivered and the `position` after it.
        """

    def save(self, at: Any) -> Any:
        """What a checkpoint taken here keeps."""

    def resume(self, saved: Any, reached: Any, ranks: int, leg: int) -> Any:
        """Where leg number `leg` begins with so many ranks, or `Refused`.

        `reached` is where the loader was when the job died.
        """

    def steps_left(self, at: Any, step: int) -> int | None:
        """Steps from `step` on until its end, None if it has none."""

    def steps_as_planned(self, stretches: Sequence[Any], planned_steps: int) -> int:
        """How many steps of the stretches read what the run of `planned_steps` without failures reads then.

        By the positions and orders that are read: that other ones hold the same samples by chance is left out.
        """

    def batch_at(self, stretch: Any, step: int, ranks: int) -> list[NDArray[np.int64]]:
        """The samples that each rank reads in one step of a stretch, int64 arrays."""


class CorpusLoader(Loader, Protocol):
    """A loader of one corpus, of which the account can be asked."""

    @property
    def spaces(self) -> Spaces:
        """The orders that its draws speak of."""

    def as_planned(self, stretches: Sequence[Any], planned_steps: int) -> Ranges:
        """Which steps of the stretches `steps_as_planned` counts."""

    def draws(self, stretches: Sequence[Any]) -> tuple[Draws, NDArray[np.int64]]:
        """What the stretches read, for the account, and the index of the stretch of each row, int64[rows]."""

    @property
    def repeats_samples(self) -> bool:
        """Whether an epoch of the plan may hold a sample twice, so that as many views as the ideal's prove nothing."""

    @property
    def spaces_to_count(self) -> Spaces:
        """The orders of `reads_to_count`; under the law "other" reads are counted sample by sample only."""

    @property
    def tells_the_end_only(self) -> bool:
        """Whether `reads_to_count` are right in all, and not step by step."""

    def below(self, stretches: Sequence[Any], step: int) -> list[Any]:
        """The stretches as far as they lie below a step."""

    def reads_to_count(
        self, planned: Sequence[Any], seen: Sequence[Any], cuts: NDArray[np.int64] | None = None
    ) -> ToCount:
        """What the stretches of the plan and of the lineage read, in orders that the account can count by their law.

        `cuts`: int64[cuts], steps that never fall, the last beyond every read; what is dealt is told apart by them.
        """

    def first_samples(self, epoch: int, count: int) -> NDArray[np.int64]:
        """The first samples of an epoch in the run's order, int64[count], as if one reader read them all."""


def count_reads(spaces: Spaces, reads: ToCount, rng: np.random.Generator) -> Ledger:
    """The ledger of reads in orders that can be counted by their law, as `account.count`."""
    if reads.seen_dealt or reads.planned_dealt:
        assert in_blocks(spaces)
        planned = [*reads.planned_dealt, *Dealt.by_one(spaces, reads.planned)]
        return count_dealt(spaces, planned, [*reads.seen_dealt, *Dealt.by_one(spaces, reads.seen)])
    if len(reads.planned_some) or len(reads.seen_some):
        sides = (reads.planned, reads.planned_some), (reads.seen, reads.seen_some)
        ledger = count_sparse(spaces, *sides, rng)
    else:
        ledger = count(spaces, reads.planned, reads.seen, rng)
    return replace(ledger, exact="distribution") if reads.drawn else ledger
