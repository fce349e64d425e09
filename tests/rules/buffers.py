"""Rules 8 and 9: shuffle buffers that a checkpoint loses or holds."""

from dataclasses import replace
from math import lcm
from random import Random

import numpy as np

from rules.points import Point, damage, extra, histogram, net
from rules.rule import exactly, in_law


def over_shards(random: Random) -> Point:
    """Each worker has as many shards of as many whole batches, before the restart and after it; one restart inside."""
    before, after, workers = random.randint(1, 4), random.randint(1, 4), random.randint(1, 3)
    batch = random.randint(1, 3) * lcm(before, after)
    shards = lcm(before, after) * workers * random.randint(1, 2)
    size = lcm(batch // before, batch // after) * random.randint(2, 3)
    epochs = random.randint(1, 2)
    steps = shards * size // batch
    return Point(
        samples=shards * size,
        batch=batch,
        epochs=epochs,
        ranks=(before, after),
        checkpoints=(random.randrange(epochs) * steps + random.randrange(1, steps),),
        late=random.randrange(4),
        workers=workers,
        buffer=random.randint(1, 70),
        order="shard-shuffle",
        shards=shards,
        seed=random.randrange(1000),
    )


def same_ranks(random: Random) -> Point:
    point = over_shards(random)
    return replace(point, ranks=(point.before, point.before))


# How far a stream has pulled that has yielded y of n


def classic(y: int, n: int, buffer: int) -> int:
    return min(n, y + buffer)


def half_flush(y: int, n: int, buffer: int) -> int:
    flush = buffer - buffer // 2
    return min(n, buffer + (-(-y // flush) - 1) * flush)


def chunk(y: int, n: int, buffer: int) -> int:
    return min(n, -(-y // buffer) * buffer)


LOST = {
    "partition": "shards",
    "saves": "samples",
    "comes_back": "exact",
    "on_layout_change": "keep",
    "missing_state": "rank-0",
}
ONE_STREAM = {"partition": "global", "last_batch": "short", "saves": "samples", "comes_back": "exact"}


def lost(pulled):
    """The sum of pulled(y) - y over the workers that have yielded y of n, as each rank's take whole batches in turn."""

    def closed(point: Point) -> tuple[int, int]:
        taken = [-(-(point.into - worker) // point.workers) * batch_of(point) for worker in range(point.workers)]
        return 0, point.before * sum(pulled(y, samples_of(point), point.buffer) - y for y in taken if y > 0)

    return closed


def lost_once(point: Point) -> tuple[int, int]:
    """Ranks that share one stream lose one buffer."""
    return 0, classic(point.read, point.samples, point.buffer) - point.read


def again_and_again(random: Random) -> Point:
    """Two or three restarts, as far as there are batches left to read; y and n count from the last one."""
    point = same_ranks(random)
    state, step, stops = [(0, 0)] * point.workers, point.epoch * point.steps, []
    turn = 0
    for _ in range(random.randint(2, 3)):
        left = sum(-(-(samples_of(point) - begin) // batch_of(point)) for begin, _ in state)
        if left < 2:
            break
        done = random.randrange(1, left)
        state, turn = after_batches(point, state, turn, done)
        state = [(begin + classic(y, samples_of(point) - begin, point.buffer) if y else begin, 0) for begin, y in state]
        step += done
        stops.append(step)
    return replace(point, ranks=(point.before,) * (len(stops) + 1), checkpoints=tuple(stops))


def samples_of(point: Point) -> int:
    """Of each worker, n."""
    return point.samples // (point.before * point.workers)


def batch_of(point: Point) -> int:
    """Of each rank, b."""
    return point.batch // point.before


def after_batches(point: Point, workers: list, turn: int, batches: int) -> tuple[list, int]:
    """Where each worker's stream began and what it has yielded since, and whose turn it is: they deliver in turn."""
    workers = list(workers)
    while batches:
        begin, y = workers[turn]
        if begin + y < samples_of(point):
            workers[turn] = begin, min(y + batch_of(point), samples_of(point) - begin)
            batches -= 1
        turn = (turn + 1) % point.workers
    return workers, turn


def lost_again(point: Point) -> tuple[int, int]:
    workers, turn, step, gone = [(0, 0)] * point.workers, 0, point.epoch * point.steps, 0
    for stop in point.checkpoints:
        workers, turn = after_batches(point, workers, turn, stop - step)
        pulled = [classic(y, samples_of(point) - begin, point.buffer) if y else 0 for begin, y in workers]
        gone += sum(pulled) - sum(y for _, y in workers)
        workers = [(begin + more, 0) for (begin, _), more in zip(workers, pulled, strict=True)]
        step = stop
    return 0, point.before * gone


def behind(base: dict, **kind):
    def keys(point: Point) -> dict:
        parts = {"readers_per_rank": point.workers} if base["partition"] == "shards" else {}
        return {**base, **parts, "buffer": point.buffer, **kind}

    return keys


# On other ranks: what the buffers held, by its age


def held(y: int, n: int, buffer: int) -> np.ndarray:
    """The chance that a classic buffer still holds what it has pulled when y of n are out, float64[pulled].

    A sample of the first fill has stayed y times with 1 - 1/B; a later one came in for an earlier sample, and has
    stayed as often as something came out since. Once nothing comes in, what is left goes out in any order.
    """
    size = min(buffer, n)
    out = min(y, n - size)  # until the source was at its end
    came_in = np.maximum(np.arange(size + out) - size + 1, 0)
    stayed: np.ndarray = (1 - 1 / size) ** (out - came_in)
    return stayed * (n - y) / size if y > out else stayed


def places(point: Point, ranks: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each offset of the epoch the rank that reads it, and its local position there: int64[N] each."""
    size = point.samples // point.shards
    shard = np.arange(point.samples) // size
    return shard % ranks, shard // ranks * size + np.arange(point.samples) % size


def views_of_the_epoch(point: Point, saved: bool) -> tuple[np.ndarray, np.ndarray]:
    """The chance that each offset came out before the restart or in what the buffers held, and whether it does after.

    float64[N], bool[N]
    """
    y, n = point.into * point.batch // point.before, point.samples // point.before
    stays = held(y, n, point.buffer)
    rank, local = places(point, point.before)
    out = np.where(local < len(stays), 1 - np.append(stays, 0)[np.minimum(local, len(stays))], 0)
    if saved:  # who is left yields what its buffer held
        out = np.where((rank < point.after) & (local < len(stays)), 1, out)
    return out, places(point, point.after)[1] >= len(stays)


def other_ranks(random: Random) -> Point | None:
    """One worker a rank; on fewer ranks or more."""
    point = replace(over_shards(random), workers=1)
    return point if point.before != point.after and point.buffer > 1 else None


def fewer_ranks(random: Random) -> Point | None:
    point = other_ranks(random)
    return point if point is not None and point.before > point.after else None


def more_ranks(random: Random) -> Point | None:
    point = other_ranks(random)
    return point if point is not None and point.before < point.after else None


def extra_by_age(saved: bool):
    def moments(point: Point) -> tuple[float, None]:
        out, again = views_of_the_epoch(point, saved)
        return float(out[again].sum()), None

    return moments


def net_by_position(saved: bool):
    """extra - missing is certain: what came out before, and after, of the epoch's N."""

    def closed(point: Point) -> int:
        out, again = views_of_the_epoch(point, saved)
        return round(float(out.sum())) + int(again.sum()) - point.samples

    return closed


def a_buffer_for_each_new_rank(point: Point) -> tuple[int, int]:
    """Every new rank yields what rank 0's buffer held, once more; what nobody pulled below their position is lost."""
    y, n = point.into * point.batch // point.before, point.samples // point.before
    pulled = classic(y, n, point.buffer)
    begun, again = places(point, point.before)[1] < pulled, places(point, point.after)[1] >= pulled
    return (point.after - point.before) * (pulled - y), int((~begun & ~again).sum())


def every_sample(point: Point) -> dict[int, int]:
    return {point.epochs: point.samples}


SAVED = {"buffer_saved": True}
RULE_8 = [
    exactly("8 a classic buffer", same_ranks, behind(LOST), lost(classic), damage),
    exactly("8 half flushed", same_ranks, behind(LOST, buffer_kind="half-flush"), lost(half_flush), damage),
    exactly("8 a chunk", same_ranks, behind(LOST, buffer_kind="chunk"), lost(chunk), damage),
    exactly("8 a window", same_ranks, behind(LOST, buffer_kind="window"), every_sample, histogram),
    exactly("8 one stream for all ranks", same_ranks, behind(ONE_STREAM), lost_once, damage),
    exactly("8 two or three times", again_and_again, behind(LOST), lost_again, damage),
    in_law("8 by age on other ranks", other_ranks, behind(LOST), extra_by_age(saved=False), extra),
    exactly("8 in all on other ranks", other_ranks, behind(LOST), net_by_position(saved=False), net),
]
RULE_9 = [
    exactly("9 a saved buffer", same_ranks, behind(LOST, **SAVED), every_sample, histogram),
    exactly("9 half flushed", same_ranks, behind(LOST, buffer_kind="half-flush", **SAVED), every_sample, histogram),
    in_law("9 by age on fewer ranks", fewer_ranks, behind(LOST, **SAVED), extra_by_age(saved=True), extra),
    exactly("9 in all on fewer ranks", fewer_ranks, behind(LOST, **SAVED), net_by_position(saved=True), net),
    exactly("9 on more ranks", more_ranks, behind(LOST, **SAVED), a_buffer_for_each_new_rank, damage),
]

RULES = [*RULE_8, *RULE_9]
