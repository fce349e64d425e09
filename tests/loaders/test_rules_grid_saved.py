"""Rule 9 as measured of tf.data: every rank reads all, keeps its share, and saves its buffer and what it fetched."""

from math import lcm
from random import Random

import literal
import numpy as np
import pytest
from literal import Attempt, Corpus, Parts
from measured.clustersim_model import loader_keys
from rules.points import Point, play


def parts(buffer, prefetch):
    return Parts(
        "filtered",
        passes="repeat",
        buffer=buffer,
        buffer_kind="lazy",
        buffer_saved=True,
        prefetch=prefetch,
        prefetch_saved=prefetch > 0,
        missing_state="rank-0",
    )


def points():
    """(samples, batch, epochs, before, after, checkpoint, buffer, prefetch), no rank being at the end of its data."""
    random, found = Random(0), set()
    while len(found) < 500:
        before, after = random.randint(1, 5), random.randint(1, 5)
        batch = lcm(before, after) * random.randint(1, 3)
        samples, epochs = batch * random.randint(3, 12), random.randint(2, 3)
        checkpoint, buffer, prefetch = random.randrange(1, 8), random.randint(1, 12), random.randint(0, 3)
        if (checkpoint + prefetch) * batch + buffer * before <= epochs * samples:
            found.add((samples, batch, epochs, before, after, checkpoint, buffer, prefetch))
    return sorted(found)


def views(samples, batch, epochs, before, after, checkpoint, buffer, prefetch):
    """Of the final model, with k = buffer - 1 samples held and q batches fetched by each rank at the checkpoint.

    Whoever goes on yields those, and then its share of what lies behind its position; a rank that is gone takes
    k + q b with it, and an added one repeats as many of rank 0's.
    """
    held, old, new = buffer - 1, batch // before, batch // after
    pulled = (checkpoint + prefetch) * old + held
    state = [rank if rank < before else 0 for rank in range(after)]
    position = (pulled - 1) * before + np.array(state) + 1
    offset = np.arange(epochs * samples)
    share = np.array([((offset >= position[rank]) & (offset % after == rank)).sum() for rank in range(after)])
    steps = (-(-(held + share) // new)).min()
    return checkpoint * batch + int((prefetch * old + np.minimum(held + share, steps * new)).sum())


def literally(samples, batch, epochs, before, after, checkpoint, buffer, prefetch):
    lives = [Attempt(before, 0, checkpoint), Attempt(after, checkpoint)]
    line = literal.run(parts(buffer, prefetch), Corpus(samples), lives, batch, epochs, 0)
    return np.array(line.counts(samples))


def simulated(samples, batch, epochs, before, after, checkpoint, buffer, prefetch):
    point = Point(samples, batch, epochs, (before, after), (checkpoint,))
    return play(point, loader_keys(parts(buffer, prefetch), epochs)).seen


@pytest.mark.parametrize("played", [literally, simulated])
def test_a_rank_that_is_gone_takes_its_buffer_along_and_an_added_one_repeats_rank_0s(played):
    for point in points():
        assert played(*point).sum() == views(*point), point


@pytest.mark.parametrize("played", [literally, simulated])
@pytest.mark.parametrize(
    ("before", "after", "lost", "measured"), [(4, 3, 88, (2, 86)), (4, 2, 176, (0, 172)), (2, 4, -224, (222, 0))]
)
def test_configuration_a(played, before, after, lost, measured):
    """(R0 - R1)(buffer + q b), with 4 batches fetched ahead: 88, 176 and -2 x 112, but for a few at the ragged ends."""
    seen = played(960, 24, 2, before, after, 20, 64, 4)
    missing, extra = (2 - seen).clip(min=0).sum(), (seen - 2).clip(min=0).sum()
    assert abs(missing - extra - lost) <= 4
    assert abs(extra - measured[0]) <= 4
    assert abs(missing - measured[1]) <= 4
