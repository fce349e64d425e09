"""The types of a scenario's values: what a field accepts, and how it is written back.

`Duration` is an int of nanoseconds, `Bytes` an int of bytes, `BytesEach` a float of bytes, `Bandwidth` and `FlopRate`
floats a second, `Count` an int, `FewEitherWay` a small one of either sign, `Number` a float, 0 or from 1e-99 to 1e99,
`Share` one of at most 1, `Name` a string of printable characters. Each refuses everything else with the error of a
validator.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from numbers import Integral, Real
from typing import Annotated

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from clustersim.scenario.errors import show, wrong
from clustersim.scenario.quantities import (
    BANDWIDTH,
    COUNT,
    DURATION,
    FLOP_RATE,
    LIMIT,
    NUMBER,
    SIZE,
    Kind,
    describe,
    nearest_unit,
    read,
    split,
    write_duration,
)

_SEED_LIMIT = 2**63
_MOST_EITHER_WAY = 10_000
# The two digits of exponent that a quantity may have, too.
_LEAST_NUMBER, _MOST_NUMBER = 1e-99, 1e99


def parse_duration(value: object) -> int:
    """A duration in ns, rounded once (half to even)."""
    duration_ns = round(read(DURATION, value))
    if duration_ns > LIMIT:
        raise wrong("a duration of at most 2^62 ns (146 years)", show(value))
    return duration_ns


def parse_count(value: object) -> int:
    """A whole number below 2^62: an int, or a text such as "2048" or "16.8 M"."""
    count = _whole_number(value)
    if count >= LIMIT:
        raise wrong("a whole number below 2^62", show(value))
    return count


def _seed(value: object) -> int:
    seed = _whole_number(value)
    if seed >= _SEED_LIMIT:
        raise wrong("a whole number below 2^63", show(value))
    return seed


def _whole_number(value: object) -> int:
    number = _of_either_sign(value)
    if number < 0:
        raise wrong("a whole number, not negative", show(value))
    return number


def _of_either_sign(value: object) -> int:
    if isinstance(value, bool):
        raise wrong("a whole number", show(value))
    if isinstance(value, Integral):
        exact = Fraction(int(value))
    elif isinstance(value, Real):
        if not math.isfinite(value):
            raise wrong("a whole number", show(value))
        exact = Fraction(float(value))
    else:
        parts = split(value)
        if parts is None or parts[1] not in ("", *COUNT.factors):
            expected, found = 'a whole number such as 2048 or "16.8 M"', describe(value, COUNT)
            raise wrong(expected, found, nearest=nearest_unit(value, COUNT))
        exact = parts[0] * COUNT.factors.get(parts[1], 1)
    if exact.denominator != 1:
        raise wrong("a whole number", show(value))
    return int(exact)


def _few_either_way(value: object) -> int:
    number = _of_either_sign(value)
    if abs(number) > _MOST_EITHER_WAY:
        raise wrong(f"a whole number from -{_MOST_EITHER_WAY} to {_MOST_EITHER_WAY}", show(value))
    return number


def parse_number(value: object) -> float:
    """A number without unit: 0, or from 1e-99 to 1e99, so that products and quotients of a few stay finite."""
    if isinstance(value, bool) or not isinstance(value, Real) or math.isnan(number := _as_float(value)) or number < 0:
        raise wrong("a number, not negative", show(value))
    if number != 0 and not _LEAST_NUMBER <= number <= _MOST_NUMBER:
        raise wrong(f"a number from {_LEAST_NUMBER} to {_MOST_NUMBER:.0e}", show(value))
    return number


def _as_float(value: Real) -> float:
    try:
        return float(value)
    except OverflowError:
        return -math.inf if value < 0 else math.inf


def parse_bytes(value: object) -> int:
    """A size in whole bytes."""
    exact = read(SIZE, value)
    if exact.denominator != 1 or exact >= LIMIT:
        raise wrong("a whole number of bytes below 2^62", show(value))
    return int(exact)


def _at_least_one(value: object) -> int:
    count = parse_count(value)
    if count < 1:
        raise wrong("a whole number, at least 1", show(value))
    return count


def _longer_than_zero(value: object) -> int:
    duration_ns = parse_duration(value)
    if duration_ns == 0:
        raise wrong(f"{DURATION.expected}, longer than 0", show(value))
    return duration_ns


def _greater_than_zero(value: object) -> float:
    number = parse_number(value)
    if number == 0:
        raise wrong("a number greater than 0", show(value))
    return number


def _share(value: object) -> float:
    number = parse_number(value)
    if number > 1:
        raise wrong("a share from 0 to 1", show(value))
    return number


def _positive(kind: Kind) -> Callable[[object], float]:
    """What reads a quantity greater than 0 as the nearest float."""

    def parse(value: object) -> float:
        exact = read(kind, value)
        if exact == 0:
            raise wrong(f"{kind.expected}, greater than 0", show(value))
        return float(exact)

    return parse


def _name(value: object) -> str:
    if not isinstance(value, str):
        raise wrong("a string", show(value))
    if not value:
        raise wrong("a string, not empty", show(value))
    # Names end up in messages, tables and titles of plots: one line, and nothing that steers a terminal.
    if not value.isprintable():
        raise wrong("a string of printable characters", show(value))
    return value


def _text(kind: Kind) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": kind.pattern, "examples": [kind.example]})


def _whole(minimum: int, limit: int = LIMIT) -> WithJsonSchema:
    sign = "[+-]" if minimum < 0 else r"\+"
    text = rf"^\s*{sign}?{NUMBER}\s*[{''.join(COUNT.factors)}]?\s*$"
    whole = {"type": "integer", "minimum": minimum, "exclusiveMaximum": limit}
    return WithJsonSchema({"anyOf": [whole, {"type": "string", "pattern": text, "examples": [COUNT.example]}]})


Name = Annotated[str, PlainValidator(_name), WithJsonSchema({"type": "string", "minLength": 1})]

_WRITE_DURATION = PlainSerializer(write_duration, return_type=str)

Duration = Annotated[int, PlainValidator(parse_duration), _WRITE_DURATION, _text(DURATION)]
DurationOrNever = Annotated[
    int,
    PlainValidator(lambda value: LIMIT if value == "never" else parse_duration(value)),
    PlainSerializer(
        lambda duration_ns: "never" if duration_ns == LIMIT else write_duration(duration_ns), return_type=str
    ),
    WithJsonSchema(
        {"anyOf": [{"const": "never"}, {"type": "string", "pattern": DURATION.pattern, "examples": ["20 h"]}]}
    ),
]
PositiveDuration = Annotated[int, PlainValidator(_longer_than_zero), _WRITE_DURATION, _text(DURATION)]
Count = Annotated[int, PlainValidator(parse_count), _whole(0)]
PositiveCount = Annotated[int, PlainValidator(_at_least_one), _whole(1)]
FewEitherWay = Annotated[int, PlainValidator(_few_either_way), _whole(-_MOST_EITHER_WAY, _MOST_EITHER_WAY + 1)]
Seed = Annotated[int, PlainValidator(_seed), _whole(0, _SEED_LIMIT)]
Number = Annotated[
    float,
    PlainValidator(parse_number),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": _MOST_NUMBER}),
]
PositiveNumber = Annotated[
    float,
    PlainValidator(_greater_than_zero),
    WithJsonSchema({"type": "number", "minimum": _LEAST_NUMBER, "maximum": _MOST_NUMBER}),
]
Share = Annotated[
    float,
    PlainValidator(_share),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1}),
]
Bytes = Annotated[
    int, PlainValidator(parse_bytes), PlainSerializer(lambda size: f"{size} B", return_type=str), _text(SIZE)
]
FlopRate = Annotated[
    float,
    PlainValidator(_positive(FLOP_RATE)),
    PlainSerializer(lambda rate: f"{rate!r} FLOP/s", return_type=str),
    _text(FLOP_RATE),
]
BytesEach = Annotated[
    float, PlainValidator(_positive(SIZE)), PlainSerializer(lambda size: f"{size!r} B", return_type=str), _text(SIZE)
]
Bandwidth = Annotated[
    float,
    PlainValidator(_positive(BANDWIDTH)),
    PlainSerializer(lambda rate: f"{rate!r} B/s", return_type=str),
    _text(BANDWIDTH),
]
