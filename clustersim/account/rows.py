"""Tables as parallel columns: which rows have equal keys, and making them one."""

from __future__ import annotations

from math import prod

import numpy as np

from clustersim.account.draws import Ints

_MOST = 2**62


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


def in_order(keys: tuple[Ints, ...]) -> tuple[Ints, ...]:
    """The rows sorted, the first key first: int64[rows] each; many times as fast as an order that sorts them."""
    least, spans = _ranges(keys)
    if not len(keys[0]) or prod(spans) >= _MOST:
        order = np.lexsort(keys[::-1])
        return tuple(key[order] for key in keys)
    return _unpacked(np.sort(_packed(keys, least, spans)), least, spans)


def merge(keys: tuple[Ints, ...], samples: Ints) -> tuple[tuple[Ints, ...], Ints]:
    """Rows with equal keys made one and sorted, their samples added in int64, empty rows left out.

    Args:
        keys: int64[rows] each; the first sorts first.
        samples: int64[rows], none negative.
    """
    filled = samples != 0
    keys, samples = tuple(key[filled] for key in keys), samples[filled]
    least, spans = _ranges(keys)
    if prod(spans) <= len(samples):  # more rows than there can be different ones: they need no sorting
        sums = np.zeros(prod(spans), np.int64)
        np.add.at(sums, _packed(keys, least, spans), samples)
        found = np.flatnonzero(sums)
        return _unpacked(found, least, spans), sums[found]
    order, starts, _ = number(keys)
    firsts = order[starts]
    return tuple(key[firsts] for key in keys), np.add.reduceat(samples[order], starts)


def _as_one(keys: tuple[Ints, ...]) -> tuple[Ints, ...]:
    """One key that sorts and tells apart as all of them do, if 62 bits hold it: it is sorted three times as fast."""
    least, spans = _ranges(keys)
    if not len(keys[0]) or len(keys) == 1 or prod(spans) >= _MOST:
        return keys
    return (_packed(keys, least, spans),)


def _ranges(keys: tuple[Ints, ...]) -> tuple[list[int], list[int]]:
    """The least value of each key, and how many values there are from it to the greatest."""
    if not len(keys[0]):
        return [0] * len(keys), [1] * len(keys)
    least = [int(key.min()) for key in keys]
    return least, [int(key.max()) - low + 1 for key, low in zip(keys, least, strict=True)]


def _packed(keys: tuple[Ints, ...], least: list[int], spans: list[int]) -> Ints:
    one = keys[0] - least[0]
    for key, low, span in zip(keys[1:], least[1:], spans[1:], strict=True):
        one *= span
        one += key
        one -= low
    return one


def _unpacked(one: Ints, least: list[int], spans: list[int]) -> tuple[Ints, ...]:
    keys = []
    for low, span in zip(reversed(least[1:]), reversed(spans[1:]), strict=True):
        one, key = np.divmod(one, span)
        keys.append(key + low)
    return (one + least[0], *reversed(keys))
