"""Copies that are made behind the epochs of a run: what a crash undoes, and how long a restart waits for that.

While an epoch is read, the job itself makes the copy that the next one reads: a crash loses what is not whole, and the
restart begins anew. It waits until what is left of the epoch is as long as the making, so that no epoch begins without
its copy. The clock knows no wait in the middle of a leg; as long as no other crash comes before the epoch's end, it
comes to the same whether the job waits before or then.
"""

from collections.abc import Callable

from clustersim.scenario.sizes import Sizes


class CopiesBehind:
    """The copies of one run, of which the first is there when it begins. Times are ns."""

    def __init__(self, sizes: Sizes, making_ns: int, step_ns: Callable[[int], int]) -> None:
        """`step_ns`: the time of a step by degree, its wait for data included."""
        self._sizes = sizes
        self._making_ns = making_ns
        self._step_ns = step_ns
        self._made = 0  # the newest epoch whose copy is whole
        self._begun = 0  # the step from which on nothing has stopped the making
        self._ahead_ns = 0  # how long it had gone on by then
        self._degree = sizes.data  # of the leg that has begun

    def wait_ns(self, step: int, degree: int) -> int:
        """How long a restart at a step waits."""
        following = self._epoch(step) + 1
        edge = self._first_step(following)
        if following <= self._made or not self._is_read(following, edge):
            return 0
        return max(0, self._making_ns - (edge - step) * self._step_ns(degree))

    def begin(self, step: int, degree: int, goes_on: bool) -> None:
        """A leg begins, after a restart that has waited or going on where the last one stopped."""
        self._degree = degree
        if not goes_on:
            self._begun, self._ahead_ns = step, self.wait_ns(step, degree)

    def end(self, stop: int) -> None:
        """The leg is over after the steps below `stop`: of which epochs is a copy whole by then?"""
        epoch = self._epoch(stop)
        first = self._first_step(epoch)
        ahead_ns = self._ahead_ns if self._begun >= first else 0
        made_ns = ahead_ns + (stop - max(first, self._begun)) * self._step_ns(self._degree)
        self._made = max(self._made, epoch + (made_ns >= self._making_ns))

    def _epoch(self, step: int) -> int:
        return self._sizes.batches.before(step) // self._sizes.samples

    def _first_step(self, epoch: int) -> int:
        """The first step that reads of an epoch."""
        return self._sizes.batches.within(epoch * self._sizes.samples)

    def _is_read(self, epoch: int, first: int) -> bool:
        """Whether the run comes to an epoch; one that ends by its time may."""
        sizes = self._sizes
        return (sizes.epochs is None or epoch < sizes.epochs) and (sizes.steps is None or first < sizes.steps)
