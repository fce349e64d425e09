"""Rules 10, 11, 14 and 15: queues of shards, what is left divided anew, shards drawn at random, tails."""

from dataclasses import replace
from math import lcm
from random import Random

import numpy as np

from rules.points import Point, damage, extra, histogram
from rules.rule import exactly, in_law

# Rule 10: ranks take shards from a queue


def queued(unfinished: str):
    def make(random: Random) -> Point | None:
        """Ranks in step: in each epoch, and after the restart, there are as many whole batches for each."""
        before, after, size = random.randint(1, 4), random.randint(1, 4), random.randint(2, 12)
        batch, shards = lcm(before, after) * random.randint(1, 3), lcm(before, after) * random.randint(2, 5)
        if shards * size % batch:
            return None
        epochs, steps = random.randint(1, 3), shards * size // batch
        checkpoint = random.randrange(epochs) * steps + random.randrange(1, max(2, steps))
        point = Point(
            shards * size, batch, epochs, (before, after), (checkpoint,), shards=shards, order="shard-shuffle"
        )
        each = point.read // before
        taken = each // size if unfinished == "again" else -(-each // size)
        left = shards - before * taken
        if not point.into or before * -(-each // size) > shards or left % after or left * size % batch:
            return None
        return replace(point, order="shard-shuffle", seed=random.randrange(1000))

    return make


def queue_again(point: Point) -> tuple[int, int]:
    """Each rank's shard in progress is read again, whole."""
    return point.before * (point.read // point.before % (point.samples // point.shards)), 0


def queue_skipped(point: Point) -> tuple[int, int]:
    """What is unread of each rank's shard in progress is lost."""
    return 0, point.before * (-(point.read // point.before) % (point.samples // point.shards))


QUEUE = {"partition": "queue", "saves": "samples", "comes_back": "exact", "on_layout_change": "keep"}
RULE_10 = [
    exactly("10 shards in progress again", queued("again"), lambda _: QUEUE, queue_again, damage),
    exactly("10 shards in progress skipped", queued("skip"), lambda _: {**QUEUE, "unfinished_shard": "skip"},
            queue_skipped, damage),
]  # fmt: skip


# Rule 11: what is left is divided anew


def to_divide(random: Random) -> Point | None:
    """One epoch of any size, on other ranks after a restart."""
    before, after, workers = random.randint(1, 5), random.randint(1, 5), random.randint(1, 3)
    batch, samples = lcm(before, after) * random.randint(1, 2), random.randint(20, 300)
    fewest = samples // (before * workers) // (batch // before) * workers  # steps that every rank has
    if before == after or fewest < 2:
        return None
    return Point(samples, batch, 1, (before, after), (random.randrange(1, fewest),), workers=workers)


def cut_to_whole_batches(point: Point) -> tuple[bool, int, int]:
    """Refused where a rank has read more than its new share; else what is left is cut to a multiple of R1 W b.

    What made no whole batch of a worker at first is not among it.
    """
    if point.read // point.before > point.samples // point.after:
        return True, 0, point.samples - point.read
    readers, batch = point.before * point.workers, point.batch // point.before
    each, longer = divmod(point.samples, readers)
    whole = sum((each + (reader < longer)) // batch * batch for reader in range(readers))
    return False, 0, point.samples - whole + (whole - point.read) % (point.batch * point.workers)


def redivide(point: Point) -> dict:
    return {
        "partition": "contiguous",
        "readers_per_rank": point.workers,
        "last_batch": "drop",
        "saves": "samples",
        "comes_back": "exact",
        "on_layout_change": "redivide",
    }


def refusal_and_damage(outcome, point: Point) -> tuple[bool, int, int]:
    return bool(outcome.refused), *outcome.damage(point.epochs)


def to_round(random: Random) -> Point | None:
    """One epoch in whole batches, that are larger or smaller after the restart, as each rank takes as much."""
    before, after, each = random.randint(1, 6), random.randint(1, 6), random.randint(1, 6)
    batch, steps = before * each, random.randint(2, 40)
    if before == after:
        return None
    return Point(batch * steps, batch, 1, (before, after), (random.randrange(1, steps),))


def rounded_down(point: Point) -> tuple[bool, int, int]:
    """The position is rounded down to R1 b, and what is left from there on cut to a multiple of it."""
    if point.read // point.before > point.samples // point.after:
        return True, 0, point.samples - point.read
    whole = point.batch // point.before * point.after
    again = point.read % whole
    return False, again, (point.samples - point.read + again) % whole


def redivide_constant(point: Point) -> dict:
    return {**redivide(point), "rank_batch": "constant"}


RULE_11 = [
    exactly("11 divided anew", to_divide, redivide, cut_to_whole_batches, refusal_and_damage, 500),
    exactly("11 rounded down", to_round, redivide_constant, rounded_down, refusal_and_damage, 500),
]


# Rule 14: shards drawn with replacement


def drawn(random: Random) -> Point:
    before, after = random.randint(1, 4), random.randint(1, 4)
    batch, shards, size = lcm(before, after) * random.randint(1, 2), random.randint(2, 30), random.randint(1, 9)
    steps, epochs = -(-shards * size // batch) + 1, random.randint(1, 3)
    samples = steps * batch  # the last shard holds what is over
    samples = lcm(shards, batch) * -(-samples // lcm(shards, batch))
    point = Point(samples, batch, epochs, (before, after), (1,), order="with-replacement", shards=shards)
    return replace(point, checkpoints=(random.randrange(1, epochs * point.steps),), seed=random.randrange(1000))


def times_drawn(point: Point) -> np.ndarray:
    """Shards that were drawn and read as far as each place in a shard, int64[k]; an epoch is drawn by each rank anew.

    The epoch of the checkpoint is begun again, so what had been read of it comes on top of E epochs.
    """
    size, old, new = point.samples // point.shards, point.before, point.after
    stretches = [(old, point.samples // old)] * point.epoch + [(old, point.read // old)]
    stretches += [(new, point.samples // new)] * (point.epochs - point.epoch)
    place = np.arange(size)
    return sum(readers * (length // size + (place < length % size)) for readers, length in stretches)


def never_drawn(point: Point) -> tuple[float, None]:
    """A shard of n is none of D draws with the chance (1 - 1/n)^D, which is e^-E for many shards."""
    return float((point.shards * (1 - 1 / point.shards) ** times_drawn(point)).sum()), None


def drawn_too_often(point: Point) -> tuple[float, None]:
    """The mean of max(0, X - E), X binomial: D draws of a chance 1/n; X - E and the mean of max(0, E - X) make it."""
    n, draws = point.shards, times_drawn(point)
    fewer, chance = np.zeros(len(draws)), (1 - 1 / n) ** draws  # that it was drawn x times
    for x in range(point.epochs):
        fewer += (point.epochs - x) * chance
        chance = chance * (draws - x) / (x + 1) / (n - 1)
    return float((n * (draws / n - point.epochs + fewer)).sum()), None


def unseen(outcome, _: Point) -> int:
    return int((outcome.seen == 0).sum())


DRAWS = {"partition": "shards", "saves": "epoch", "comes_back": "reshuffle-epoch"}
RULE_14 = [
    in_law("14 never drawn", drawn, lambda _: DRAWS, never_drawn, unseen),
    in_law("14 drawn too often", drawn, lambda _: DRAWS, drawn_too_often, extra),
]


# Rule 15: tails, without any restart


def undisturbed(random: Random) -> Point:
    """Any sizes, each epoch in the order of the samples, so that the same ones are padded or dropped in each."""
    ranks = random.randint(1, 7)
    batch = ranks * random.randint(1, 4)
    return Point(random.randint(2 * batch, 200), batch, random.randint(1, 4), (ranks,), (), order="sequential")


def in_any_order(random: Random) -> Point:
    return replace(undisturbed(random), order=random.choice(["shuffle", "shuffle-once"]), seed=random.randrange(1000))


def padded(unit):
    """The first -N mod unit samples are read once more in each epoch."""

    def closed(point: Point) -> dict[int, int]:
        more = -point.samples % unit(point)
        return {k: v for k, v in {point.epochs: point.samples - more, 2 * point.epochs: more}.items() if v}

    return closed


def dropped(unit):
    """The last N mod unit samples are never read."""

    def closed(point: Point) -> dict[int, int]:
        gone = point.samples % unit(point)
        return {k: v for k, v in {0: gone, point.epochs: point.samples - gone}.items() if v}

    return closed


def ranks(point: Point) -> int:
    return point.before


def batches(point: Point) -> int:
    return point.batch


def others_padded(point: Point) -> tuple[int, int]:
    return point.epochs * (-point.samples % point.before), 0


def others_dropped(point: Point) -> tuple[int, int]:
    return 0, point.epochs * (point.samples % point.batch)


def left_uneven(point: Point) -> tuple[int, int]:
    """The first N mod R ranks have a sample more, and read it if it fits into a last short batch of the others."""
    shortest, more = divmod(point.samples, point.before)
    return 0, point.epochs * (0 if shortest % (point.batch // point.before) else more)


def of_any_width(random: Random) -> Point:
    """Ranks that do not divide the batch, so that the first take one sample more; restarted once, on the same ranks."""
    ranks = random.randint(1, 7)
    point = Point(random.randint(40, 200), ranks + random.randint(0, 12), random.randint(1, 3), (ranks, ranks), (1,))
    steps = min(-(-share // width) for share, width in widths(point))
    checkpoint = random.randrange(point.epochs) * steps + random.randrange(1, max(2, steps))
    return replace(point, checkpoints=(checkpoint,), late=random.randrange(3), order="sequential")


def widths(point: Point) -> list[tuple[int, int]]:
    """Of each rank: its samples of the epoch, every R-th, and those of its batch."""
    n, batch, ranks = point.samples, point.batch, point.before
    return [(n // ranks + (r < n % ranks), batch // ranks + (r < batch % ranks)) for r in range(ranks)]


def first_to_run_out(point: Point) -> dict[int, int]:
    """An epoch ends for all ranks in the step after the one in which the first has read all that it has."""
    steps = min(-(-share // width) for share, width in widths(point))
    read = sum(min(share, steps * width) for share, width in widths(point))
    return {k: v for k, v in {0: point.samples - read, point.epochs: read}.items() if v}


def canonical_runs(random: Random) -> Point:
    """`every` canonical runs of one length."""
    point, runs = undisturbed(random), random.randint(1, 5)
    samples = runs * -(-point.samples // runs)
    return replace(point, samples=samples, every=runs)


def runs_padded(point: Point) -> tuple[int, int]:
    return point.epochs * point.every * (-(point.samples // point.every) % point.before), 0


def strided(**keys):
    return lambda _: {"partition": "strided", "saves": "samples", "comes_back": "exact", **keys}


def canonical(point: Point) -> dict:
    return {"canonical": point.every, "last_batch": "short", "saves": "samples", "comes_back": "exact"}


RULE_15 = [
    exactly("15 padded to ranks", undisturbed, strided(uneven="pad"), padded(ranks), histogram),
    exactly("15 padded to batches", undisturbed, strided(last_batch="pad"), padded(batches), histogram),
    exactly("15 dropped by ranks", undisturbed, strided(uneven="drop"), dropped(ranks), histogram),
    exactly("15 dropped by batches", undisturbed, strided(last_batch="drop"), dropped(batches), histogram),
    exactly("15 others padded", in_any_order, strided(uneven="pad"), others_padded, damage),
    exactly("15 others dropped", in_any_order, strided(last_batch="drop"), others_dropped, damage),
    exactly("15 left uneven", in_any_order, strided(), left_uneven, damage),
    exactly("15 ranks of two widths", of_any_width, strided(), first_to_run_out, histogram),
    exactly("15 canonical runs", canonical_runs, canonical, runs_padded, damage),
]

RULES = [*RULE_10, *RULE_11, *RULE_14, *RULE_15]
