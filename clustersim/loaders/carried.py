"""Buffers that go on in another flow, on other ranks."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Carried(NamedTuple):
    """A buffer that goes on in another flow."""

    flow: int  # the number of its flow
    after: int  # samples that the flow has yielded
    held: int  # samples in the buffer then
    ready: int  # how many of them go out next as they lie
    ahead: int  # and how many of these had come out already, fetched ahead


class CarriedBuffers:
    """All of a run, numbered as they come; number -1 is an empty one."""

    def __init__(self) -> None:
        self._buffers: list[Carried] = []
        self._held, self._ready = [0], [0]  # of number -1, 0, 1, ..

    def __bool__(self) -> bool:
        return bool(self._buffers)

    def __getitem__(self, number: int) -> Carried:
        return self._buffers[number]

    def add(self, flow: Ints, after: Ints, held: Ints, ready: Ints, ahead: Ints) -> Ints:
        """Take in what each reader's buffer holds, in the words of `Carried`; int64[ranks, workers] each.

        Returns:
            their numbers, int64[ranks, workers].
        """
        numbers = np.full_like(held, -1)
        for place in zip(*np.nonzero(held), strict=True):
            numbers[place] = len(self._buffers)
            self._buffers.append(Carried(*(int(each[place]) for each in (flow, after, held, ready, ahead))))
            self._held.append(self._buffers[-1].held)
            self._ready.append(self._buffers[-1].ready)
        return numbers

    def held(self, numbers: Ints) -> Ints:
        """How many samples some of them hold, int64 of the numbers' shape."""
        return np.array(self._held, dtype=np.int64)[numbers + 1]

    def ready(self, numbers: Ints) -> Ints:
        """How many of those go out as they lie."""
        return np.array(self._ready, dtype=np.int64)[numbers + 1]
