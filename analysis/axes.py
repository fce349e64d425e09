"""Axes that people read: counts as 5 M and durations as 30 min, on scales that go by factors."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axis import Axis

_COUNTS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))
_DURATIONS_S = ((86400, "d"), (3600, "h"), (60, "min"))
_TICKS_S = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 86400, 172800, 432000, 864000)


def count(value: float) -> str:
    """5e6 as 5 M."""
    return next((f"{value / factor:g} {unit}" for factor, unit in _COUNTS if value >= factor), f"{value:g}")


def duration(seconds: float) -> str:
    """1800 as 30 min, to three digits."""
    return next(
        (f"{seconds / factor:.3g} {unit}" for factor, unit in _DURATIONS_S if seconds >= factor), f"{seconds:.3g} s"
    )


def by_count(axis: Axis) -> None:
    """Label an axis of counts."""
    axis.set_major_formatter(lambda value, place: count(value))


def by_duration(axis: Axis) -> None:
    """Make an axis of seconds one that goes by factors, with ticks that a clock has."""
    from matplotlib.ticker import FixedLocator, NullLocator

    low, high = axis.get_view_interval()
    axis.set_major_locator(FixedLocator([tick for tick in _TICKS_S if low <= tick <= high]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda seconds, place: duration(seconds))
