"""Rule 9 as measured of tf.data, of the literal loader too; and configuration A."""

import literal
import numpy as np
import pytest
from literal import Attempt, Corpus, Parts
from rules import whole_input
from rules.points import Point, play


def literally(point):
    parts = Parts(
        "filtered",
        passes="repeat",
        buffer=point.buffer,
        buffer_kind="lazy",
        buffer_saved=True,
        prefetch=point.prefetch,
        prefetch_saved=point.prefetch > 0,
        missing_state="rank-0",
    )
    lives = [Attempt(point.before, 0, point.checkpoints[0]), Attempt(point.after, point.checkpoints[0])]
    line = literal.run(parts, Corpus(point.samples), lives, point.batch, point.epochs, 0)
    return np.array(line.counts(point.samples))


def simulated(point):
    return play(point, whole_input.all_read_by_each(point)).seen


def test_the_literal_loader_keeps_the_rule():
    (rule,) = whole_input.RULES
    for point in rule.points:
        assert literally(point).sum() == whole_input.views(point), point


@pytest.mark.parametrize("played", [literally, simulated])
@pytest.mark.parametrize(
    ("before", "after", "lost", "measured"), [(4, 3, 88, (2, 86)), (4, 2, 176, (0, 172)), (2, 4, -224, (222, 0))]
)
def test_configuration_a(played, before, after, lost, measured):
    """(R0 - R1)(buffer + q b), with 4 batches fetched ahead: 88, 176 and -2 x 112, but for a few at the ragged ends."""
    seen = played(Point(960, 24, 2, (before, after), (20,), buffer=64, prefetch=4, order="sequential"))
    missing, extra = (2 - seen).clip(min=0).sum(), (seen - 2).clip(min=0).sum()
    assert abs(missing - extra - lost) <= 4
    assert abs(extra - measured[0]) <= 4
    assert abs(missing - measured[1]) <= 4
