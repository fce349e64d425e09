"""Draws: which stretches of which orders were read, and in which steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Draws:
    """Contiguous reads, one a row; all fields are int64 arrays of one length.

    A row reads the offsets [start, stop) of an epoch of an order; where `epochs` > 1 it reads that many consecutive
    epochs whole. Offset o of epoch `epoch` + i is read in step `step` + (lead + i·N + o − start) // per_step.

    Raises:
        ValueError: the fields are not int64 arrays of one length, or a row is empty or out of range.
    """

    family: Ints  # which order: 0 is the run's own, k > 0 the fresh one made at restart k
    epoch: Ints  # the first epoch
    epochs: Ints  # how many consecutive epochs are read whole; 1 unless the row is exactly [0, N)
    start: Ints
    stop: Ints
    step: Ints  # the training step that reads `start`
    lead: Ints  # samples of that step that are read before `start`
    per_step: Ints  # samples a step

    def __post_init__(self) -> None:
        for name, values in self._columns().items():
            if values.dtype != np.int64 or values.shape != self.family.shape or values.ndim != 1:
                raise ValueError(
                    f"Draws.{name} must be an int64 array of {len(self)} rows, not {values.dtype} of {values.shape}"
                )
        sound = (self.epochs >= 1) & (self.start >= 0) & (self.start < self.stop)
        sound &= (self.lead >= 0) & (self.lead < self.per_step)
        if not sound.all():
            row = int(np.argmin(sound))
            found = {name: int(values[row]) for name, values in self._columns().items()}
            raise ValueError(
                f"Draws row {row} needs epochs >= 1, 0 <= start < stop and 0 <= lead < per_step, and is {found}"
            )

    def __len__(self) -> int:
        return len(self.family)

    @classmethod
    def empty(cls) -> Draws:
        """No reads."""
        return cls(**{field.name: np.zeros(0, np.int64) for field in fields(cls)})

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
        return sum((self.epochs * (self.stop - self.start)).tolist())

    def _columns(self) -> dict[str, Ints]:
        return {field.name: getattr(self, field.name) for field in fields(self)}
