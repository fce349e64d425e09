"""Tables as parallel columns: which rows have equal keys, and making them one."""

from __future__ import annotations

import numpy as np

from clustersim.account.draws import Ints


def number(keys: tuple[Ints, ...]) -> tuple[Ints, Ints, Ints]:
    """Number the distinct rows in sorted order; the first key sorts first.

    Args:
        keys: int64[rows] each.

    Returns:
        order, int64[rows], which sorts the rows; starts, int64[distinct], where in that order each distinct row
        begins; and of, int64[rows], the number of each row.
    """
    order = np.lexsort(keys[::-1])
    first = np.ones(len(order), bool)
    if len(order):
        sorted_keys = [key[order] for key in keys]
        np.logical_or.reduce([key[1:] != key[:-1] for key in sorted_keys], out=first[1:])
    of = np.empty(len(order), np.int64)
    of[order] = np.cumsum(first) - 1
    return order, first.nonzero()[0], of


def merge(keys: tuple[Ints, ...], samples: Ints) -> tuple[tuple[Ints, ...], Ints]:
    """Rows with equal keys made one and sorted, their samples added in int64, empty rows left out.

    Args:
        keys: int64[rows] each; the first sorts first.
        samples: int64[rows].
    """
    filled = samples != 0
    keys, samples = tuple(key[filled] for key in keys), samples[filled]
    order, starts, _ = number(keys)
    firsts = order[starts]
    return tuple(key[firsts] for key in keys), np.add.reduceat(samples[order], starts)
