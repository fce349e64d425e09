"""Tables as parallel columns: which rows have equal keys, and making them one."""

from __future__ import annotations

from math import prod

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
    keys = _as_one(keys)
    order = np.lexsort(keys[::-1]) if len(keys) > 1 else np.argsort(keys[0], kind="stable")
    first = np.ones(len(order), bool)
    if len(order):
        sorted_keys = [key[order] for key in keys]
        np.logical_or.reduce([key[1:] != key[:-1] for key in sorted_keys], out=first[1:])
    of = np.empty(len(order), np.int64)
    of[order] = np.cumsum(first) - 1
    return order, first.nonzero()[0], of


def _as_one(keys: tuple[Ints, ...]) -> tuple[Ints, ...]:
    """One key that sorts and tells apart as all of them do, if 62 bits hold it: it is sorted three times as fast."""
    if not len(keys[0]):
        return keys
    least = [int(key.min()) for key in keys]
    spans = [int(key.max()) - low + 1 for key, low in zip(keys, least, strict=True)]
    if len(keys) == 1 or prod(spans) >= 2**62:
        return keys
    one = keys[0] - least[0]
    for key, low, span in zip(keys[1:], least[1:], spans[1:], strict=True):
        one = one * span + (key - low)
    return (one,)


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
