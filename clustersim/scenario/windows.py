"""Overlapping windows: a sample is a run of consecutive numbers, and the next one begins a little further on."""

from pydantic import StrictBool, model_validator

from clustersim.scenario.errors import wrong
from clustersim.scenario.part import Part
from clustersim.scenario.units import PositiveCount


class Windows(Part):
    """A corpus of windows into one long sequence of numbers, each number as large as a token."""

    numbers: PositiveCount
    """Length of the sequence, n."""
    length: PositiveCount
    """Numbers of a window, w."""
    stride: PositiveCount
    """From a window's first number to the next one's, c."""
    wraps: StrictBool = False
    """Windows that reach the end go on at the start: ceil(n / c) of them, not floor((n - w) / c) + 1."""

    @model_validator(mode="after")
    def _check(self) -> "Windows":
        if self.length > self.numbers:
            expected = f"at most {self.numbers}, the numbers of the sequence"
            raise wrong(expected, str(self.length), key="length")
        return self

    @property
    def count(self) -> int:
        """Windows of the sequence."""
        return -(-self.numbers // self.stride) if self.wraps else (self.numbers - self.length) // self.stride + 1
