"""Fits of laws to durations that are seen in part: closed forms, scipy's own fits, synthetic samples, coverage."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, special, stats

from analysis.fit import LAWS, fit, fit_law, likelihood, median_of
from analysis.lives import durations

BY_NAME = {law.name: law for law in LAWS}


def table(hours, ended, begun=True):
    hours = np.asarray(hours, dtype=float)
    return pd.DataFrame(
        {"hours": hours, "begun": np.broadcast_to(begun, len(hours)), "ended": np.broadcast_to(ended, len(hours))}
    )


def cut_at_random(law, count, rng, longest):
    lives, ends = law.rvs(count, random_state=rng), rng.uniform(0, longest, count)
    return table(np.minimum(lives, ends), lives < ends)


def fits(sample):
    return {each.law.name: each for each in fit(sample)}


def test_an_exponential_law_is_exposure_over_events():
    """Its interval is where d ln(mean) + exposure / mean is 1.92 above its least."""
    sample = table([10, 20, 30, 100, 100], [True, True, True, False, False])
    (only,) = fit(sample)  # three durations that ended tell no shape
    mean, low, high = only.mean_h
    assert mean == pytest.approx(260 / 3, rel=1e-5)
    for end in (low, high):
        fallen = 3 * math.log(end / mean) + 260 / end - 3
        assert fallen == pytest.approx(stats.chi2.ppf(0.95, 1) / 2, rel=1e-4)
    assert low < mean < high
    assert only.log_likelihood == pytest.approx(-3 * math.log(260 / 3) - 3)
    assert only.aic == pytest.approx(2 - 2 * only.log_likelihood)


def test_an_exponential_law_does_not_care_how_old_a_node_was():
    sample = table([10, 20, 30, 100, 100], [True, True, True, False, False], begun=[True, False, True, False, True])
    assert fit(sample)[0].mean_h.value == pytest.approx(260 / 3, rel=1e-5)


@pytest.mark.parametrize("name", ["weibull", "lognormal", "gamma"])
@pytest.mark.parametrize("shape", [0.4, 3.0])
def test_fits_are_those_of_scipy(name, shape):
    rng = np.random.default_rng(5)
    sample = cut_at_random(stats.weibull_min(shape, scale=50), 150, rng, 120)
    whole, cut = (sample.loc[sample["ended"] == ended, "hours"] for ended in (True, False))
    data = stats.CensoredData(uncensored=whole, right=cut)
    found, family = fits(sample)[name], BY_NAME[name].family
    parameters = family.fit(data, floc=0)
    assert found.shape.value == pytest.approx(parameters[0], rel=1e-3)
    assert found.mean_h.value == pytest.approx(family(*parameters).mean(), rel=1e-3)
    by_hand = family.logpdf(whole, *parameters).sum() + family.logsf(cut, *parameters).sum()
    assert found.log_likelihood == pytest.approx(by_hand, abs=1e-4)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize(("mean", "shape"), [(3.0, 0.4), (40.0, 1.0), (700.0, 2.5)])
def test_what_is_beyond_a_time_is_the_integral_of_the_survival(law, mean, shape):
    shapes, scale = law.parameters(mean, shape)
    assert law.family.mean(*shapes, scale=scale) == pytest.approx(mean)
    for hours in (0.0, 0.2 * mean, mean, 4 * mean):
        area = integrate.quad(lambda x: law.family.sf(x, *shapes, scale=scale), 0, hours, limit=200)[0]
        assert float(law.beyond(np.array([hours]), mean, shape)[0]) == pytest.approx(1 - area / mean, abs=1e-6)


def test_a_duration_of_nothing_is_shorter_than_the_shortest():
    sample = table([0, 0, 2, 5, 9], True)
    mean, shape = 4.0, 0.8
    law = stats.weibull_min(shape, scale=mean / special.gamma(1 + 1 / shape))
    expected = 2 * law.logcdf(2) + law.logpdf([2, 5, 9]).sum()
    assert likelihood(BY_NAME["weibull"], sample)(mean, shape) == pytest.approx(expected)


def test_the_best_law_is_the_one_of_the_sample_and_others_are_tested_against_it():
    rng = np.random.default_rng(2)
    weibull = cut_at_random(stats.weibull_min(0.5, scale=100), 800, rng, 600)
    lognormal = cut_at_random(stats.lognorm(1.5, scale=20), 800, rng, 400)
    exponential = cut_at_random(stats.expon(scale=100), 800, rng, 300)
    assert fit(weibull)[0].law.name == "weibull"
    assert fit(lognormal)[0].law.name == "lognormal"
    told = fits(weibull)
    ratio = 2 * (told["weibull"].log_likelihood - told["exponential"].log_likelihood)
    assert told["weibull"].p_exponential == pytest.approx(stats.chi2.sf(ratio, 1))
    assert told["weibull"].p_exponential < 1e-6
    assert (
        told["exponential"].p_exponential is told["lognormal"].p_exponential is None
    )  # of which it is no special case
    assert min(fits(exponential)[name].p_exponential for name in ("weibull", "gamma")) > 0.05


def faults_of(rng, shape, nodes, length_h, warm_up_h, down_h=1.0):
    """Faults of nodes that live by a Weibull law of scale 100 h; the trace begins after a while."""
    rows = []
    for node in range(nodes):
        at = 0.0
        while at < warm_up_h + length_h:
            at += stats.weibull_min.rvs(shape, scale=100, random_state=rng)
            rows.append((node, at - warm_up_h, at - warm_up_h + down_h))
            at += down_h
    table = pd.DataFrame(rows, columns=["node", "start_h", "end_h"])
    table = table[(table["end_h"] > 0) & (table["start_h"] < length_h)]
    return table.assign(start_h=table["start_h"].clip(lower=0), end_h=table["end_h"].clip(upper=length_h))


@pytest.mark.parametrize("shape", [0.6, 2.0])
def test_nodes_of_unknown_age_are_no_new_ones(shape):
    """The intervals hold the truth if the ages are taken for unknown, and miss it if they are taken for 0."""
    rng = np.random.default_rng(11)
    mean = 100 * special.gamma(1 + 1 / shape)
    faults = faults_of(rng, shape, nodes=400, length_h=120, warm_up_h=2000)
    right, wrong = (fit_law(BY_NAME["weibull"], durations(faults, 400, 120.0, new).lives) for new in (False, True))
    assert right.shape.ci95_low < shape < right.shape.ci95_high
    assert right.mean_h.ci95_low < mean < right.mean_h.ci95_high
    assert not wrong.mean_h.ci95_low < mean < wrong.mean_h.ci95_high


def test_a_parameter_that_nothing_bounds_says_so():
    """Durations that are all but equal have no spread: every larger shape is as likely."""
    same = fits(table(np.linspace(1.0, 1.0001, 7), True))
    assert same["weibull"].shape.value == pytest.approx(100, rel=1e-3)
    assert same["weibull"].shape.ci95_high == math.inf
    assert same["weibull"].shape.ci95_low > 10


def test_nothing_to_fit_is_refused():
    with pytest.raises(ValueError, match="expected durations that ended, found 0 of 2"):
        fit(table([1, 2], False))
    with pytest.raises(ValueError, match="expected durations that ended"):
        fit(table([0, 0], True))


def test_the_median_of_a_lognormal_law():
    assert stats.lognorm(1.7, scale=median_of(20.0, 1.7)).mean() == pytest.approx(20)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["weibull", "gamma"])
def test_intervals_cover_as_often_as_they_say(name):
    """Of 300 samples, a third cut off: 95 % of the intervals of mean and shape hold the truth, within 3.5 errors."""
    law, shape = BY_NAME[name], 0.7
    shapes, scale = law.parameters(100.0, shape)
    held = np.zeros(2)
    for number in range(300):
        rng = np.random.default_rng([7, number])
        found = fit_law(law, cut_at_random(law.family(*shapes, scale=scale), 150, rng, 400))
        held += [each.ci95_low < true < each.ci95_high for each, true in ((found.mean_h, 100.0), (found.shape, shape))]
    assert (np.abs(held - 285) < 3.5 * math.sqrt(300 * 0.95 * 0.05)).all()
