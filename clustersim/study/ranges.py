"""Ranges of a scenario's values, units included, from which a design draws."""

import re
from fractions import Fraction
from numbers import Real
from typing import NamedTuple

from clustersim.scenario.errors import show
from clustersim.scenario.quantities import KINDS, split

_DIGITS = 6
# Six digits of a thousand would be no whole number any more, which counts and bytes must be.
_DECIMALS = {"k": 3, "kB": 3}


class Range(NamedTuple):
    """From low to high, both in `unit`, which may be empty."""

    low: float
    high: float
    unit: str
    whole: bool
    """Only whole numbers lie in it."""
    text: bool
    """Values are texts of a number and a unit; else plain numbers."""

    @classmethod
    def between(cls, key: str, low: object, high: object) -> "Range":
        """The range between two ends, of which the first gives the unit.

        Raises:
            ValueError: they are no numbers, or in units that do not convert; `key` is named.
        """
        begin, end = _read(low), _read(high)
        if begin is None or end is None:
            raise ValueError(f"{key}: expected a range between two numbers, found {show(low)} and {show(high)}")
        (first, unit), (second, other) = begin, end
        if other != unit:
            second *= _factor(key, low, high, unit, other)
        if not first < second:
            raise ValueError(f"{key}: expected a range that ends above {show(low)}, found {show(high)}")
        whole = unit in ("", "steps") and _is_whole(low) and _is_whole(high)
        return cls(float(first), float(second), unit, whole, isinstance(low, str))

    def at(self, place: float) -> object:
        """The value at a place, 0 to 1: to six digits, or whole (each whole number has an equal part)."""
        if self.whole:
            number: float = min(int(self.low + place * (self.high - self.low + 1)), int(self.high))
        else:
            number = float(f"{self.low + place * (self.high - self.low):.{_DIGITS}g}")
            number = round(number, _DECIMALS.get(self.unit, 99))
        return f"{number!r} {self.unit}".rstrip() if self.text else number


def _read(end: object) -> tuple[Fraction, str] | None:
    if isinstance(end, Real) and not isinstance(end, bool):
        return Fraction(float(end)), ""
    return split(end)


def _is_whole(end: object) -> bool:
    return isinstance(end, int) or (isinstance(end, str) and re.fullmatch(r"\s*\d+\D*", end) is not None)


def _factor(key: str, low: object, high: object, unit: str, other: str) -> Fraction:
    """What a number in `other` is multiplied by to be one in `unit`."""
    for kind in KINDS:
        if unit in kind.factors and other in kind.factors:
            return Fraction(kind.factors[other], kind.factors[unit])
    raise ValueError(f"{key}: expected a range in one unit, found {show(low)} and {show(high)}")
