"""Rules 4 to 6, 12 and 16: restarts of an epoch or of the run, orders that are lost, the edge of an epoch."""

from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np

from rules.points import Point, damage, even, extra, histogram, histogram_of, missing, net, up_to, within_one_epoch
from rules.positions import EXACT, whole_or_parts
from rules.rule import exactly, in_law


def inside(random: Random) -> Point | None:
    """The checkpoint lies inside an epoch."""
    point = even(random)
    return point if point.into else None


def budget(point: Point) -> Point:
    return replace(point, ends="T")


# Rule 4: the epoch is restarted

RESTART = {"saves": "epoch", "comes_back": "restart-epoch"}
OF_RANKS = {**RESTART, "partition": "strided"}


def once_more(point: Point) -> dict[int, int]:
    """E + 1 views of the c'B samples that had been read, also after each of several restarts; c' since the last one."""
    begun = [point.epoch * point.steps, *point.checkpoints]
    again = sum(up_to((stop - start) * point.batch, point.samples) for start, stop in pairwise(begun))
    return histogram_of(point.epochs + again)


def in_the_last_epoch(random: Random) -> Point | None:
    point = inside(random)
    return None if point is None or point.epoch < point.epochs - 1 else budget(point)


def in_one_order(random: Random) -> Point | None:
    point = inside(random)
    return None if point is None else replace(budget(point), order=random.choice(["sequential", "shuffle-once"]))


def pushed_out(point: Point) -> tuple[int, int]:
    """What is read again pushes out the end of the same order: min(c', S - c') B."""
    return (min(point.into, point.steps - point.into) * point.batch,) * 2


def before_the_last_epoch(random: Random) -> Point | None:
    point = inside(random)
    return None if point is None or point.epoch == point.epochs - 1 else budget(point)


def overlap(samples: int, chosen: int, others: int) -> tuple[float, float]:
    """Mean and variance of how many of `chosen` samples are among as many as `others` others: hypergeometric."""
    share = chosen / samples
    return others * share, others * share * (1 - share) * (samples - others) / max(1, samples - 1)


def repeats_that_stay(point: Point) -> tuple[float, float]:
    """Repeats and losses overlap at random: of c'B repeats those that are not lost too, c'B (1 - c' / S)."""
    return overlap(point.samples, point.read, point.samples - point.read)


def nothing(_: Point) -> int:
    return 0


RULE_4 = [
    exactly("4 the epoch restarted", inside, lambda _: RESTART, once_more, histogram),
    exactly("4 the same for parts of the ranks", inside, lambda _: OF_RANKS, once_more, histogram),
    exactly("4 restarted two or three times", within_one_epoch, lambda _: RESTART, once_more, histogram),
    exactly("4 in the budget, last epoch", in_the_last_epoch, lambda _: RESTART, pushed_out, damage),
    exactly("4 in the budget, one order", in_one_order, lambda _: RESTART, pushed_out, damage),
    in_law("4 in the budget, other orders", before_the_last_epoch, lambda _: RESTART, repeats_that_stay, extra),
]


# Rule 5: everything is restarted


def all_again(point: Point) -> dict[int, int]:
    return histogram_of(point.epochs + up_to(point.checkpoints[0] * point.batch, point.samples))


RULE_5 = [
    exactly("5 the run restarted", even, lambda _: {"saves": "nothing", "comes_back": "restart-run"}, all_again,
            histogram),
    exactly("5 the same for parts of the ranks", even,
            lambda _: {"saves": "epoch", "comes_back": "restart-run", "partition": "strided"}, all_again, histogram),
]  # fmt: skip


# Rule 6: the position is kept, the order is not

RESHUFFLE = {"saves": "samples", "comes_back": "reshuffle"}
FORGETS_EPOCH = {"saves": "samples", "comes_back": "exact", "order_epoch": "first"}
OWN_PERMUTATION = {
    "saves": "samples",
    "comes_back": "exact",
    "partition": "contiguous",
    "permutes": "part",
    "on_layout_change": "reshard",
}


def never_read(samples: int, parts: list[int]) -> tuple[float, float]:
    """Mean and variance of how many of N samples are in none of some subsets that are drawn by themselves.

    N times the product of 1 - f_i; the variance by the chance that two samples are in none.
    """
    one = np.prod([1 - part / samples for part in parts])
    two = np.prod([(samples - part) * (samples - part - 1) / (samples * max(1, samples - 1)) for part in parts])
    return samples * one, samples * one + samples * (samples - 1) * two - (samples * one) ** 2


def orders_in_turn(point: Point) -> tuple[float, float]:
    """The shares of the epoch that were read under each order."""
    start = point.epoch * point.steps
    cuts = [start, *point.checkpoints, start + point.steps]
    return never_read(point.samples, [(stop - begin) * point.batch for begin, stop in pairwise(cuts)])


def once_or_more(random: Random) -> Point | None:
    return inside(random) if random.random() < 0.5 else within_one_epoch(random)


def epoch_forgotten(point: Point) -> tuple[float, float]:
    """Two orders, however many restarts: its own, and after the first restart that of epoch 0, which it may be."""
    if point.epoch == 0:
        return 0, 0
    return never_read(point.samples, [point.read, point.samples - point.read])


def other_parts(random: Random) -> Point | None:
    point = inside(random)
    return None if point is None or point.before == point.after else point


def permuted_by_others(point: Point) -> tuple[float, None]:
    return never_read(point.samples, [point.read, point.samples - point.read])[0], None


RULE_6 = [
    in_law("6 a new order", once_or_more, lambda _: RESHUFFLE, orders_in_turn, missing),
    exactly("6 as many twice as never", once_or_more, lambda _: RESHUFFLE, nothing, net),
    in_law("6 the order of epoch 0", once_or_more, lambda _: FORGETS_EPOCH, epoch_forgotten, missing),
    in_law("6 the permutations of other ranks", other_parts, lambda _: OWN_PERMUTATION, permuted_by_others, missing),
]


# Rule 12: the loop and the data disagree


def any_end(random: Random) -> Point | None:
    point = inside(random)
    return None if point is None else replace(point, ends=random.choice("ET"))


def loop_goes_on(point: Point) -> dict[int, int]:
    """The epoch's first samples are read again and as many of its last ones are not: min(c', S - c') B."""
    return histogram_of(
        point.epochs + up_to(point.read, point.samples) + up_to(point.samples - point.read, point.samples) - 1
    )


LOOP = {**RESTART, "last_batch": "short", "keeps_count": True}
RULE_12 = [
    exactly("12 the loop counts on", any_end, lambda _: LOOP, loop_goes_on, histogram),
    exactly("12 the same for parts", any_end, lambda _: {**LOOP, "partition": "strided"}, loop_goes_on, histogram),
]


# Rule 16: a checkpoint at an epoch's last step


def on_the_edge(random: Random) -> Point:
    point = even(random)
    epochs = point.epochs + 1
    return replace(point, epochs=epochs, checkpoints=(random.randrange(1, epochs) * point.steps,))


def whole_epoch_again(point: Point) -> tuple[dict[int, int], int]:
    return {point.epochs + 1: point.samples}, (point.epochs + 1) * point.steps


def nothing_trained(point: Point) -> tuple[dict[int, int], int]:
    return {point.epochs - 1: point.samples}, (point.epochs - 1) * point.steps


def sound(point: Point) -> tuple[dict[int, int], int]:
    return {point.epochs: point.samples}, point.epochs * point.steps


def histogram_and_steps(outcome, _: Point) -> tuple[dict[int, int], int]:
    return outcome.histogram, outcome.steps


RULE_16 = [
    exactly(name, on_the_edge, whole_or_parts(**base, epoch_edge=edge), closed, histogram_and_steps)
    for name, base, edge, closed in [
        ("16 it is of the old epoch", RESTART, "old", whole_epoch_again),
        ("16 it is of the new epoch", RESTART, "new", sound),
        ("16 a position, old", EXACT, "old", sound),
        ("16 it ends the new epoch", EXACT, "finished", nothing_trained),
    ]
]

RULES = [*RULE_4, *RULE_5, *RULE_6, *RULE_12, *RULE_16]
