"""The workers of a rank take turns: each delivers a whole batch, those that have none left are passed over."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def turns(left: Ints, turn: Ints, batches: int | Ints) -> tuple[Ints, Ints]:
    """How many of the next `batches` batches of a rank each of its workers delivers, and whose turn it is then.

    Args:
        left: batches that each worker still has, int64[ranks, workers]; `batches` is at most a rank's sum.
        turn: the worker whose turn it is, int64[ranks].
        batches: for all ranks, or int64[ranks].

    Returns:
        int64[ranks, workers] and int64[ranks].
    """
    ranks, workers = left.shape
    if workers == 1:
        return np.broadcast_to(batches, ranks).astype(np.int64)[:, None], turn
    place = (np.arange(workers) - turn[:, None]) % workers  # of each worker in the rotation
    batches = np.broadcast_to(batches, ranks)
    if left.min() > batches.max() // workers:  # nobody runs out: all workers take even turns
        return batches[:, None] // workers + (place < batches[:, None] % workers), (turn + batches) % workers
    rotation = (turn[:, None] + np.arange(workers)) % workers
    mine = np.take_along_axis(left, rotation, axis=1)
    rounds = _whole_rounds(mine, batches)
    done = np.minimum(mine, rounds[:, None])
    over = batches - done.sum(axis=1)  # batches of the round that is not whole
    active = mine > rounds[:, None]
    place = np.cumsum(active, axis=1)
    once_more = active & (place <= over[:, None])
    delivered = np.empty_like(left)
    np.put_along_axis(delivered, rotation, done + once_more, axis=1)
    in_last_round = np.where(over[:, None] > 0, once_more, mine >= rounds[:, None])
    last = workers - 1 - np.argmax(in_last_round[:, ::-1], axis=1)  # in the rotation
    after = (np.take_along_axis(rotation, last[:, None], axis=1)[:, 0] + 1) % workers
    return delivered, np.where(batches > 0, after, turn)


def passed_over(left: Ints, turn: Ints, batches: int | Ints) -> NDArray[np.bool_]:
    """Whose turn comes while it has no whole batch left, in as many batches: bool[ranks, workers]; as `turns`."""
    place = (np.arange(left.shape[1]) - turn[:, None]) % left.shape[1]
    others, own = left[:, None, :], left[:, :, None]
    before = place[:, None, :] < place[:, :, None]  # who delivers in the same round before it: bool[ranks, own, others]
    earlier = (np.minimum(others, own) + (before & (others > own))).sum(axis=2)
    over: NDArray[np.bool_] = np.broadcast_to(batches, len(left))[:, None] > earlier
    return over


def _whole_rounds(mine: Ints, batches: Ints) -> Ints:
    """The most rounds r of which all batches, Σ min(mine, r), are among the next `batches`: int64[ranks]."""
    workers = mine.shape[1]
    level = np.sort(mine, axis=1)
    below = np.concatenate([np.zeros((len(mine), 1), np.int64), np.cumsum(level, axis=1)[:, :-1]], axis=1)
    remaining = workers - np.arange(workers)  # workers that have at least this level
    # Up to level i, r rounds hold below_i + r · remaining_i batches.
    fits = below + level * remaining <= batches[:, None]
    i = np.minimum(fits.sum(axis=1), workers - 1)
    at = np.take_along_axis(below, i[:, None], axis=1)[:, 0]
    rounds = (batches - at) // remaining[i]
    whole: Ints = np.minimum(rounds, level[:, -1])
    return whole
