"""From stretches of a global sequence to the account's draws, and the steps that read what they should."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clustersim.account import Draws
from clustersim.data.skips import Skips
from clustersim.loaders.parts import Stretch

Ints = NDArray[np.int64]


def _runs(stretches: Sequence[Stretch], size: int, batch: int, skips: Skips) -> tuple[Ints, ...]:
    """What the stretches read, in runs of positions without a gap: int64[runs] each.

    The stretch's index and first step, what it reads before the run, from and to which positions the run goes, the
    order of the epoch that it begins in (family, order_epoch) and the family of later ones.
    """
    if not skips:  # a run each, all at once
        step, steps, start, family, order_epoch, after = _columns(stretches)
        some = np.flatnonzero(steps)
        columns = (step, np.zeros_like(step), start, start + steps * batch, family, order_epoch, after)
        return some, *(column[some] for column in columns)
    rows = []
    for index, each in enumerate(stretches):
        stop = skips.after(each.start, each.steps * batch)
        read = 0
        for low, high in skips.read(each.start, stop):
            begun = low // size == each.start // size
            order = (each.family, each.order_epoch) if begun else (each.family_after, low // size)
            rows.append((index, each.step, read, low, high, *order, each.family_after))
            read += high - low
    return tuple(np.array(rows, dtype=np.int64).reshape(-1, 8).T)


def _columns(stretches: Sequence[Stretch]) -> Ints:
    """The fields of stretches, int64[fields, stretches]."""
    return np.array(stretches, dtype=np.int64).reshape(-1, len(Stretch._fields)).T


def draws_of(stretches: Sequence[Stretch], size: int, batch: int, skips: Skips) -> tuple[Draws, Ints]:
    """Stretches cut at the edges of epochs: a partial first one, whole ones in between, the last; in step order.

    Beside the draws, for each row the index of the stretch that it was cut from, int64[rows].
    """
    row, step, before, start, stop, family, order_epoch, after = _runs(stretches, size, batch, skips)
    first, last = start // size, (stop - 1) // size
    n = len(step)

    def piece(
        rows: NDArray[np.bool_], order: Ints, epoch: Ints, epochs: Ints, begin: Ints, end: Ints
    ) -> dict[str, Ints]:
        read = before + epoch * size + begin - start  # samples of the stretch before this piece
        columns = {
            "family": order, "epoch": epoch, "epochs": epochs, "start": begin, "stop": end,
            "step": step + read // batch, "lead": read % batch, "row": row,
        }  # fmt: skip
        return {name: values[rows] for name, values in columns.items()}

    zero, one, whole = np.zeros(n, np.int64), np.ones(n, np.int64), np.full(n, size, np.int64)
    pieces = [
        piece(one > 0, family, first, one, start - first * size, np.minimum(stop - first * size, size)),
        piece(last - first > 1, after, first + 1, last - first - 1, zero, whole),
        piece(last > first, after, last, one, zero, stop - last * size),
    ]
    pieces[0]["epoch"] = order_epoch
    merged = {name: np.concatenate([part[name] for part in pieces]) for name in pieces[0]}
    by_row = np.lexsort((merged["lead"], merged["step"], merged["row"]))
    rows = {name: values[by_row] for name, values in merged.items()}
    owner = rows.pop("row")
    return Draws(**rows, per_step=np.full(len(by_row), batch, np.int64)), owner


def as_planned(
    stretches: Sequence[Stretch], size: int, batch: int, skips: Skips, planned_steps: int, same_every_epoch: bool
) -> tuple[Ints, Ints]:
    """The steps below `planned_steps` that read the positions that the plan reads at the same step, in its order.

    They end each stretch: [first, stop), int64[stretches] both. Where an epoch is one batch, or every epoch is read in
    the same order, other epochs hold the same batch too.
    """
    step, steps, start, family, order_epoch, after = _columns(stretches)
    steps = np.clip(planned_steps - step, 0, steps)
    shift = skips.trained(start) - step * batch
    if same_every_epoch and not skips:
        shift %= size
    if batch % size == 0 and not skips:
        own = np.where((shift % size == 0) & (start % size == 0), steps, 0)
        return step + steps - own, step + steps
    left = skips.trained((start // size + 1) * size) - skips.trained(start)
    foreign = -(-left // batch)  # steps that touch the first epoch
    foreign = np.where(after != 0, steps, np.minimum(foreign, steps))
    own = np.where((family != 0) | (order_epoch != start // size), steps - foreign, steps)
    own = np.where(shift == 0, own, 0)
    return step + steps - own, step + steps
