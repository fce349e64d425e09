"""A loader with one global position: the ranks split each batch of one endless sequence of samples."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clustersim.account import Draws, Spaces, expand
from clustersim.data.orders import Order
from clustersim.data.skips import Skips
from clustersim.history import Refused
from clustersim.loaders import refusals
from clustersim.loaders.draws import as_planned, draws_of
from clustersim.loaders.parts import Advance, Parts, Position, Ranges, Saved, Stretch, ToCount
from clustersim.loaders.remainder import Remainder, RemainderSpaces
from clustersim.loaders.split import rank_slices


class SequenceLoader:
    """Reads positions 0, 1, 2, ... of an endless sequence, epoch after epoch of `size` samples, `batch` of them a step.

    With `epochs` it comes to its end once fewer than a batch of their samples are left; without, it never does.
    """

    def __init__(
        self, order: Order, batch: int, parts: Parts, epochs: int | None = None, skips: Skips | None = None
    ) -> None:
        """`skips`: positions that it passes over; a composition that shuffles a remainder knows none."""
        self.size = order.size
        self._remainders = RemainderSpaces(order) if parts.comes_back == "remainder" else None
        self.spaces: Spaces = order if self._remainders is None else self._remainders
        self.spaces_to_count: Spaces = order
        self.batch = batch
        self.parts = parts
        self._skips = skips or Skips()
        self._samples = None if epochs is None else epochs * order.size

    @property
    def skipped(self) -> tuple[tuple[int, int], ...]:
        """Runs [from, to) of positions that it passes over."""
        return self._skips.runs

    @property
    def acts_on_time(self) -> bool:
        """Whether it comes to an end of its own, or may refuse a restart."""
        return self._samples is not None or "refuse" in (self.parts.comes_back, self.parts.on_layout_change)

    def start(self, ranks: int) -> Position:
        """The very first sample."""
        return Position(0, ranks)

    def steps_left(self, at: Position, step: int) -> int | None:
        """Whole batches until the end of the last epoch; None if there is no last one."""
        return None if self._samples is None else self._batches_to(self._samples, at)

    def _batches_to(self, stop: int, at: Position) -> int:
        return max(0, self._read_in(at.samples, stop)) // self.batch

    def advance(self, at: Position, step: int, steps: int) -> Advance:
        """Deliver `steps` batches, or as many as are left."""
        if self._samples is not None:
            steps = min(steps, self._batches_to(self._samples, at))
        lasting = at.family if self.parts.reshuffle_lasts == "for-good" else 0
        stop = self._skips.after(at.samples, steps * self.batch)
        epoch = at.samples // self.size
        order_epoch = epoch if at.order_epoch is None else at.order_epoch
        stretch = Stretch(step, steps, at.samples, at.family, order_epoch, lasting)
        if stop // self.size == epoch:
            return Advance(stretch, Position(stop, at.ranks, at.family, at.order_epoch))
        return Advance(stretch, Position(stop, at.ranks, lasting))

    def draws(self, stretches: Sequence[Stretch]) -> tuple[Draws, NDArray[np.int64]]:
        """What the stretches read, and the index of the stretch that each row belongs to, int64[rows]."""
        return draws_of(stretches, self.size, self.batch, self._skips)

    @property
    def repeats_samples(self) -> bool:
        """Whether an epoch of the plan may hold a sample twice."""
        return self.spaces.law == "other"

    @property
    def tells_the_end_only(self) -> bool:
        """Whether what it reads, as it is counted by law, is right in all and not step by step."""
        return self._remainders is not None

    def below(self, stretches: Sequence[Stretch], step: int) -> list[Stretch]:
        """The stretches as far as they lie below a step."""
        return [each._replace(steps=max(0, min(each.steps, step - each.step))) for each in stretches]

    def reads_to_count(
        self, planned: Sequence[Stretch], seen: Sequence[Stretch], cuts: NDArray[np.int64] | None = None
    ) -> ToCount:
        """What the stretches read, in orders that can be counted by their law."""
        draws, plan = self.draws(seen)[0], self.draws(planned)[0]
        if self._remainders is None:
            return ToCount(plan, draws)
        return ToCount(plan, self._remainders.in_the_runs_order(draws), drawn=self._remainders.left_open(draws))

    def first_samples(self, epoch: int, count: int) -> NDArray[np.int64]:
        """The first samples of an epoch in the run's order, int64[count]."""
        return self.spaces.samples_at(0, epoch, np.arange(count))

    def steps_as_planned(self, stretches: Sequence[Stretch], planned_steps: int) -> int:
        """How many steps of the stretches read the positions of the plan, in its order."""
        return sum(stop - first for first, stop in self.as_planned(stretches, planned_steps))

    def as_planned(self, stretches: Sequence[Stretch], planned_steps: int) -> Ranges:
        """Which steps those are: of each stretch some at its end."""
        same_orders = self.spaces.same_every_epoch
        ranges = as_planned(stretches, self.size, self.batch, self._skips, planned_steps, same_orders)
        return list(zip(*(column.tolist() for column in ranges), strict=True))

    def samples_at(self, stretch: Stretch, step: int, stop: int) -> NDArray[np.int64]:
        """The samples that the steps [step, stop) of a stretch read, in reading order, int64[steps x batch]."""
        start = self._skips.after(stretch.start, (step - stretch.step) * self.batch)
        epoch = start // self.size
        part = stretch._replace(step=step, steps=stop - step, start=start)
        if epoch > stretch.start // self.size:
            part = part._replace(family=stretch.family_after, order_epoch=epoch)
        return expand(self.spaces, self.draws([part])[0])[1]

    def batch_at(self, stretch: Stretch, step: int, ranks: int) -> list[NDArray[np.int64]]:
        """The samples that each rank reads in one step of a stretch."""
        samples = self.samples_at(stretch, step, step + 1)
        return [samples[start:stop] for start, stop in rank_slices(self.batch, ranks)]

    def save(self, at: Position) -> Saved:
        """The position, the epoch it lies in, or nothing."""
        saves, edge = self.parts.saves, self.parts.epoch_edge
        on_edge = at.samples > 0 and at.samples % self.size == 0
        return Saved(
            at.ranks,
            samples=self._counted(at.samples) if saves == "samples" else None,
            epoch=at.samples // self.size - (on_edge and edge == "old") if saves != "nothing" else None,
            begun=at.samples > 0,
            finished=on_edge and edge == "finished",
            family=at.family,
        )

    def resume(self, saved: Saved, reached: Position, ranks: int, leg: int) -> Position | Refused:
        """Back by the rule of the composition; the global position itself serves any number of ranks."""
        if not saved.begun and self.parts.comes_back != "continue":  # no checkpoint: the run begins anew
            return Position(0, ranks, leg if "reshuffle" in self.parts.comes_back else 0)
        if self.parts.comes_back == "refuse":
            return Refused("the loader cannot come back from what it saves")
        if self.parts.on_layout_change == "refuse" and ranks != saved.ranks:
            return refusals.other_ranks(saved.ranks, ranks)
        match self.parts.comes_back:
            case "continue":
                return reached._replace(ranks=ranks)
            case "restart-run":
                return Position(0, ranks)
            case "restart-epoch":
                return Position(self._epoch(saved) * self.size, ranks)
            case "reshuffle-epoch":
                return Position(self._epoch(saved) * self.size, ranks, leg)
            case "next-epoch":
                read = self._end(saved) if saved.samples is None else saved.samples
                return Position(-(-read // self.size) * self.size, ranks)
        return self._back_to_position(saved, ranks, leg)

    def _read_in(self, start: int, stop: int) -> int:
        """How many positions of [start, stop) it reads; below 0 if they are in the wrong order."""
        if not self._skips:
            return stop - start
        below = self._skips.trained(np.array([start, stop]))
        return int(below[1] - below[0])

    def _counted(self, delivered: int) -> int:
        """The position by the loader's own count: nothing is fetched ahead of an epoch that has not begun."""
        into_epoch = delivered % self.size
        if self.parts.counted_at == "trained" or into_epoch == 0:
            return delivered
        return delivered + min(self.parts.prefetch * self.batch, self.size - into_epoch)

    @staticmethod
    def _epoch(saved: Saved) -> int:
        assert saved.epoch is not None
        return saved.epoch

    def _end(self, saved: Saved) -> int:
        """The position at which the saved epoch ends."""
        return (self._epoch(saved) + 1) * self.size

    def _back_to_position(self, saved: Saved, ranks: int, leg: int) -> Position:
        assert saved.samples is not None
        lasting = leg if self.parts.reshuffle_lasts == "for-good" else 0
        if saved.finished:
            return Position(saved.samples + self.size, ranks, lasting)
        samples = max(saved.samples - (self.parts.takes_back or 0) * self.batch, self._epoch(saved) * self.size)
        if samples >= self._end(saved):  # nothing of the saved epoch is left
            return Position(samples, ranks, lasting)
        into_epoch = samples - self._epoch(saved) * self.size
        family = leg if self.parts.comes_back == "reshuffle" else 0
        if self._remainders is not None:
            family = self._remainders.number(Remainder(saved.family, into_epoch, leg))
        return Position(samples, ranks, family, 0 if self.parts.order_epoch == "first" else None)
