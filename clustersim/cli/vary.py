"""The options that say which points a sweep has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import typer

if TYPE_CHECKING:
    from clustersim.study.designs import Design

_T = TypeVar("_T")

DESIGNS = ("lhs", "sobol", "saltelli")
_OPENING, _CLOSING = "[{(", "]})"


def design(
    vary: Sequence[str], together: bool, kind: str | None, ranges: Sequence[str], points: int | None, seed: int
) -> Design:
    """The design that the options mean.

    Args:
        vary: texts "key=v1,v2".
        together: the lists go together (--zip), instead of being crossed.
        kind: one of `DESIGNS`.
        ranges: texts "key=a..b".
        points: of a design of ranges.
        seed: of the draw of these points.

    Raises:
        BadParameter: one of them is wrong, or they do not go together.
    """
    from clustersim.study.designs import grid, latin_hypercube, saltelli, sobol, zipped

    if kind is None:
        if ranges or points is not None:
            expected = f"one of {', '.join(DESIGNS)} for --range and --points"
            raise typer.BadParameter(f"expected {expected}, found nothing", param_hint="--design")
        lists = dict(_read(text, "--vary", _values) for text in vary)
        return _made("--vary", lambda: (zipped if together else grid)(lists))
    draws = {"lhs": latin_hypercube, "sobol": sobol, "saltelli": saltelli}
    if kind not in draws:
        raise typer.BadParameter(f'expected one of {", ".join(DESIGNS)}, found "{kind}"', param_hint="--design")
    if vary or together:
        raise typer.BadParameter("expected ranges with a design, found lists", param_hint="--vary")
    if points is None:
        raise typer.BadParameter("expected the number of points of the design, found nothing", param_hint="--points")
    ends = dict(_read(text, "--range", _ends) for text in ranges)
    return _made("--range", lambda: draws[kind](ends, points, seed))


def _made(option: str, make: Callable[[], Design]) -> Design:
    try:
        return make()
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def _read(text: str, option: str, parse: Callable[[str, str], _T]) -> tuple[str, _T]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip() or not value.strip():
        expected = "key=a..b" if option == "--range" else "key=v1,v2"
        raise typer.BadParameter(f'expected {expected}, found "{text}"', param_hint=option)
    return key.strip(), parse(key.strip(), value)


def _values(key: str, text: str) -> list[object]:
    from clustersim.scenario import parse_override

    return [parse_override(f"{key}={part}")[1] for part in _split(text)]


def _ends(key: str, text: str) -> tuple[object, object]:
    from clustersim.scenario import parse_override

    low, dots, high = text.partition("..")
    if not dots or not low.strip() or not high.strip():
        raise typer.BadParameter(f'expected {key}=a..b, found "{text}"', param_hint="--range")
    return parse_override(f"{key}={low}")[1], parse_override(f"{key}={high}")[1]


def _split(text: str) -> Iterator[str]:
    """The parts between commas, where these are in no brackets and no quotes."""
    depth, begun = 0, 0
    for match in re.finditer(r'"(?:\\.|[^"\\])*"|' + r"'[^']*'|[\[{(\]}),]", text):
        found = match[0]
        if found in _OPENING:
            depth += 1
        elif found in _CLOSING:
            depth -= 1
        elif found == "," and depth == 0:
            yield text[begun : match.start()]
            begun = match.end()
    yield text[begun:]
