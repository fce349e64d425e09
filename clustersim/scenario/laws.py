"""Laws of duration, as a scenario states them.

A repair or a phase of recovery is a duration or a law with its own location. The law of a component's life has no
location: its mean is the inverse of the failure rate. Only an empirical life may do without a rate: it has its own.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, Discriminator, Tag, model_validator

from clustersim.scenario.errors import wrong
from clustersim.scenario.part import Part
from clustersim.scenario.units import Duration, DurationOrNever, PositiveDuration, PositiveNumber

# Beyond these the mean of a Weibull or lognormal law leaves the range of floats.
_LEAST_SHAPE, _MOST_SHAPE, _MOST_SIGMA = 0.05, 100.0, 10.0


def _check_shape(shape: float) -> None:
    if not _LEAST_SHAPE <= shape <= _MOST_SHAPE:
        raise wrong(f"a number from {_LEAST_SHAPE} to {_MOST_SHAPE}", str(shape), key="shape")


def _check_sigma(sigma: float) -> None:
    if sigma > _MOST_SIGMA:
        raise wrong(f"a number of at most {_MOST_SIGMA}", str(sigma), key="sigma")


def _check_location(law: str, given: Mapping[str, int | None]) -> None:
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        raise wrong(f"exactly one of {', '.join(given)} in a {law} law", " and ".join(names) or "none of them")


class Exponential(Part):
    """An exponential duration."""

    type: Literal["exponential"]
    mean: PositiveDuration
    """Its mean."""


class Weibull(Part):
    """A Weibull duration, located by its mean or its scale."""

    type: Literal["weibull"]
    shape: PositiveNumber
    """Below 1 the rate falls with age, above 1 it grows; 1 is exponential. From 0.05 to 100."""
    mean: PositiveDuration | None = None
    """Its mean."""
    scale: PositiveDuration | None = None
    """The age that 63.2 % do not reach."""

    @model_validator(mode="after")
    def _check(self) -> "Weibull":
        _check_shape(self.shape)
        _check_location("Weibull", {"mean": self.mean, "scale": self.scale})
        return self


class LogNormal(Part):
    """A lognormal duration, located by its median or its mean."""

    type: Literal["lognormal"]
    sigma: PositiveNumber
    """Standard deviation of the natural logarithm, at most 10."""
    median: PositiveDuration | None = None
    """The duration that half of them do not reach."""
    mean: PositiveDuration | None = None
    """Its mean, which is the median times exp(sigma^2 / 2)."""

    @model_validator(mode="after")
    def _check(self) -> "LogNormal":
        _check_sigma(self.sigma)
        _check_location("lognormal", {"median": self.median, "mean": self.mean})
        return self


class Gamma(Part):
    """A gamma duration: the sum of `shape` exponential stages."""

    type: Literal["gamma"]
    shape: PositiveNumber
    """Below 1 it scatters more than an exponential duration, above 1 less. From 0.05 to 100."""
    mean: PositiveDuration
    """Its mean."""

    @model_validator(mode="after")
    def _check(self) -> "Gamma":
        _check_shape(self.shape)
        return self


class Empirical(Part):
    """One of some durations that were seen, each as likely as the others."""

    type: Literal["empirical"]
    durations: tuple[Duration, ...]
    """What was seen, in any order."""

    @model_validator(mode="after")
    def _check(self) -> "Empirical":
        if not self.durations:
            raise wrong("at least one duration", "an empty list", key="durations")
        return self


class ExponentialLife(Part):
    """A component that does not age."""

    type: Literal["exponential"]


class WeibullLife(Part):
    """A component whose failure rate is a power of its age."""

    type: Literal["weibull"]
    shape: PositiveNumber
    """Below 1 young components fail most, above 1 old ones do. From 0.05 to 100."""

    @model_validator(mode="after")
    def _check(self) -> "WeibullLife":
        _check_shape(self.shape)
        return self


class LogNormalLife(Part):
    """A component whose life is lognormal."""

    type: Literal["lognormal"]
    sigma: PositiveNumber
    """Standard deviation of the natural logarithm, at most 10."""

    @model_validator(mode="after")
    def _check(self) -> "LogNormalLife":
        _check_sigma(self.sigma)
        return self


class GammaLife(Part):
    """A component whose life is the sum of `shape` exponential stages."""

    type: Literal["gamma"]
    shape: PositiveNumber
    """Below 1 young components fail most, above 1 old ones do. From 0.05 to 100."""

    @model_validator(mode="after")
    def _check(self) -> "GammaLife":
        _check_shape(self.shape)
        return self


class EmpiricalLife(Part):
    """A component whose life is one of some that were seen, each as likely as the others."""

    type: Literal["empirical"]
    durations: tuple[PositiveDuration, ...]
    """The lives that were seen, in any order; beside a rate they are stretched to its mean."""

    @model_validator(mode="after")
    def _check(self) -> "EmpiricalLife":
        if not self.durations:
            raise wrong("at least one duration", "an empty list", key="durations")
        return self


def _tag(value: object) -> str:
    """The kind of law in angle brackets, by which errors tell it from the keys that a user wrote."""
    if isinstance(value, Mapping):
        return f"<{value.get('type')}>"
    return f"<{value.type}>" if isinstance(value, BaseModel) and hasattr(value, "type") else "<duration>"


DurationLaw = Exponential | Weibull | LogNormal | Gamma | Empirical
DurationOrLaw = Annotated[
    Annotated[Duration, Tag("<duration>")]
    | Annotated[Exponential, Tag("<exponential>")]
    | Annotated[Weibull, Tag("<weibull>")]
    | Annotated[LogNormal, Tag("<lognormal>")]
    | Annotated[Gamma, Tag("<gamma>")]
    | Annotated[Empirical, Tag("<empirical>")],
    Discriminator(_tag),
]
DurationOrLawOrNever = Annotated[
    Annotated[DurationOrNever, Tag("<duration>")]
    | Annotated[Exponential, Tag("<exponential>")]
    | Annotated[Weibull, Tag("<weibull>")]
    | Annotated[LogNormal, Tag("<lognormal>")]
    | Annotated[Gamma, Tag("<gamma>")]
    | Annotated[Empirical, Tag("<empirical>")],
    Discriminator(_tag),
]
LifeLaw = Annotated[
    Annotated[ExponentialLife, Tag("<exponential>")]
    | Annotated[WeibullLife, Tag("<weibull>")]
    | Annotated[LogNormalLife, Tag("<lognormal>")]
    | Annotated[GammaLife, Tag("<gamma>")]
    | Annotated[EmpiricalLife, Tag("<empirical>")],
    Discriminator(_tag),
]
