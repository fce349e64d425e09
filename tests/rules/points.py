"""Where a rule is asked: one restart of a small job, and what its loader's final model saw."""

from dataclasses import dataclass, replace
from math import lcm
from random import Random
from typing import NamedTuple

import numpy as np
from literal.engine import live, parts_of

from clustersim import streams
from clustersim.account import Ledger, count_identity
from clustersim.data.corpus import Corpus
from clustersim.data.orders import order_of
from clustersim.loaders.follow import Reads, plan
from clustersim.loaders.parts import Loader, count_reads
from clustersim.loaders.returning import ReaderLoader
from clustersim.loaders.sequence import SequenceLoader

NEVER = 2**40  # steps


@dataclass(frozen=True)
class Point:
    """A job of `epochs` epochs that is restarted once or more, each time on other ranks or on the same."""

    samples: int
    batch: int
    epochs: int
    ranks: tuple[int, ...]  # at first, and after each restart
    checkpoints: tuple[int, ...]  # the steps that the restarts come from
    late: int = 0  # steps from a checkpoint to the crash
    ends: str = "E"  # after its epochs, or ("T") after the steps of as many epochs without a restart
    workers: int = 1
    prefetch: int = 0
    buffer: int = 0
    every: int = 1  # batches from snapshot to snapshot
    order: str = "shuffle"
    shards: int = 1
    seed: int = 0

    @property
    def steps(self) -> int:
        """Whole batches of an epoch, S."""
        return self.samples // self.batch

    @property
    def before(self) -> int:
        """Ranks before the (first) restart."""
        return self.ranks[0]

    @property
    def after(self) -> int:
        """Ranks at the end."""
        return self.ranks[-1]

    @property
    def into(self) -> int:
        """c': batches of its epoch that were delivered at the checkpoint."""
        return self.checkpoints[0] % self.steps

    @property
    def read(self) -> int:
        """Samples of its epoch that were delivered at the checkpoint, c'B."""
        return self.into * self.batch

    @property
    def epoch(self) -> int:
        """The epoch that the checkpoint lies in."""
        return self.checkpoints[0] // self.steps


class Outcome(NamedTuple):
    """Views of each sample in the final model, int64[N]; the steps it took; and the reason if the loader refused."""

    seen: np.ndarray
    steps: int
    refused: str = ""

    @property
    def histogram(self) -> dict[int, int]:
        """{times seen: samples}."""
        times, samples = np.unique(self.seen, return_counts=True)
        return dict(zip(times.tolist(), samples.tolist(), strict=True))

    def damage(self, epochs: int) -> tuple[int, int]:
        """Extra and missing views against each sample once an epoch."""
        return int(np.maximum(self.seen - epochs, 0).sum()), int(np.maximum(epochs - self.seen, 0).sum())


def model_of(point: Point, keys: dict) -> Loader:
    """The loader that a `[loader]` table composes, over the point's data."""
    parts = parts_of(keys)
    order = order_of(point.order, Corpus(point.samples, point.shards), point.seed, 0)
    epochs = point.epochs if point.ends == "E" else None
    if parts.last_batch == "span":
        return SequenceLoader(order, point.batch, parts, epochs)
    return ReaderLoader(order, point.batch, parts, epochs, point.before)


def lived(point: Point, keys: dict) -> tuple[Loader, Reads, int, str]:
    """The point's job, without a clock: the loader, what was read, the steps that it took, the reason of a refusal."""
    loader = model_of(point, keys)
    end = NEVER if point.ends == "E" else point.epochs * point.steps
    stops = [*(checkpoint + point.late for checkpoint in point.checkpoints), end]
    starts = [0, *point.checkpoints]
    rows = [(ranks, start, stop, stop) for ranks, start, stop in zip(point.ranks, starts, stops, strict=True)]
    reads, lives, refused = live(loader, rows)
    assert refused or len(lives) == len(rows), "the point's checkpoint lies behind the loader's end"
    return loader, reads, starts[len(lives)] if refused else lives[-1][2], refused


def play(point: Point, keys: dict) -> Outcome:
    """What the final model of the point's job saw with the loader of a `[loader]` table."""
    loader, reads, steps, refused = lived(point, keys)
    seen, _ = loader.draws(reads.kept)
    return Outcome(count_identity(loader.spaces, seen, seen).seen, steps, refused)


def by_interval(point: Point, keys: dict) -> Ledger:
    """The ledger of the point's job against the plan, by intervals."""
    loader, reads, steps, _ = lived(point, keys)
    to_count = loader.reads_to_count(plan(loader, point.before, steps), reads.kept)
    return count_reads(loader.spaces_to_count, to_count, streams.generator(point.seed, 0, "account"))


def play_by_interval(point: Point, keys: dict) -> Outcome:
    """`play`, with views in the order in which the ledger of intervals tells them."""
    _, _, steps, refused = lived(point, keys)
    table = by_interval(point, keys).table
    return Outcome(table.seen.repeat(table.samples), steps, refused)


def ledgers(point: Point, keys: dict) -> tuple[Ledger, Ledger] | None:
    """The ledger of a count of each sample, and that of intervals; None where there are no intervals to count."""
    loader, reads, steps, _ = lived(point, keys)
    if loader.spaces_to_count.law == "other":
        return None
    planned = plan(loader, point.before, steps)
    by_sample = count_identity(loader.spaces, loader.draws(planned)[0], loader.draws(reads.kept)[0]).ledger()
    return by_sample, by_interval(point, keys)


def even(random: Random, **changes) -> Point:
    """A job whose batches divide its epochs, and whose ranks, before and after, divide its batches."""
    before, after = random.randint(1, 6), random.randint(1, 6)
    batch, steps, epochs = lcm(before, after) * random.randint(1, 3), random.randint(2, 14), random.randint(1, 4)
    return Point(
        samples=batch * steps,
        batch=batch,
        epochs=epochs,
        ranks=(before, after),
        checkpoints=(random.randrange(1, epochs * steps),),
        late=random.randrange(4),
        seed=random.randrange(1000),
        **changes,
    )


def damage(outcome: Outcome, point: Point) -> tuple[int, int]:
    return outcome.damage(point.epochs)


def histogram(outcome: Outcome, _: Point) -> dict[int, int]:
    return outcome.histogram


def histogram_of(seen: np.ndarray) -> dict[int, int]:
    """{times seen: samples} of views int64[N]."""
    return Outcome(seen, 0).histogram


def up_to(position: int, samples: int) -> np.ndarray:
    """How often each offset is read by whoever reads the positions [0, position), int64[N]."""
    return position // samples + (np.arange(samples) < position % samples)


def extra(outcome: Outcome, point: Point) -> int:
    return outcome.damage(point.epochs)[0]


def missing(outcome: Outcome, point: Point) -> int:
    return outcome.damage(point.epochs)[1]


def net(outcome: Outcome, point: Point) -> int:
    extra, missing = outcome.damage(point.epochs)
    return extra - missing


def within_one_epoch(random: Random) -> Point:
    """Two or three restarts while the model goes through one epoch, on the same or other ranks."""
    point = even(random)
    while point.steps < 4:
        point = even(random)
    inside = sorted(random.sample(range(1, point.steps), random.randint(2, 3)))
    start = random.randrange(point.epochs) * point.steps
    ranks = (point.before, *(random.choice(point.ranks) for _ in inside))
    return replace(point, ranks=ranks, checkpoints=tuple(start + step for step in inside))
