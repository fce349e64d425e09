"""What readers have pulled through their buffers: flows, each from where it begins to where it stands."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clustersim.loaders.buffers import Buffer
from clustersim.loaders.passes import Pass

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pull:
    """What a pass reads of one flow of each reader; int64[ranks, workers] each, in local positions."""

    part: Pass
    buffer: Buffer

    @property
    def base(self) -> Ints:
        """Where the flow begins."""
        return self.part.base

    @property
    def begun(self) -> Ints:
        """Samples that it has yielded before."""
        return self.part.begun - self.part.base

    @property
    def ended(self) -> Ints:
        """Samples that it has yielded after the pass."""
        return self.part.ended - self.part.base

    @cached_property
    def pulled(self) -> Ints:
        """How far it has pulled then."""
        pulled = self.base + self.buffer.pulled(self.ended, np.zeros_like(self.base))
        reached: Ints = np.minimum(pulled, self.part.lengths)
        return reached

    @cached_property
    def samples(self) -> int:
        """How many all have pulled together."""
        return int(self.pulled.sum()) - int(self.base.sum())

    @property
    def is_long(self) -> bool:
        """Whether most of what most readers have pulled has come out long ago."""
        return self.samples > 4 * self.buffer.size * self.base.size

    @property
    def epoch(self) -> tuple[int, int, int]:
        """What is the same for flows that read the same parts."""
        return self.part.family, self.part.epoch, id(self.part.deal)

    def below(self, step: int) -> "Pull":
        """The flow as far as it lies below a step, which is beyond its first."""
        return Pull(self.part.below(step), self.buffer) if step < self.part.step + self.part.steps else self

    def is_same(self, other: "Pull") -> bool:
        """Whether both are passes of one flow."""
        alike = self.epoch == other.epoch and self.part.attempt == other.part.attempt
        return alike and np.array_equal(self.part.base, other.part.base)

    def precedes(self, flow: "Pull") -> bool:
        """Whether a flow begins where this one has pulled to."""
        return self.epoch == flow.epoch and np.array_equal(self.pulled, flow.base)

    def is_cut_by(self, other: "Pull | None") -> bool:
        """Whether the other side's reading of the epoch ends within this flow, or in what its buffer still held."""
        if other is None:
            return False
        return bool(((self.base < other.pulled) & (self.pulled > other.pulled - 2 * self.buffer.size)).any())


def pulls_of(passes: Sequence[Pass], buffer: Buffer) -> list[Pull]:
    """The flows of passes, those that go on in the same one made one."""
    found: list[Pull] = []
    for part in passes:
        flow = Pull(part, buffer)
        if found and found[-1].is_same(flow) and np.array_equal(found[-1].part.ended, part.begun):
            before = found[-1].part
            found[-1] = Pull(replace(before, steps=before.steps + part.steps, ended=part.ended), buffer)
        else:
            found.append(flow)
    return found
