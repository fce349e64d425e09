"""How often a cause strikes, and how often a checkpoint is made: the two values that come in several units."""

import re
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from clustersim.scenario.errors import closest, show, wrong
from clustersim.scenario.quantities import (
    DURATION,
    LONGEST_TEXT,
    NUMBER,
    describe,
    nearest_unit,
    number_fault,
    split,
    write_duration,
)
from clustersim.scenario.units import parse_count, parse_duration, parse_number

_PERIODS_NS = {name: DURATION.factors[name[0]] for name in ("hour", "day", "week", "year")}
_RATE_PATTERN = rf"^\s*({NUMBER})\s+per\s+(?:(?:([1-9][0-9_]*)\s+)?(node|GPU|domain)-)?({'|'.join(_PERIODS_NS)})s?\s*$"
_RATE = re.compile(_RATE_PATTERN)
_NEGATIVE = re.compile(r"\s*-\s*[0-9]")
_EXPECTED_RATE = 'a rate such as "6.5 per 1000 node-days", "2 per GPU-year" or "3 per day"'
_FORMULAS: tuple[Literal["young", "daly", "adaptive"], ...] = ("young", "daly", "adaptive")
_INTERVAL = replace(DURATION, factors={**DURATION.factors, "step": 1, "steps": 1})
_EXPECTED_EVERY = 'an interval such as "10 min", "10 steps", "young", "daly" or "adaptive"'


@dataclass(frozen=True)
class Rate:
    """Events in a period, of so many nodes, GPUs or domains, or (per = 1) of the job: "6.5 per 1000 node-days"."""

    events: float
    per: int
    of: Literal["node", "GPU", "domain", "job"]
    period_ns: int

    @property
    def per_ns(self) -> float:
        """Events a nanosecond, of one node, of one GPU, of one domain or of the job."""
        return self.events / (self.per * self.period_ns)

    def __str__(self) -> str:
        period = next(name for name, period_ns in _PERIODS_NS.items() if period_ns == self.period_ns)
        return (
            f"{self.events!r} per {period}"
            if self.of == "job"
            else f"{self.events!r} per {self.per} {self.of}-{period}s"
        )


@dataclass(frozen=True)
class Every:
    """When a checkpoint falls due: after `amount` ns of training, after `amount` steps, or by a formula (amount 0)."""

    by: Literal["time", "steps", "young", "daly", "adaptive"]
    amount: int = 0

    def steps_of(self, step_ns: int) -> int:
        """The interval in steps of the given time, rounded up; of one that is stated, in steps or in time."""
        return self.amount if self.by == "steps" else -(-self.amount // step_ns)

    def __str__(self) -> str:
        if self.by == "time":
            return write_duration(self.amount)
        return f"{self.amount} steps" if self.by == "steps" else self.by


def parse_rate(value: object) -> Rate:
    """A rate from its text; the error of a validator if it is none, or negative."""
    if not isinstance(value, str):
        raise wrong(_EXPECTED_RATE, describe(value, DURATION))
    match = _RATE.match(value) if len(value) <= LONGEST_TEXT else None
    if match is None:
        if _NEGATIVE.match(value):
            raise wrong(f"{_EXPECTED_RATE}, not negative", show(value))
        fault = number_fault(value)
        raise wrong(_EXPECTED_RATE, f"{show(value)} ({fault})" if fault else show(value))
    of: dict[str | None, Literal["node", "GPU", "domain", "job"]]
    of = {"node": "node", "GPU": "GPU", "domain": "domain", None: "job"}
    return Rate(
        events=parse_number(float(match[1])),
        per=parse_count(match[2] or 1),
        of=of[match[3]],
        period_ns=_PERIODS_NS[match[4]],
    )


def parse_every(value: object) -> Every:
    """A checkpoint interval from its text; the error of a validator if it is none, or 0."""
    for formula in _FORMULAS:
        if value == formula:
            return Every(formula)
    parts = split(value)
    if parts is None or parts[1] not in _INTERVAL.factors:
        formula_meant = closest(value.lower(), _FORMULAS) if isinstance(value, str) else None
        raise wrong(
            _EXPECTED_EVERY, describe(value, _INTERVAL), nearest=formula_meant or nearest_unit(value, _INTERVAL)
        )
    in_steps = parts[1] not in DURATION.factors
    if in_steps and parts[0].denominator != 1:
        raise wrong("a whole number of steps", show(value))
    amount = 0 if parts[0] < 0 else parse_count(parts[0].numerator) if in_steps else parse_duration(value)
    if amount == 0:
        raise wrong(f"{_EXPECTED_EVERY}, longer than 0", show(value))
    return Every("steps" if in_steps else "time", amount)


_EVERY_PATTERN = rf"^(young|daly|adaptive|\s*\+?[0-9][0-9_]*\s*steps?\s*)$|{DURATION.pattern}"

FailureRate = Annotated[
    Rate,
    PlainValidator(parse_rate),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": _RATE_PATTERN, "examples": ["6.5 per 1000 node-days", "3 per day"]}),
]
Interval = Annotated[
    Every,
    PlainValidator(parse_every),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": _EVERY_PATTERN, "examples": ["10 min", "10 steps", "young", "daly"]}),
]
