"""Rules 13 and 17: counts that are wrong, offsets that come again, ranks that have no state, refusals."""

from dataclasses import replace
from random import Random

import numpy as np

from rules.points import Outcome, Point, damage, even
from rules.positions import EXACT, SKIPS, STRIDED, whole_or_parts
from rules.rule import exactly

# Rule 13: a count that is wrong


def twice(random: Random) -> Point | None:
    """Two restarts in one epoch."""
    point = even(random)
    if point.steps < 3:
        return None
    first, second = sorted(random.sample(range(1, point.steps), 2))
    start = random.randrange(point.epochs) * point.steps
    return replace(
        point,
        ranks=(point.before, point.after, random.choice(point.ranks)),
        checkpoints=(start + first, start + second),
    )


def counted_twice(point: Point) -> tuple[int, int]:
    """The second restart passes over the batches before the first one once more."""
    previous, done = (c % point.steps for c in point.checkpoints)
    return 0, min(previous, point.steps - done) * point.batch


def one_for_all(point: Point) -> tuple[int, int]:
    """A rank's own count is taken for the position of all: c'B (R - 1) / R are read again."""
    return point.read // point.before * (point.before - 1), 0


SAME_RANKS = {"last_batch": "short", **SKIPS}
ONE_FOR_ALL = {**EXACT, "last_batch": "short", "miscount": "rank-as-global"}
RULE_13 = [
    exactly("13 counted twice", twice, lambda _: {**SAME_RANKS, "miscount": "doubled"}, counted_twice, damage),
    exactly("13 one rank's count for all", even, lambda _: ONE_FOR_ALL, one_for_all, damage),
]


# Rule 17: an offset that is applied again, ranks without a state, refusals


def applied_again(point: Point) -> tuple[int, int]:
    return 0, (point.epochs - 1 - point.epoch) * point.read


def growing(random: Random) -> Point | None:
    point = even(random)
    return point if point.before < point.after else None


def fresh_ranks(point: Point) -> tuple[int, int]:
    """New ranks begin the epoch; old ones go on at c'B / R0 of N / R1, and when they are done it ends for all."""
    length, position = point.samples // point.after, point.read // point.before
    local, rank = np.arange(length)[:, None], np.arange(point.after)
    each = point.batch // point.after
    steps = max(0, -(-(length - position) // each))
    again = np.where(rank < point.before, local >= position, local < steps * each)
    seen = (local * point.after + rank < point.read).astype(int) + again
    return int((seen == 2).sum()), int((seen == 0).sum())


def changes_or_not(random: Random) -> Point:
    point = even(random)
    return point if random.random() < 0.7 else replace(point, ranks=(point.before, point.before))


def refusal(outcome: Outcome, point: Point) -> tuple[str, int]:
    """The reason, and the steps of the final model."""
    return outcome.refused, outcome.steps


def refuses_others(point: Point) -> tuple[str, int]:
    if point.before == point.after:
        return "", point.epochs * point.steps
    reason = f"the loader was saved by {point.before} ranks and refuses to come back on {point.after}"
    reason += f": on {point.before} alone it does"
    return reason, point.checkpoints[0]


def refuses_new(point: Point) -> tuple[str, int]:
    new = point.after - point.before
    reason = f"the loader was saved by {point.before} ranks, and {new} of {point.after} have no state"
    reason += f": it comes back on {point.before} or fewer"
    return reason, point.checkpoints[0]


RULE_17 = [
    exactly("17 an offset applied again", even,
            lambda _: {**SKIPS, "last_batch": "short", "comes_back": "reapply", "saves": "samples"}, applied_again,
            damage),
    exactly("17 ranks without a state", growing, lambda _: {**STRIDED, "missing_state": "fresh"}, fresh_ranks, damage),
    exactly("17 other ranks refused", changes_or_not, whole_or_parts(**EXACT, on_layout_change="refuse"),
            refuses_others, refusal),
    exactly("17 new ranks refused", growing, lambda _: {**STRIDED, "missing_state": "refuse"}, refuses_new, refusal),
]  # fmt: skip

RULES = [*RULE_13, *RULE_17]
