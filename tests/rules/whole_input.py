"""Rule 9 as measured of tf.data: every rank reads all, keeps its share, and saves its buffer and what it fetched."""

from math import lcm
from random import Random

import numpy as np

from rules.points import Outcome, Point
from rules.rule import exactly


def clear_of_the_end(random: Random) -> Point | None:
    """No rank is at the end of its data when the job is restarted."""
    before, after = random.randint(1, 5), random.randint(1, 5)
    batch = lcm(before, after) * random.randint(1, 3)
    point = Point(
        samples=batch * random.randint(3, 12),
        batch=batch,
        epochs=random.randint(2, 3),
        ranks=(before, after),
        checkpoints=(random.randrange(1, 8),),
        buffer=random.randint(1, 12),
        prefetch=random.randint(0, 3),
        seed=random.randrange(1000),
    )
    read = (point.checkpoints[0] + point.prefetch) * batch + point.buffer * before
    return point if read <= point.epochs * point.samples else None


def views(point: Point) -> int:
    """Of the final model, with k = buffer - 1 samples held and q batches fetched by each rank at the checkpoint.

    Whoever goes on yields those, and then its share of what lies behind its position; a rank that is gone takes
    k + q b with it, and an added one repeats as many of rank 0's.
    """
    held, old, new = point.buffer - 1, point.batch // point.before, point.batch // point.after
    pulled = (point.checkpoints[0] + point.prefetch) * old + held
    state = [rank if rank < point.before else 0 for rank in range(point.after)]
    position = (pulled - 1) * point.before + np.array(state) + 1
    offset, numbers = np.arange(point.epochs * point.samples), range(point.after)
    share = np.array([((offset >= position[rank]) & (offset % point.after == rank)).sum() for rank in numbers])
    steps = (-(-(held + share) // new)).min()
    after = point.prefetch * old + np.minimum(held + share, steps * new)
    return point.checkpoints[0] * point.batch + int(after.sum())


def all_read_by_each(point: Point) -> dict:
    fetched = {"prefetch": point.prefetch, "prefetch_saved": True} if point.prefetch else {}
    return fetched | {
        "partition": "filtered",
        "repeats": point.epochs,
        "saves": "samples",
        "comes_back": "exact",
        "on_layout_change": "keep",
        "missing_state": "rank-0",
        "buffer": point.buffer,
        "buffer_kind": "lazy",
        "buffer_saved": True,
    }


def seen_views(outcome: Outcome, _: Point) -> int:
    return int(outcome.seen.sum())


RULES = [exactly("9 all read by each", clear_of_the_end, all_read_by_each, views, seen_views, 500)]
