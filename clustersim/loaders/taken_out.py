"""A scenario's poison: what it does to a run, and the account of what is not trained on."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from clustersim.account import Draws
from clustersim.data.corpus import Corpus
from clustersim.data.orders import order_of
from clustersim.history import History
from clustersim.loaders.parts import Loader
from clustersim.loaders.poison import Hunt, Poison, Policy, hunt
from clustersim.loaders.sequence import SequenceLoader
from clustersim.loaders.wandering import CAUSE, Found, Wandering
from clustersim.scenario import Scenario
from clustersim.scenario.sizes import Sizes

_MOST_CRASHES = 1_000_000


def wanders(scenario: Scenario) -> bool:
    """Whether a scenario has poison, and crashes at other steps after each restart."""
    return scenario.poison is not None and scenario.loader.comes_back != "exact"


def follower_of(scenario: Scenario, loader: Loader, seed: int, replication: int) -> Wandering:
    """What the clock asks where there is poison."""
    assert isinstance(loader, SequenceLoader)  # no other is allowed beside poison
    poison = poison_of(scenario, seed, replication)
    return Wandering(loader, poison, policy_of(scenario), _steps_at_most(scenario.sizes))


def found_in(history: History, scenario: Scenario, loader: Loader, seed: int, replication: int) -> Found | None:
    """What poison did to a finished run, and what was done about it; None if there is none.

    Legs that poison ended tell it. A replayed history has none: where the order comes back, something was done there
    about all the poison that it passed.
    """
    if scenario.poison is None:
        return None
    if wanders(scenario) or any(leg.ended_by == CAUSE for leg in history.legs):
        return follower_of(scenario, loader, seed, replication).found(history)
    hunted = hunt_of(scenario, seed, replication)
    assert hunted is not None
    return Found(tuple(step for step in hunted.acted_at if step < history.legs[-1].kept), hunted.taken_out)


@lru_cache(maxsize=8)
def hunt_of(scenario: Scenario, seed: int, replication: int) -> Hunt | None:
    """What poison does to a replication whose order comes back, until its last step, other failures apart.

    None if there is none.
    """
    if scenario.poison is None:
        return None
    sizes = scenario.sizes
    order = order_of(scenario.data.order, Corpus(sizes.samples, sizes.shards), seed, replication)
    poison, steps = poison_of(scenario, seed, replication), _steps_at_most(sizes)
    return hunt(poison, order, sizes.batch, steps, every=1, policy=policy_of(scenario), limit=_MOST_CRASHES)


def _steps_at_most(sizes: Sizes) -> int:
    """Steps that the run has, and that its time allows."""
    allowed = -(-sizes.limit_ns // sizes.full_step_ns)
    return allowed if sizes.steps is None else min(sizes.steps, allowed)


def policy_of(scenario: Scenario) -> Policy:
    """What is done about poison; where the scenario has none, a batch is skipped after three retries."""
    return Policy() if scenario.poison is None else Policy(scenario.poison.retries, scenario.poison.act)


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
