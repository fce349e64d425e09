"""A scenario's poison: what it does to a run whose order comes back, and the account of what is not trained on."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from clustersim.account import Draws
from clustersim.data.corpus import Corpus
from clustersim.data.orders import order_of
from clustersim.loaders.poison import Hunt, Poison, Policy, hunt
from clustersim.scenario import Scenario

_MOST_CRASHES = 1_000_000


@lru_cache(maxsize=8)
def hunt_of(scenario: Scenario, seed: int, replication: int) -> Hunt | None:
    """What poison does to a replication until its last step, other failures apart; None if there is none."""
    stated, sizes = scenario.poison, scenario.sizes
    if stated is None:
        return None
    order = order_of(scenario.data.order, Corpus(sizes.samples, sizes.shards), seed, replication)
    steps = -(-sizes.limit_ns // sizes.full_step_ns) if sizes.steps is None else sizes.steps
    policy = Policy(stated.retries, stated.act)
    poison = poison_of(scenario, seed, replication)
    return hunt(poison, order, sizes.batch, steps, every=1, policy=policy, limit=_MOST_CRASHES)


def poison_of(scenario: Scenario, seed: int, replication: int) -> Poison:
    """The poison of a replication; one sample that kills alone where the scenario has none."""
    stated, size = scenario.poison, scenario.sizes.samples
    if stated is None:
        return Poison.share(1 / size, size, seed, replication)
    if stated.samples is not None:
        return Poison(tuple(sorted(set(stated.samples))), stated.together)
    assert stated.share is not None
    return Poison.share(stated.share, size, seed, replication, stated.together)


def without(draws: Draws, size: int, taken_out: Sequence[tuple[int, int]]) -> Draws:
    """Draws of a global sequence in the run's own order, but for some runs [from, to) of its positions.

    Counted by the law of the orders, what two epochs lack are other samples; counted sample by sample, those that they
    are.
    """
    for low, high in taken_out:
        while low < high:
            epoch, start = divmod(low, size)
            stop = min(size, start + high - low)
            draws = _cut(draws, size, epoch, start, stop)
            low += stop - start
    return draws


def _cut(draws: Draws, size: int, epoch: int, start: int, stop: int) -> Draws:
    """Draws without the offsets [start, stop) of an epoch, in step order."""
    hit = (draws.epoch <= epoch) & (epoch < draws.epoch + draws.epochs) & (draws.start < stop) & (draws.stop > start)
    if not hit.any():
        return draws
    rows = []
    for row in np.flatnonzero(hit).tolist():
        first, epochs = int(draws.epoch[row]), int(draws.epochs[row])
        low, high = int(draws.start[row]), int(draws.stop[row])
        for begin, count, piece_low, piece_high in (
            (first, epoch - first, low, high),
            (epoch, 1, low, start),
            (epoch, 1, stop, high),
            (epoch + 1, first + epochs - epoch - 1, low, high),
        ):
            if count > 0 and piece_low < piece_high:
                per_step = int(draws.per_step[row])
                passed = int(draws.lead[row]) + (begin - first) * size + piece_low - low
                step = int(draws.step[row]) + passed // per_step
                family = int(draws.family[row])
                rows.append((family, begin, count, piece_low, piece_high, step, passed % per_step, per_step))
    pieces = Draws(*np.array(rows, dtype=np.int64).reshape(-1, 8).T.copy())
    merged = Draws.concat([draws.select(~hit), pieces])
    return merged.select(np.lexsort((merged.lead, merged.step)))
