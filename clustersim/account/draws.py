"""Draws: which stretches of which orders were read, and in which steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


_PLAIN = np.zeros(0, np.int64)  # stands for a column that every row has alike


def _plain() -> Ints:
    return _PLAIN


@dataclass(frozen=True, eq=False)
class Draws:
    """Reads, one a row; all fields are int64 arrays of one length.

    A row reads the offsets o of [start, stop) with low <= o mod modulus < high of an epoch of an order; where `epochs`
    > 1 it reads that many consecutive epochs whole. Offset o of epoch `epoch` + i is read in step
    `step` + every · ((lead + i·N + o − start) // per_step).

    Raises:
        ValueError: the fields are not int64 arrays of one length, or a row is empty or out of range.
    """

    family: Ints  # which order: 0 is the run's own, k > 0 the fresh one made at restart k
    epoch: Ints  # the first epoch
    epochs: Ints  # how many consecutive epochs are read whole; 1 unless the row is exactly [0, N)
    start: Ints
    stop: Ints
    step: Ints  # the training step that reads `start`
    lead: Ints  # offsets of that step's share that lie before `start`
    per_step: Ints  # offsets that the row's readers pass in a step
    modulus: Ints = field(default_factory=_plain)  # 1 where the row reads every offset, if not said
    low: Ints = field(default_factory=_plain)  # 0, if not said
    high: Ints = field(default_factory=_plain)  # 1, if not said
    every: Ints = field(default_factory=_plain)  # the row's readers read in one of so many steps; 1, if not said

    def __post_init__(self) -> None:
        for name, value in (("modulus", 1), ("low", 0), ("high", 1), ("every", 1)):
            if getattr(self, name) is _PLAIN:
                object.__setattr__(self, name, np.full(len(self), value, np.int64))
        for name, values in self._columns().items():
            if values.dtype != np.int64 or values.shape != self.family.shape or values.ndim != 1:
                raise ValueError(
                    f"Draws.{name} must be an int64 array of {len(self)} rows, not {values.dtype} of {values.shape}"
                )
        sound = (self.epochs >= 1) & (self.start >= 0) & (self.start < self.stop)
        sound &= (self.lead >= 0) & (self.lead < self.per_step) & (self.every >= 1)
        sound &= (self.low >= 0) & (self.low < self.high) & (self.high <= self.modulus)
        sound &= (self.epochs == 1) | (self.modulus == 1)
        if not sound.all():
            row = int(np.argmin(sound))
            found = {name: int(values[row]) for name, values in self._columns().items()}
            raise ValueError(
                "Draws row "
                f"{row} needs epochs >= 1 (1 with a modulus), 0 <= start < stop, 0 <= lead < per_step, every >= 1 and "
                f"0 <= low < high <= modulus, and is {found}"
            )

    def __len__(self) -> int:
        return len(self.family)

    @classmethod
    def empty(cls) -> Draws:
        """No reads."""
        return cls(**{column.name: np.zeros(0, np.int64) for column in fields(cls)})

    @classmethod
    def concat(cls, parts: Iterable[Draws]) -> Draws:
        """The rows of all parts, in their order."""
        columns = [part._columns() for part in (cls.empty(), *parts)]
        return cls(**{name: np.concatenate([column[name] for column in columns]) for name in columns[0]})

    def select(self, mask: npt.NDArray[np.bool_] | Ints) -> Draws:
        """The rows that a mask, or an array of row numbers, picks."""
        return Draws(**{name: values[mask] for name, values in self._columns().items()})

    def views(self) -> int:
        """How many samples are read, repeats included."""
        return sum((self.epochs * (self._below(self.stop) - self._below(self.start))).tolist())

    def _below(self, offset: Ints) -> Ints:
        """How many offsets of [0, offset) each row would read."""
        width = self.high - self.low
        below: Ints = offset // self.modulus * width + np.clip(offset % self.modulus - self.low, 0, width)
        return below

    def offsets(self, row: int) -> Ints:
        """The offsets that a row reads of each of its epochs, int64[reads]."""
        return offsets_of(*(int(column[row]) for column in (self.start, self.stop, self.modulus, self.low, self.high)))

    def _columns(self) -> dict[str, Ints]:
        return {column.name: getattr(self, column.name) for column in fields(self)}


def offsets_of(start: int, stop: int, modulus: int, low: int, high: int) -> Ints:
    """The offsets o of [start, stop) with low <= o mod modulus < high, rising, int64[reads]."""
    offsets = np.arange(start, stop, dtype=np.int64)
    if modulus == 1:
        return offsets
    residue = offsets % modulus
    return offsets[(low <= residue) & (residue < high)]
