"""Laws of duration, as quantile functions: a uniform number in, nanoseconds out.

A quantile is monotone in its uniform, so runs that share a stream stay comparable when a law's parameters change.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

from clustersim.streams import Hashed

NEVER = 2**62
"""Nanoseconds (146 years): a duration from here on is not scheduled."""

_NORMAL = NormalDist()


def whole_ns(duration: float) -> int:
    """Round a duration in nanoseconds once; everything beyond `NEVER` is `NEVER`."""
    return round(duration) if duration < NEVER else NEVER


class Life(Protocol):
    """A law of a time to failure in nanoseconds; its mean need not be known."""

    def quantile(self, uniform: float) -> int:
        """The duration (ns, at most `NEVER`) that a share `uniform` of all durations stays below."""

    def cdf(self, duration_ns: float) -> float:
        """The share of durations at or below `duration_ns`."""


class Law(Life, Protocol):
    """A law of a duration in nanoseconds."""

    @property
    def mean_ns(self) -> float:
        """The mean in nanoseconds."""


def draw(law: Law, stream: Hashed, entity: int, number: int) -> int:
    """A duration (ns) from a law: the stream's draw of that number for the entity. A constant takes none."""
    return law.value_ns if isinstance(law, Constant) else law.quantile(stream.uniform(entity, number))


@dataclass(frozen=True, slots=True)
class Constant:
    """Always the same duration."""

    value_ns: int

    @property
    def mean_ns(self) -> float:
        """The mean in nanoseconds."""
        return float(self.value_ns)

    def quantile(self, uniform: float) -> int:
        """The constant, whatever the uniform."""
        return self.value_ns

    def cdf(self, duration_ns: float) -> float:
        """0 below the constant, 1 from there on."""
        return float(duration_ns >= self.value_ns)


@dataclass(frozen=True, slots=True)
class Weibull:
    """P(T > t) = exp(-(t / scale)^shape); shape 1 is the exponential law."""

    shape: float
    scale_ns: float

    @classmethod
    def of_mean(cls, mean_ns: float, shape: float = 1.0) -> "Weibull":
        """The Weibull law of a given mean: scale = mean / gamma(1 + 1/shape)."""
        return cls(shape, mean_ns / math.gamma(1 + 1 / shape))

    @property
    def mean_ns(self) -> float:
        """The mean in nanoseconds."""
        return self.scale_ns * math.gamma(1 + 1 / self.shape)

    def quantile(self, uniform: float) -> int:
        """scale (-ln(1 - u))^(1/shape)."""
        standard = -math.log1p(-uniform)
        return whole_ns(self.scale_ns * (standard if self.shape == 1.0 else standard ** (1 / self.shape)))

    def cdf(self, duration_ns: float) -> float:
        """1 - exp(-(t / scale)^shape)."""
        return -math.expm1(-((max(duration_ns, 0.0) / self.scale_ns) ** self.shape))


@dataclass(frozen=True, slots=True)
class Stepwise:
    """A Weibull life whose failure rate is multiplied by `times[i]` from `at_ns[i]` on, and by 1 before `at_ns[0]`.

    The steps lie at ages; `by_date` says that they lie at dates, and that `born` makes them ages.
    """

    base: Weibull
    at_ns: tuple[int, ...]
    times: tuple[float, ...]
    by_date: bool = False

    def born(self, date_ns: int) -> "Stepwise":
        """The law of a life that begins at a date; steps before it have been taken."""
        if not self.by_date:
            return self
        return Stepwise(self.base, tuple(at - date_ns for at in self.at_ns), self.times, self.by_date)

    def quantile(self, uniform: float) -> int:
        """The age at which the summed hazard, m (b^shape - a^shape) / scale^shape over each step, is -ln(1 - u)."""
        left = -math.log1p(-uniform)
        for begin, end, times in self._steps():
            if times == 0:
                continue
            whole = times * (self._hazard(end) - self._hazard(begin))
            if left <= whole:
                standard = left / times + self._hazard(begin)
                return whole_ns(self.base.scale_ns * standard ** (1 / self.base.shape))
            left -= whole
        return NEVER

    def cdf(self, duration_ns: float) -> float:
        """1 - exp(-summed hazard)."""
        summed = math.fsum(
            times * (self._hazard(min(end, duration_ns)) - self._hazard(begin))
            for begin, end, times in self._steps()
            if begin < duration_ns
        )
        return -math.expm1(-summed)

    def _hazard(self, age_ns: float) -> float:
        return float((age_ns / self.base.scale_ns) ** self.base.shape)

    def _steps(self) -> Iterator[tuple[float, float, float]]:
        """(from, to, multiple) from age 0 on, without the steps that end before."""
        begins = (0.0, *(max(0.0, float(at)) for at in self.at_ns))
        for begin, end, times in zip(begins, (*begins[1:], math.inf), (1.0, *self.times), strict=True):
            if begin < end:
                yield begin, end, times


@dataclass(frozen=True, slots=True)
class Lognormal:
    """ln T is normal with mean ln(median) and standard deviation sigma."""

    median_ns: float
    sigma: float

    @classmethod
    def of_mean(cls, mean_ns: float, sigma: float) -> "Lognormal":
        """The lognormal law of a given mean: median = mean exp(-sigma^2 / 2)."""
        return cls(mean_ns * math.exp(-(sigma**2) / 2), sigma)

    @property
    def mean_ns(self) -> float:
        """The mean in nanoseconds."""
        return self.median_ns * math.exp(self.sigma**2 / 2)

    def quantile(self, uniform: float) -> int:
        """median exp(sigma z), z the standard normal quantile."""
        exponent = self.sigma * _NORMAL.inv_cdf(uniform)
        return whole_ns(self.median_ns * math.exp(exponent)) if exponent < 600 else NEVER

    def cdf(self, duration_ns: float) -> float:
        """The standard normal law at ln(t / median) / sigma."""
        if duration_ns <= 0:
            return 0.0
        return _NORMAL.cdf(math.log(duration_ns / self.median_ns) / self.sigma)


@dataclass(frozen=True, slots=True)
class Gamma:
    """P(T <= t) = P(shape, t / scale), the regularised incomplete gamma function; shape 1 is the exponential law."""

    shape: float
    scale_ns: float

    @classmethod
    def of_mean(cls, mean_ns: float, shape: float) -> "Gamma":
        """The gamma law of a given mean: scale = mean / shape."""
        return cls(shape, mean_ns / shape)

    @property
    def mean_ns(self) -> float:
        """The mean in nanoseconds."""
        return self.scale_ns * self.shape

    def quantile(self, uniform: float) -> int:
        """scale times the inverse of the incomplete gamma function."""
        from scipy.special import gammaincinv

        return whole_ns(self.scale_ns * float(gammaincinv(self.shape, uniform)))

    def cdf(self, duration_ns: float) -> float:
        """The incomplete gamma function at t / scale."""
        from scipy.special import gammainc

        return float(gammainc(self.shape, max(duration_ns, 0.0) / self.scale_ns))


@dataclass(frozen=True, slots=True)
class Empirical:
    """One of some durations that were seen, each as likely as the others; `values_ns` is sorted."""

    values_ns: tuple[int, ...]

    @classmethod
    def of_mean(cls, mean_ns: float, seen_ns: Sequence[int]) -> "Empirical":
        """The law of durations in the proportions of `seen_ns` (not all 0), stretched to a given mean."""
        stretch = mean_ns * len(seen_ns) / math.fsum(seen_ns)
        return cls(tuple(sorted(whole_ns(value * stretch) for value in seen_ns)))

    @property
    def mean_ns(self) -> float:
        """The mean in nanoseconds."""
        return math.fsum(self.values_ns) / len(self.values_ns)

    def quantile(self, uniform: float) -> int:
        """The least value that a share `uniform` of the values does not exceed."""
        return self.values_ns[math.ceil(uniform * len(self.values_ns)) - 1]

    def cdf(self, duration_ns: float) -> float:
        """The share of the values at or below `duration_ns`."""
        return bisect_right(self.values_ns, duration_ns) / len(self.values_ns)
