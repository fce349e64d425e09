"""A rule: where it is asked, and the check that the model keeps it there."""

import math
import statistics
from collections.abc import Callable, Iterable
from random import Random
from typing import Any, NamedTuple

from rules.points import Outcome, Point, play

Play = Callable[[Point, dict], Outcome]
Z = 4.0  # a sound model passes it with all but 6 in 100,000 sets of seeds


class Rule(NamedTuple):
    """What one restart, or a few, comes to: at each point, or in the mean over all."""

    name: str
    points: list[Point]
    keys: Callable[[Point], dict]
    check: Callable[..., None]  # of points, and by what they are played


def grid(make: Callable[[Random], Point | None], count: int) -> list[Point]:
    """Different points, one drawn after another; `make` gives None where the rule's closed form is not valid."""
    random, found = Random(0), {}
    while len(found) < count:
        point = make(random)
        if point is not None:
            found[point] = None
    return list(found)


def exactly(
    name: str,
    make: Callable[[Random], Point | None],
    keys: Callable[[Point], dict],
    closed: Callable[[Point], Any],
    figure: Callable[[Outcome, Point], Any],
    count: int = 250,
) -> Rule:
    """A figure of the outcome under a `[loader]` table is what the closed form says, to the sample."""

    def check(points: Iterable[Point], play: Play = play) -> None:
        for point in points:
            found, expected = figure(play(point, keys(point)), point), closed(point)
            assert found == expected, f"{point}: {found}, by the rule {expected}"

    return Rule(name, grid(make, count), keys, check)


def in_law(
    name: str,
    make: Callable[[Random], Point | None],
    keys: Callable[[Point], dict],
    moments: Callable[[Point], tuple[float, float | None]],
    figure: Callable[[Outcome, Point], int],
    count: int = 500,
) -> Rule:
    """A figure has the mean, and where it is told the variance, of the closed form: `moments(point)`.

    The points are independent. The sum of what each is off its mean is compared with its error, and the mean of the
    squares over the variances with 1.
    """

    def check(points: Iterable[Point], play: Play = play) -> None:
        off, spread = [], []
        for point in points:
            mean, variance = moments(point)
            off.append(figure(play(point, keys(point)), point) - mean)
            spread.append(variance)
        known = [(each, variance) for each, variance in zip(off, spread, strict=True) if variance is not None]
        assert all(abs(each) < 1e-6 for each, variance in known if variance < 1e-6), f"{name}: not what is certain"
        squares = [each**2 / variance for each, variance in known if variance >= 1e-6]
        error = math.sqrt(sum(spread)) if squares else statistics.stdev(off) * math.sqrt(len(off))
        assert abs(sum(off)) < Z * error, f"{name}: {sum(off) / error:.1f} standard errors off its mean"
        if squares:
            z = (statistics.mean(squares) - 1) / (statistics.stdev(squares) / math.sqrt(len(squares)))
            assert abs(z) < Z, f"{name}: {z:.1f} standard errors off its variance"

    return Rule(name, grid(make, count), keys, check)
