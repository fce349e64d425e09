"""Designs: at which values of which keys a scenario is simulated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustersim.study.ranges import Range

Values = Mapping[str, object]
"""What a point sets: dotted key of the scenario to value, as overrides take them."""


@dataclass(frozen=True)
class Design:
    """The points of a sweep, numbered from 0, all of which set the same keys."""

    kind: str
    """"list", "grid", "zip", "lhs", "sobol" or "saltelli"."""
    points: tuple[Values, ...]
    ranges: Mapping[str, tuple[object, object]] = field(default_factory=dict)
    """The ends of each key's range, where points were drawn from ranges."""
    places: tuple[tuple[float, ...], ...] = ()
    """Where each point lies in its ranges, 0 to 1, a number a key."""

    def __post_init__(self) -> None:
        if not self.points:
            raise ValueError("expected at least one point, found none")
        keys = list(self.points[0])
        for number, point in enumerate(self.points):
            if list(point) != keys:
                expected, found = ", ".join(keys) or "no key", ", ".join(point) or "none"
                raise ValueError(f"expected the keys of the first point ({expected}) in point {number}, found {found}")

    @property
    def keys(self) -> list[str]:
        """The keys that vary."""
        return list(self.points[0])

    def as_json(self) -> dict[str, Any]:
        """The design in JSON values."""
        told: dict[str, Any] = {"kind": self.kind, "points": [dict(point) for point in self.points]}
        if self.ranges:
            told["ranges"] = {key: list(ends) for key, ends in self.ranges.items()}
            told["places"] = [list(place) for place in self.places]
        return told


def design_of(vary: "Design | Mapping[str, Sequence[object]] | Sequence[Values]") -> Design:
    """What a caller means: a design, a grid of lists by key, or a list of points.

    Raises:
        ValueError: there is no point, a key has no values, or points set different keys.
    """
    if isinstance(vary, Design):
        return vary
    return grid(vary) if isinstance(vary, Mapping) else Design("list", tuple(dict(point) for point in vary))


def grid(lists: Mapping[str, Sequence[object]]) -> Design:
    """Every combination of the values of each key; the last key varies fastest. Without keys: the scenario itself."""
    columns = _columns(lists)
    return Design("grid", tuple(dict(zip(columns, values, strict=True)) for values in product(*columns.values())))


def zipped(lists: Mapping[str, Sequence[object]]) -> Design:
    """The first values of all keys together, then the second ones, and so on.

    Raises:
        ValueError: the lists are not of one length.
    """
    columns = _columns(lists)
    lengths = {key: len(values) for key, values in columns.items()}
    for key, length in lengths.items():
        first = next(iter(lengths))
        if length != lengths[first]:
            raise ValueError(f"{key}: expected {lengths[first]} values, as many as of {first}, found {length}")
    return Design(
        "zip", tuple(dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
    )


def _columns(lists: Mapping[str, Sequence[object]]) -> dict[str, list[object]]:
    for key, values in lists.items():
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise ValueError(f"{key}: expected a list of values, found {values!r}")
        if not values:
            raise ValueError(f"{key}: expected a list of at least one value, found an empty one")
    return {key: list(values) for key, values in lists.items()}


def latin_hypercube(ranges: Mapping[str, tuple[object, object]], points: int, seed: int = 0) -> Design:
    """As many points as asked, one in each of as many equal parts of every range (scipy.stats.qmc).

    Args:
        ranges: the two ends of each key: two numbers, or two texts of a number and a unit ("2 min", "1 h"). Two whole
            numbers without unit, or with the unit steps, give whole numbers.
        points: how many, at least 1.
        seed: of the draw; not that of the simulations.

    Raises:
        ValueError: a range, or the number of points, is none.
    """
    from scipy.stats import qmc

    if points < 1:
        raise ValueError(f"expected at least 1 point, found {points}")
    return _drawn("lhs", ranges, qmc.LatinHypercube(_dimensions(ranges), rng=_rng(seed)).random(points))


def sobol(ranges: Mapping[str, tuple[object, object]], points: int, seed: int = 0) -> Design:
    """A scrambled Sobol' sequence; points: a power of two, so that it is balanced. Else as `latin_hypercube`."""
    return _drawn("sobol", ranges, _sobol(_dimensions(ranges), points, seed))


def saltelli(ranges: Mapping[str, tuple[object, object]], points: int, seed: int = 0) -> Design:
    """The design from which first and total sensitivity indices follow: points * (keys + 2) points.

    Two independent samples A and B, `points` each (a power of two), then for each key A with that column from B
    (Saltelli et al., Computer Physics Communications 181, 2010, 259-270). Else as `latin_hypercube`.
    """
    keys = _dimensions(ranges)
    both = _sobol(2 * keys, points, seed)
    a, b = both[:, :keys], both[:, keys:]
    mixed = [np.where(np.arange(keys) == key, b, a) for key in range(keys)]
    return _drawn("saltelli", ranges, np.concatenate([a, b, *mixed]))


def _sobol(dimensions: int, points: int, seed: int) -> NDArray[np.float64]:
    from scipy.stats import qmc

    if points < 1 or points & (points - 1):
        raise ValueError(f"expected a power of two of points, found {points}")
    return qmc.Sobol(dimensions, rng=_rng(seed)).random_base2(points.bit_length() - 1)


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def _dimensions(ranges: Mapping[str, tuple[object, object]]) -> int:
    if not ranges:
        raise ValueError("expected at least one range, found none")
    return len(ranges)


def _drawn(kind: str, ranges: Mapping[str, tuple[object, object]], cube: NDArray[np.float64]) -> Design:
    """The points at places of the unit cube, float64[points, keys]."""
    scales = {key: Range.between(key, *ends) for key, ends in ranges.items()}
    places = tuple(tuple(row) for row in cube.tolist())
    points = tuple(
        {key: scale.at(part) for (key, scale), part in zip(scales.items(), row, strict=True)} for row in places
    )
    return Design(kind, points, {key: (low, high) for key, (low, high) in ranges.items()}, places)
