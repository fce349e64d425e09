"""Numbers with units, read exactly: "6.2 s" is 6,200,000,000 ns, never the nearest float.

Each kind of quantity has its own units. A bare number is refused, and so is the unit of another kind.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from clustersim.scenario.errors import closest, show, wrong

# Two digits of exponent are enough for any quantity and keep the exact arithmetic small.
NUMBER = r"[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,2})?"
# Times and counts stay below this, so that sums of a few of them still fit 64 bits.
LIMIT = 2**62

_LONG_EXPONENT = re.compile(r"\s*[+-]?[0-9][0-9_]*(?:\.[0-9]+)?[eE][+-]?[0-9]{3}")
_QUANTITY = re.compile(rf"\s*([+-]?)({NUMBER})\s*(\S.*?)?\s*", re.DOTALL)
# A longer text is no number that anybody means.
LONGEST_TEXT = 200


@dataclass(frozen=True)
class Kind:
    """A kind of quantity: what it is called, an example, and the size of each unit in the base unit.

    `words` gives the unit that is meant by a word of lower case, without its plural s, which is none.
    """

    what: str
    example: str
    factors: Mapping[str, int]
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def expected(self) -> str:
        """How an error names what it expected."""
        return f'{self.what} such as "{self.example}"'

    @property
    def pattern(self) -> str:
        """A regular expression (ECMA 262) of what `read` accepts."""
        units = "|".join(re.escape(unit) for unit in sorted(self.factors, key=lambda unit: (-len(unit), unit)))
        return rf"^\s*\+?{NUMBER}\s*({units})\s*$"


_MINUTE_NS = 60 * 10**9
_DECIMAL = {"k": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
_BYTES = {"B": 1}
_BYTES |= {f"{prefix}B": 10 ** (3 * power) for power, prefix in enumerate(("k", "M", "G", "T", "P", "E"), 1)}
_BYTES |= {f"{prefix}B": 2 ** (10 * power) for power, prefix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)}
_FLOP = {f"{prefix}FLOP/s": 10 ** (3 * power) for power, prefix in enumerate(("", "k", "M", "G", "T", "P", "E"))}

DURATION = Kind(
    "a duration",
    "10 min",
    {
        "ns": 1,
        "us": 10**3,
        "ms": 10**6,
        "s": 10**9,
        "min": _MINUTE_NS,
        "h": 60 * _MINUTE_NS,
        "d": 24 * 60 * _MINUTE_NS,
        "w": 7 * 24 * 60 * _MINUTE_NS,
        "y": 365 * 24 * 60 * _MINUTE_NS,
    },
    {
        "nanosecond": "ns",
        "microsecond": "us",
        "\u00b5s": "us",  # the micro sign, and the Greek letter
        "\u03bcs": "us",
        "millisecond": "ms",
        "sec": "s",
        "second": "s",
        "m": "min",
        "minute": "min",
        "hr": "h",
        "hour": "h",
        "day": "d",
        "wk": "w",
        "week": "w",
        "yr": "y",
        "year": "y",
    },
)
SIZE = Kind("a size", "2.3 TB", _BYTES, {"byte": "B"})
BANDWIDTH = Kind("a bandwidth", "50 GB/s", {f"{unit}/s": factor for unit, factor in _BYTES.items()})
FLOP_RATE = Kind("a rate of computing", "400 TFLOP/s", _FLOP)
COUNT = Kind(
    "a whole number",
    "16.8 M",
    _DECIMAL,
    {"thousand": "k", "million": "M", "mn": "M", "billion": "B", "bn": "B", "trillion": "T", "tn": "T"},
)
KINDS = (DURATION, SIZE, BANDWIDTH, FLOP_RATE, COUNT)


def split(value: object) -> tuple[Fraction, str] | None:
    """The number and the unit (may be empty) of a text, None if the value is no such text."""
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        return None
    match = _QUANTITY.fullmatch(value)
    if match is None:
        return None
    number = Fraction(Decimal(match[2].replace("_", "")))
    return -number if match[1] == "-" else number, match[3] or ""


def read(kind: Kind, value: object) -> Fraction:
    """The exact value of a quantity in its base unit (ns, bytes, bytes a second, FLOP a second, one).

    Raises the error of a validator if it is no quantity of this kind, or a negative one.
    """
    parts = split(value)
    if parts is None or parts[1] not in kind.factors:
        raise wrong(kind.expected, describe(value, kind), nearest=nearest_unit(value, kind))
    number, unit = parts
    if number < 0:
        raise wrong(f"{kind.expected}, not negative", show(value))
    return number * kind.factors[unit]


def describe(value: object, kind: Kind) -> str:
    """What was found where a quantity of `kind` was expected, and why it is none."""
    parts = split(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{show(value)} (a number without unit)"
    if parts is None:
        return show(value)
    unit = parts[1]
    if not unit:
        return f"{show(value)} (a number without unit)"
    fault = number_fault(value)
    if fault:
        return f"{show(value)} ({fault})"
    other = _other_kind(unit, kind)
    return f"{show(value)} ({other.what if other else 'unit is none of ' + ', '.join(kind.factors)})"


def number_fault(value: object) -> str | None:
    """What is wrong with the number itself of a text such as "1e400 s" or "1,000 s", None if nothing is."""
    parts = split(value)
    if parts is None:
        return None
    if _LONG_EXPONENT.match(str(value)):
        return "an exponent of more than two digits"
    if parts[1].startswith(","):
        return "a comma in the number: write 1000 or 1_000, and 1.5"
    return "a number in several parts" if re.match(r"[0-9.'_]", parts[1]) else None


def nearest_unit(value: object, kind: Kind) -> str | None:
    """The unit of `kind` that is meant by the one of a text, None if there is no telling."""
    parts = split(value)
    if parts is None or not parts[1] or number_fault(value) or _other_kind(parts[1], kind):
        return None
    unit = parts[1].lower()
    by_lower_case = {each.lower(): each for each in kind.factors}
    nearest = kind.words.get(unit) or kind.words.get(unit.removesuffix("s"))
    return nearest or by_lower_case.get(closest(unit, by_lower_case) or "")


def _other_kind(unit: str, kind: Kind) -> Kind | None:
    return next((each for each in KINDS if each is not kind and unit in each.factors), None)


def write_duration(duration_ns: int) -> str:
    """The text that reads back as exactly this duration, in the largest unit that divides it."""
    # A year and a week are left out: days read better, and nobody takes them for calendar years.
    units = {unit: DURATION.factors[unit] for unit in ("d", "h", "min", "s", "ms", "us")} if duration_ns else {"s": 1}
    unit, factor = next(((u, f) for u, f in units.items() if duration_ns % f == 0), ("ns", 1))
    return f"{duration_ns // factor} {unit}"
