"""How many replications a point gets: a fixed number, or until an interval is narrow enough."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustersim.scenario.errors import closest, show
from clustersim.study.spread import half_width

_FIRST_LOOK = 20
"""Fewer replications say too little of how wide the interval is."""
_MOST = 500
_KEYS = ("figure", "relative", "absolute", "max")


class Rule(NamedTuple):
    """When a point has enough replications.

    With a figure, its 95 % interval is looked at after 20 replications and each time that their number has grown by
    half. These numbers are fixed, so that it changes nothing who computes the replications and when they arrive.
    """

    replications: int
    """How many; with a figure, at most so many."""
    figure: str | None = None
    relative: float | None = None
    """Narrow enough: half of the interval is at most this share of the mean."""
    absolute: float | None = None
    """Narrow enough: half of the interval is at most this, in the figure's unit."""

    def looks(self) -> Iterator[int]:
        """The numbers of replications after which it is seen whether they are enough, ascending."""
        look = self.replications if self.figure is None else min(_FIRST_LOOK, self.replications)
        while look < self.replications:
            yield look
            look += look // 2
        yield self.replications

    def narrow(self, values: NDArray[np.float64]) -> bool:
        """Whether the interval of a figure's mean is narrow enough, float64[replications]."""
        if len(values) < 2 or not np.isfinite(values).all():
            return False
        allowed = self.absolute if self.relative is None else self.relative * abs(float(values.mean()))
        return allowed is not None and half_width(values) <= allowed

    def as_json(self) -> dict[str, Any]:
        """The rule in JSON values, without what it does not say."""
        return {key: value for key, value in self._asdict().items() if value is not None}


def rule_of(replications: int | None, until: Mapping[str, object] | None) -> Rule:
    """The rule that a caller means: so many replications, or `until` = {"figure", "relative" or "absolute", "max"}.

    Raises:
        ValueError: neither or both are given, or one is wrong.
    """
    if until is None:
        if replications is None:
            raise ValueError("expected replications, or until, found neither")
        return Rule(_at_least(1, "replications", replications))
    if replications is not None:
        raise ValueError('expected either replications or until, found both (until has "max")')
    for key in until:
        if key not in _KEYS:
            raise ValueError(f"until: expected the keys {', '.join(_KEYS)}, found {show(key)}")
    figure, relative, absolute = (until.get(key) for key in _KEYS[:3])
    if not isinstance(figure, str):
        raise ValueError(f'until: expected the name of a figure such as "ettr", found {show(figure)}')
    if (relative is None) == (absolute is None):
        raise ValueError(
            f"until: expected one of relative, absolute, found {'neither' if relative is None else 'both'}"
        )
    for width in (relative, absolute):
        if width is not None and not (isinstance(width, (int, float)) and math.isfinite(width) and width > 0):
            raise ValueError(f"until: expected a width above 0, found {show(width)}")
    most = _at_least(2, "until", until.get("max", _MOST))
    return Rule(most, figure, *(None if width is None else float(width) for width in (relative, absolute)))  # type: ignore[arg-type]


def _at_least(least: int, what: str, number: object) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < least:
        raise ValueError(f"{what}: expected at least {least} replications, found {show(number)}")
    return number


def unknown_figure(figure: str, known: list[str]) -> str:
    """The line for a figure that runs do not have."""
    nearest = closest(figure, known)
    return f"until: expected a figure of the runs, found {show(figure)}" + (
        f'; did you mean "{nearest}"?' if nearest else f" (they have {', '.join(known)})"
    )
