"""Numbers as people read them."""

import pytest

from clustersim.cli.words import count, duration, plural, share, size


@pytest.mark.parametrize(
    ("words", "value", "said"),
    [
        (count, 0, "0"),
        (count, 99_999, "99,999"),
        (count, 123_456, "123 k"),
        (count, 999_999, "1 M"),
        (count, 1_234_500_000, "1.23 B"),
        (count, -2_500_000, "-2.5 M"),
        (count, 53.333, "53.3"),
        (size, 0, "0 B"),
        (size, 999_999, "1 MB"),
        (size, 10_787_818.9, "10.8 MB"),
        (duration, 0, "0 s"),
        (duration, 0.004, "4 ms"),
        (duration, 6.2208, "6.22 s"),
        (duration, 119, "119 s"),
        (duration, 600, "10 min"),
        (duration, 7200, "2 h"),
        (duration, 54 * 86400, "54 d"),
        (share, 0, "0 %"),
        (share, 1, "100 %"),
        (share, 0.99999, "> 99.99 %"),
        (share, 0.00001, "< 0.01 %"),
        (share, 0.9229, "92.3 %"),
        (share, 1.00001, "> 100 %"),
        (share, 1.0123, "101 %"),
        (share, 17.79, "1,780 %"),
        (share, -0.00001, "> -0.01 %"),
        (share, -0.005, "-0.50 %"),
        (share, -0.7281, "-72.8 %"),
    ],
)
def test_words(words, value, said):
    assert words(value) == said


def test_plural():
    assert plural(1, "node") == "1 node"
    assert plural(2048, "node") == "2,048 nodes"
    assert plural(2, "entry", "entries") == "2 entries"
