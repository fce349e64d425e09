"""Rules 1 to 3 and 7: a position that is saved, and what a restart makes of it."""

from dataclasses import replace
from random import Random

import numpy as np

from rules.points import Point, damage, even, histogram, histogram_of, net, up_to
from rules.rule import exactly

EXACT = {"saves": "samples", "comes_back": "exact"}
STRIDED = {**EXACT, "partition": "strided", "on_layout_change": "keep", "missing_state": "rank-0"}


def whole_or_parts(**base):
    """The composition for one sequence of all ranks, or for parts of the ranks."""

    def keys(point: Point) -> dict:
        return {**base, **({"partition": "strided"} if point.seed % 2 else {})}

    return keys


# Rule 1: a global position


def uneven(random: Random) -> Point:
    """Any sizes: batches that do not divide the epoch, ranks that do not divide the batch."""
    samples, ranks = random.randint(20, 200), (random.randint(1, 6), random.randint(1, 6))
    batch, epochs = random.randint(max(ranks), 20), random.randint(1, 4)
    point = Point(samples, batch, epochs, ranks, (1,), random.randrange(4), random.choice("ET"))
    return replace(point, checkpoints=(random.randrange(1, epochs * point.steps + 1),), seed=random.randrange(1000))


def whole_passes(point: Point) -> dict[int, int]:
    """T B positions of one endless sequence."""
    steps = point.epochs * (point.samples if point.ends == "E" else point.steps * point.batch) // point.batch
    return histogram_of(up_to(steps * point.batch, point.samples))


def short_dropped_padded(random: Random) -> Point:
    return replace(uneven(random), ends="E", order=random.choice(["shuffle", "sequential", "shuffle-once"]))


def all_once(point: Point) -> tuple[int, int]:
    return 0, 0


def tail_dropped(point: Point) -> tuple[int, int]:
    return 0, point.epochs * (point.samples % point.batch)


def tail_padded(point: Point) -> tuple[int, int]:
    return point.epochs * (-point.samples % point.batch), 0


SKIPS = {"saves": "batches", "comes_back": "exact"}
RULE_1 = [
    exactly("1 a position in samples", uneven, lambda _: EXACT, whole_passes, histogram),
    exactly("1 what is unread in a new order", uneven, lambda _: {**EXACT, "comes_back": "remainder"}, whole_passes,
            histogram),
    exactly("1 batches skipped", short_dropped_padded, lambda _: {**SKIPS, "last_batch": "short"}, all_once, damage),
    exactly("1 a tail dropped", short_dropped_padded, lambda _: {**SKIPS, "last_batch": "drop"}, tail_dropped, damage),
    exactly("1 a tail padded", short_dropped_padded, lambda _: {**SKIPS, "last_batch": "pad"}, tail_padded, damage),
    exactly("1 parts that share the position of all", even,
            lambda _: {**EXACT, "partition": "strided", "on_layout_change": "reshard"}, all_once, damage),
]  # fmt: skip


# Rule 2: a count of steps, in batches of today's ranks


def any_batches(random: Random) -> Point:
    """Each rank's batch is constant, so that the global batch follows the ranks; the epoch need not divide."""
    before, after, each = random.randint(1, 6), random.randint(1, 6), random.randint(1, 4)
    batch = before * each
    samples = random.randint(2 * max(batch, after * each), 200)
    checkpoint = random.randint(1, samples // batch)  # in epoch 0, whose batches are whole until here
    return Point(samples, batch, random.randint(1, 4), (before, after), (checkpoint,), order="sequential")


def steps_of_today(point: Point) -> dict[int, int]:
    n, after = point.samples, point.batch // point.before * point.after
    trained = point.checkpoints[0]
    epoch, skip = divmod(trained, -(-n // after))
    seen = up_to(trained * point.batch, n)
    if epoch < point.epochs:
        padded = (point.epochs - epoch) * up_to(-n % after, n)
        seen = seen + point.epochs - up_to(epoch * n + skip * after, n) + padded
    return histogram_of(seen)


COUNTS_STEPS = {"saves": "steps", "comes_back": "exact", "rank_batch": "constant", "last_batch": "pad"}
RULE_2 = [exactly("2 steps of today's batches", any_batches, lambda _: COUNTS_STEPS, steps_of_today, histogram, 500)]


# Rule 3: a position for each rank


def resumed(point: Point) -> int:
    """Where in the epoch ranks go on that were each at their share of c'B: min(N, c'B R1 / R0)."""
    return min(point.samples, point.read // point.before * point.after)


def own_position(point: Point) -> tuple[int, int]:
    return max(0, point.read - resumed(point)), max(0, resumed(point) - point.read)


def in_its_budget(random: Random) -> Point | None:
    """In whole batches of today's ranks."""
    point = even(random, ends="T", order=random.choice(["sequential", "shuffle-once"]))
    return point if resumed(point) % point.batch == 0 else None


def own_position_in_its_budget(point: Point) -> dict[int, int]:
    """All epochs read in one order: what is read again is pushed out at the end, what is passed over is made up."""
    n, start = point.samples, point.epoch * point.samples
    end = point.epochs * n - point.read + resumed(point)
    return histogram_of(up_to(start + point.read, n) - up_to(start + resumed(point), n) + up_to(end, n))


def endless(random: Random) -> Point:
    return even(random, ends="T", order="sequential")


def endless_position(point: Point) -> dict[int, int]:
    """The total c counts, not c': positions [0, cB), then as many as are left from cB R1 / R0 on."""
    read = point.checkpoints[0] * point.batch
    begin = read // point.before * point.after
    rest = point.epochs * point.samples - read
    seen = up_to(read, point.samples) + up_to(begin + rest, point.samples) - up_to(begin, point.samples)
    return histogram_of(seen)


def with_snapshots(random: Random) -> Point:
    return even(random, every=random.randint(2, 5))


def snapshot_position(point: Point) -> tuple[int, int]:
    """d batches since the last snapshot are passed over in today's batches: (c' - d) B R1 / R0 + d B."""
    since = point.into % point.every
    begin = (point.into - since) * point.batch // point.before * point.after + since * point.batch
    begin = min(begin, point.samples)
    return max(0, point.read - begin), max(0, begin - point.read)


def runs_of_the_epoch(point: Point) -> tuple[int, int]:
    """Parts that are runs: offset o was read if o mod N / R0 < c'B / R0, and is again if o mod N / R1 is not."""
    offset, local = np.arange(point.samples), point.read // point.before
    seen = (offset % (point.samples // point.before) < local).astype(int)
    seen += offset % (point.samples // point.after) >= local
    return int((seen == 2).sum()), int((seen == 0).sum())


def own_position_net(point: Point) -> int:
    return point.read - resumed(point)


OWN_PART = {**STRIDED, "partition": "contiguous", "permutes": "part"}
RULE_3 = [
    exactly("3 a position of each rank", even, lambda _: STRIDED, own_position, damage),
    exactly("3 the same in its budget", in_its_budget, lambda _: STRIDED, own_position_in_its_budget, histogram),
    exactly("3 an endless stream", endless, lambda _: {**STRIDED, "repeats": 0}, endless_position, histogram),
    exactly("3 snapshots", with_snapshots, lambda p: {**STRIDED, "snapshot_every": p.every}, snapshot_position, damage),
    exactly("3 runs", even, lambda _: {**STRIDED, "partition": "contiguous"}, runs_of_the_epoch, damage),
    exactly("3 parts permuted alone", even, lambda _: OWN_PART, own_position_net, net),
]


# Rule 7: a sample counts as read when it is fetched


def fetching(random: Random) -> Point:
    return even(random, prefetch=random.randint(1, 9))


def fetched_ahead(point: Point) -> tuple[int, int]:
    return 0, min(point.prefetch, point.steps - point.into) * point.batch if point.into else 0


def fetched_by_each(point: Point) -> tuple[int, int]:
    """W q B / R0 more than each rank has trained, then the rule of a position of each rank."""
    ahead = min(point.prefetch, point.steps - point.into) if point.into else 0
    begin = min(point.samples, (point.into + ahead) * point.batch // point.before * point.after)
    return max(0, point.read - begin), max(0, begin - point.read)


def issued(base: dict):
    return lambda point: {**base, "counted_at": "issued", "prefetch": point.prefetch}


RULE_7 = [
    exactly("7 fetched ahead of all", fetching, issued(EXACT), fetched_ahead, damage),
    exactly("7 fetched ahead of each rank", fetching, issued(STRIDED), fetched_by_each, damage),
]


RULES = [*RULE_1, *RULE_2, *RULE_3, *RULE_7]
