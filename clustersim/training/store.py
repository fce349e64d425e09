"""Which checkpoints there are to come back to: saved by the legs of the lineage, retained, and not lost by a failure.

A leg's saves are arithmetic (`training/leg.py`), so the store holds one entry for all that a leg saved in a tier; what
it costs depends on the legs, not on the checkpoints. It is kept up when a leg ends, and while the job recovers.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import Literal, NamedTuple

from clustersim.streams import Hashed
from clustersim.training.plan import Tier
from clustersim.training.under_way import UnderWay

Fate = Literal["sound", "unreadable", "goes bad"]


class Checkpoint(NamedTuple):
    """One checkpoint: its tier, the first step that a restart from it trains, and the leg's save that it was."""

    tier: int
    step: int
    leg: int
    number: int


@dataclass(slots=True)
class _Entry:
    """Saves low .. high - 1 of one leg in one tier."""

    leg: UnderWay
    low: int
    high: int


class Store:
    """The checkpoints of all tiers; in each the older ones lie below the newer ones, in steps and in time."""

    def __init__(self, tiers: Sequence[Tier], fates: Sequence[Hashed], nodes_per_domain: int) -> None:
        """`fates`: for each tier the random stream of what is wrong with its checkpoints."""
        self._nodes_per_domain = nodes_per_domain
        self._tiers = tiers
        self._fates = fates
        self._entries: list[deque[_Entry]] = [deque() for _ in tiers]
        self._mortal = [tier for tier, plan in enumerate(tiers) if plan.survives != "job"]
        self._keeps_all = all(tier.keep is None for tier in tiers)
        self._counts = [0] * len(tiers)
        self._tries: dict[Checkpoint, int] = {}
        self._lost_nodes = self._lost_groups = 0
        self._newest: Checkpoint | None = None
        self._newest_known = True
        self.has_held = False
        """Whether there ever was a checkpoint."""
        self.all_sound = not any(tier.corrupt_at_load or tier.corrupt_later for tier in tiers)
        """Whether nothing is ever wrong with a checkpoint."""

    # --- what comes in

    def add(self, leg: UnderWay) -> None:
        """What a leg that has ended saved durably; each tier lets its oldest go, beyond those that it keeps."""
        self._lost_nodes = self._lost_groups = 0
        for tier, saves in enumerate(leg.saves):
            if saves:
                self.has_held, self._newest_known = True, False
                self._entries[tier].append(_Entry(leg, 0, saves))
                self._counts[tier] += saves
                if not self._keeps_all:
                    self._retain(tier)

    def _retain(self, tier: int) -> None:
        keep, entries = self._tiers[tier].keep, self._entries[tier]
        while keep is not None and self._counts[tier] > keep:
            gone = min(self._counts[tier] - keep, entries[0].high - entries[0].low)
            entries[0].low += gone
            self._counts[tier] -= gone
            if entries[0].low == entries[0].high:
                entries.popleft()

    # --- what goes

    def strike(self, lost: Sequence[int]) -> None:
        """A failure takes nodes: what does not survive it, and those before it in the same recovery, is gone."""
        if not self._mortal:
            return
        self._lost_nodes += len(lost)
        self._lost_groups += len({node // self._nodes_per_domain for node in lost})
        for tier in self._mortal:
            if not self._tiers[tier].survives_loss(self._lost_nodes, self._lost_groups):
                self._entries[tier].clear()
                self._counts[tier] = 0
                self._newest_known = False

    def forget_after(self, made_ns: int) -> None:
        """Drop what was made after an instant."""
        for tier, entries in enumerate(self._entries):
            while entries and (high := _made_by(entries[-1], tier, made_ns)) < entries[-1].high:
                self._cut(tier, high)

    def forget_above(self, step: int) -> None:
        """Drop what holds more than so many steps."""
        for tier, entries in enumerate(self._entries):
            while entries and (high := _held_below(entries[-1], tier, step)) < entries[-1].high:
                self._cut(tier, high)

    def drop(self, checkpoint: Checkpoint) -> None:
        """Drop a checkpoint, the newest of its tier unless it is gone already."""
        self._tries.pop(checkpoint, None)
        entries = self._entries[checkpoint.tier]
        if entries and entries[-1].leg.number == checkpoint.leg:
            self._cut(checkpoint.tier, checkpoint.number)

    def _cut(self, tier: int, high: int) -> None:
        """Keep of a tier's newest entry only its saves below `high`."""
        entries = self._entries[tier]
        kept = max(entries[-1].low, high)
        self._counts[tier] -= entries[-1].high - kept
        entries[-1].high = kept
        if entries[-1].low == kept:
            entries.pop()
        self._newest_known = False

    # --- what there is

    def candidates(self) -> Iterator[Checkpoint]:
        """All checkpoints, those with the most steps first; of equal ones the first tier's."""
        if len(self._tiers) == 1:
            return self._newest_first(0)
        return merge(*(self._newest_first(tier) for tier in range(len(self._tiers))), key=lambda each: -each.step)

    def _newest_first(self, tier: int) -> Iterator[Checkpoint]:
        for entry in reversed(self._entries[tier]):
            for number in range(entry.high - 1, entry.low - 1, -1):
                yield Checkpoint(tier, _step_of(entry, tier, number), entry.leg.number, number)

    @property
    def newest(self) -> Checkpoint | None:
        """The one with the most steps; of equal ones the first tier's."""
        if self._newest_known:
            return self._newest
        newest: Checkpoint | None = None
        for tier, entries in enumerate(self._entries):
            if entries:
                leg, number = entries[-1].leg, entries[-1].high - 1
                step = leg.step + leg.clock.step_of(tier, number)
                if newest is None or step > newest.step:
                    newest = Checkpoint(tier, step, leg.number, number)
        self._newest, self._newest_known = newest, True
        return newest

    def newest_step(self) -> int:
        """The step that the newest checkpoint restarts from; 0 if there is none."""
        newest = self.newest
        return 0 if newest is None else newest.step

    def newest_step_made_by(self, instant_ns: int) -> int:
        """The same of the newest checkpoint that was made by an instant."""
        newest = 0
        for tier, entries in enumerate(self._entries):
            for entry in reversed(entries):
                high = min(entry.high, _made_by(entry, tier, instant_ns))
                if high > entry.low:
                    newest = max(newest, _step_of(entry, tier, high - 1))
                    break
        return newest

    def fate(self, checkpoint: Checkpoint) -> Fate:
        """What is wrong with a checkpoint; it is always the same."""
        if self.all_sound:
            return "sound"
        plan = self._tiers[checkpoint.tier]
        uniform = self._fates[checkpoint.tier].uniform(checkpoint.leg, checkpoint.number)
        if uniform < plan.corrupt_at_load:
            return "unreadable"
        return "goes bad" if uniform < plan.corrupt_at_load + plan.corrupt_later else "sound"

    def went_bad(self, checkpoint: Checkpoint, most: int) -> None:
        """A leg from a checkpoint showed that it is bad; after the last of so many tries it is dropped."""
        self._tries[checkpoint] = self._tries.get(checkpoint, 0) + 1
        if self._tries[checkpoint] >= most:
            self.drop(checkpoint)


def _step_of(entry: _Entry, tier: int, number: int) -> int:
    return entry.leg.step + entry.leg.clock.step_of(tier, number)


def _held_below(entry: _Entry, tier: int, step: int) -> int:
    """How many of a leg's saves hold at most so many steps."""
    return bisect_right(range(entry.high), step, key=lambda number: _step_of(entry, tier, number))


def _made_by(entry: _Entry, tier: int, instant_ns: int) -> int:
    """How many of a leg's saves were made by an instant."""
    return entry.leg.clock.made(tier, instant_ns - entry.leg.begin_ns)
