"""The engine's loaders on their way through lives of a job: what the literal loader is compared with."""

from itertools import pairwise

import numpy as np

from clustersim.history import History, Refused
from clustersim.loaders.follow import Follower
from clustersim.loaders.parts import Parts
from clustersim.scenario.loader import Loader
from literal.legs import leg_of


def parts_of(keys):
    """The parts that a `[loader]` table composes. Raises ValueError where a scenario may not say them together."""
    said = Loader.model_validate(keys)
    last = said.last_batch or ("span" if said.partition == "global" else "short")
    parts = said.model_dump(exclude={"preset", "last_batch", "reshuffle_lasts", "carry"})
    return Parts(**parts, last_batch=last, reshuffle_lasts=said.reshuffle_lasts or "epoch")


def live(loader, rows):
    """What was read; the lives that came about; the reason if the next one was refused, else "".

    Each of `rows` is a life (ranks, start, stop, read), which ends earlier where the loader does.
    """
    follower, lived, refused = Follower(loader), [], ""
    for ranks, start, stop, read in rows:
        if lived and start > lived[-1][2]:
            break
        has = follower.begin(start, ranks)
        if isinstance(has, Refused):
            refused = has.reason
            break
        last = stop if has is None else min(stop, start + has)
        lived.append((ranks, start, last, read if last == stop and (has is None or has > stop - start) else last))
        follower.end(*lived[-1][2:])
    history = History()
    kept = [row[1] for row in lived[1:]] + [rows[len(lived)][1] if refused else lived[-1][2]]
    for number, row in enumerate(lived):
        history.legs.append(leg_of(number, *row, kept[number]))
    return follower.reads(history), lived, refused


def steps_of(loader, reads, lived):
    """The steps of the final model, each a list of sample ids."""
    steps = {}
    for row, stretch in zip(lived, reads.kept, strict=True):
        for step in range(stretch.step, stretch.step + stretch.steps):
            steps[step] = np.concatenate(loader.batch_at(stretch, step, row[0])).tolist()
    return [steps[step] for step in sorted(steps)]


def shards_of(order, samples):
    """(family, epoch) -> the shards in reading order, as lists of sample ids; one list where there are no shards."""

    def shards(family, epoch):
        ids = order.samples_at(family, epoch, np.arange(samples)).tolist()
        if not hasattr(order, "block_begins"):
            return [ids]
        begins = order.block_begins(family, epoch).tolist()
        return [ids[a:b] for a, b in pairwise(begins)]

    return shards


def draws_of(order):
    """(family, epoch, stream) -> the shards that it draws, as lists of sample ids, until they are a whole epoch."""

    def shards(family, epoch, stream):
        begins, sizes = order.drawn(family, epoch, stream, order.size)
        return [list(range(a, a + n)) for a, n in zip(begins.tolist(), sizes.tolist(), strict=True)]

    return shards
