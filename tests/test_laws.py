"""Laws against their closed forms."""

import itertools
import math

import numpy as np
import pytest

from clustersim.laws import NEVER, Constant, Empirical, Gamma, Lognormal, Stepwise, Weibull
from clustersim.theory import daly, daly_efficiency, first_order_ettr, young

DAY_NS = 86_400_000_000_000
LAWS = [
    Weibull.of_mean(DAY_NS),
    Weibull.of_mean(DAY_NS, 0.7),
    Weibull(2.0, DAY_NS),
    Lognormal(DAY_NS, 0.8),
    Gamma.of_mean(DAY_NS, 0.6),
    Gamma.of_mean(DAY_NS, 3.0),
]


@pytest.mark.parametrize("law", LAWS)
def test_quantile_inverts_the_cdf_and_has_the_mean(law):
    uniforms = (np.arange(200_000) + 0.5) / 200_000
    quantiles = np.array([law.quantile(float(u)) for u in uniforms])
    assert (np.diff(quantiles) >= 0).all()
    assert [law.cdf(float(q)) for q in quantiles[::5000]] == pytest.approx(uniforms[::5000].tolist(), abs=1e-9)
    assert quantiles.mean() == pytest.approx(law.mean_ns, rel=2e-3)
    assert law.cdf(0) == 0


def test_means_are_those_asked_for():
    assert Weibull.of_mean(5e9, 0.7).mean_ns == pytest.approx(5e9)
    assert Lognormal.of_mean(5e9, 1.3).mean_ns == pytest.approx(5e9)
    assert Weibull.of_mean(DAY_NS).quantile(1 - math.exp(-1)) == DAY_NS


def test_gamma_of_whole_shape_is_a_sum_of_exponential_stages():
    """P(T <= t) = 1 - exp(-x) (1 + x + x^2 / 2) for shape 3, x = t / scale; shape 1 is exponential."""
    law = Gamma.of_mean(3 * DAY_NS, 3.0)
    for days in (0.1, 1.0, 4.0, 20.0):
        assert law.cdf(days * DAY_NS) == pytest.approx(1 - math.exp(-days) * (1 + days + days**2 / 2), rel=1e-9)
    exponential = Weibull.of_mean(DAY_NS)
    for uniform in (1e-9, 0.3, 1 - 1e-9):
        ours = Gamma.of_mean(DAY_NS, 1.0).quantile(uniform)
        assert ours == pytest.approx(exponential.quantile(uniform), rel=1e-12, abs=1)


def test_an_empirical_law_gives_what_was_seen_each_as_often():
    law = Empirical((3, 5, 5, 11))
    assert [law.quantile(u) for u in (1e-9, 0.25, 0.2501, 0.5, 0.75, 0.7501, 1 - 2.0**-53)] == [3, 3, 5, 5, 5, 11, 11]
    assert [law.cdf(t) for t in (0, 2.9, 3, 5, 10, 11)] == [0, 0, 0.25, 0.75, 0.75, 1]
    assert law.mean_ns == 6
    assert Empirical.of_mean(12, (11, 3, 5, 5)) == Empirical((6, 10, 10, 22))


@pytest.mark.parametrize("shape", [0.6, 1.0, 2.5])
@pytest.mark.parametrize("born_days", [0.0, 0.4, 1.7, 5.0])
def test_a_rate_that_changes_with_the_date(shape, born_days):
    """P(T <= t) = 1 - exp(-integral of multiple(born + a) h(a) da), h the hazard of the Weibull law at the age a."""
    base = Weibull.of_mean(2 * DAY_NS, shape)
    dates, times = (0.5, 1.5, 3.0), (3.0, 0.0, 0.4)
    law = Stepwise(base, tuple(int(day * DAY_NS) for day in dates), times, by_date=True).born(int(born_days * DAY_NS))
    scale = base.scale_ns / DAY_NS

    def summed(days):
        edges = sorted({0.0, days, *(day - born_days for day in dates if 0 < day - born_days < days)})
        return sum(
            ([1.0, *times][sum(day <= born_days + (a + b) / 2 for day in dates)])
            * ((b / scale) ** shape - (a / scale) ** shape)
            for a, b in itertools.pairwise(edges)
        )

    for days in (0.05, 0.3, 1.0, 2.2, 4.0, 9.0):
        assert law.cdf(days * DAY_NS) == pytest.approx(1 - math.exp(-summed(days)), rel=1e-9)
    for uniform in (0.01, 0.1, 0.35, 0.6, 0.95, 1 - 1e-9):
        assert law.cdf(law.quantile(uniform)) == pytest.approx(uniform, rel=1e-9)


def test_steps_at_an_age_are_the_same_at_every_date():
    law = Stepwise(Weibull.of_mean(DAY_NS), (DAY_NS,), (5.0,))
    assert law.born(7 * DAY_NS) is law
    assert law.quantile(1 - math.exp(-0.5)) == pytest.approx(DAY_NS / 2)
    assert law.quantile(1 - math.exp(-2)) == pytest.approx(DAY_NS * 1.2)


def test_what_no_longer_fails_lives_for_ever():
    law = Stepwise(Weibull.of_mean(DAY_NS), (DAY_NS,), (0.0,))
    assert law.quantile(0.5) == pytest.approx(math.log(2) * DAY_NS)
    assert law.quantile(0.64) == NEVER
    assert law.cdf(1e30) == pytest.approx(1 - math.exp(-1))


def test_lives_of_centuries_are_never():
    assert Weibull.of_mean(1e30).quantile(0.5) == NEVER
    assert Lognormal(DAY_NS, 10.0).quantile(1 - 2.0**-52) == NEVER
    assert Gamma.of_mean(1e30, 2.0).quantile(0.5) == NEVER
    assert Empirical.of_mean(1e30, (1, 2)).quantile(0.5) == NEVER
    assert Constant(NEVER).cdf(NEVER - 1) == 0


@pytest.mark.parametrize(
    ("save", "mtbf", "by_young", "by_daly"),
    [(5, 1440, 120.00, 116.69), (5, 180, 42.43, 39.16), (20, 1440, 240.00, 226.85), (1, 18, 6.00, 5.35)],
)
def test_optimum_intervals(save, mtbf, by_young, by_daly):
    assert young(save, mtbf) == pytest.approx(by_young, abs=0.005)
    assert daly(save, mtbf) == pytest.approx(by_daly, abs=0.005)
    best = daly_efficiency(daly(save, mtbf), save, mtbf, 10)
    assert all(daly_efficiency(daly(save, mtbf) * f, save, mtbf, 10) < best for f in (0.9, 1.1))
    assert daly(2 * mtbf, mtbf) == mtbf


def test_first_order_efficiency():
    """16,000 GPUs, restart 5 min, no cost of a save (Kokolis et al., arXiv 2410.21680)."""
    mtbf = 24 * 60 / 13
    assert first_order_ettr(60, 0, mtbf, 5) == pytest.approx(0.684, abs=5e-4)
    assert first_order_ettr(5, 0, mtbf, 5) == pytest.approx(0.932, abs=5e-4)
