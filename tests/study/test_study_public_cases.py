"""How sure a mean of a few runs is: the widths that reports of goodput and of a reliability simulator state."""

import numpy as np
import pytest

from clustersim.study.spread import half_width


def of_spread(count, mean, deviation):
    """Values with exactly this mean and standard deviation."""
    values = np.linspace(-1, 1, count)
    return mean + deviation * values / values.std(ddof=1)


@pytest.mark.parametrize(("runs", "share"), [(5, 0.124), (10, 0.072)])
def test_a_coefficient_of_variation_of_ten_percent(runs, share):
    """ml-goodput-measurement: five runs leave the mean unsure by 12.4 %, ten by 7.2 %."""
    assert half_width(of_spread(runs, 100, 10)) / 100 == pytest.approx(share, abs=5e-4)


def test_the_interval_of_thirty_runs_of_airesim():
    """Published: 9,865.97 h, standard deviation 33.60 over 30 runs, ± 12.55 h."""
    assert half_width(of_spread(30, 9865.97, 33.60)) == pytest.approx(12.55, abs=0.005)
