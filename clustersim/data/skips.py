"""Positions that no step reads, as after a loss spike: a position and a count of what was trained are two counters."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Skips:
    """Runs [from, to) of positions that are passed over by whoever comes to them, before a restart and after it."""

    def __init__(self, runs: Sequence[tuple[int, int]] = ()) -> None:
        """`runs` rise and do not touch each other."""
        self.runs = tuple(runs)
        self._from = np.array([low for low, _ in runs], dtype=np.int64)
        self._to = np.array([high for _, high in runs], dtype=np.int64)
        self._skipped = np.append(0, np.cumsum(self._to - self._from))  # below the end of the first i runs

    def __bool__(self) -> bool:
        return bool(self.runs)

    def trained(self, position: Ints) -> Ints:
        """How many positions below each one are read, int64 of their shape."""
        if not self:
            return position
        begun = np.searchsorted(self._from, position, side="left")
        inside = np.maximum(np.append(0, self._to)[begun] - position, 0)
        trained: Ints = position - self._skipped[begun] + inside
        return trained

    def position_of(self, number: Ints) -> Ints:
        """The position of each of those that are read, numbered from 0, int64 of their shape."""
        if not self:
            return number
        position: Ints = number + self._skipped[np.searchsorted(self._from - self._skipped[:-1], number, side="right")]
        return position

    def after(self, position: int, count: int) -> int:
        """The next position to be read by one that has read `count` of them from `position` on."""
        if not self.runs or not count:
            return position + count
        return int(self.position_of(self.trained(np.array([position])) + count)[0])

    def read(self, start: int, stop: int) -> list[tuple[int, int]]:
        """What is read of the positions [start, stop), as runs that rise."""
        if not self:
            return [(start, stop)] if start < stop else []
        low = np.append(start, np.maximum(self._to, start))
        high = np.append(np.minimum(self._from, stop), stop)
        return [(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True) if a < b]
