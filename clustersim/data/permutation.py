"""Permutations of [0, n) that are asked in O(1), both ways, without an array of n entries.

A keyed Feistel network over a grid of a x b >= n cells, rows and columns taking turns to be shifted by a hash of the
other; what falls outside [0, n) walks on until it is inside (cycle walking; fewer than a of the cells are outside).
Eight rounds are far from uniform on a handful of elements, so up to `TABLE_MAX` the permutation is a shuffled table.
"""

import math
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clustersim.streams import mix_array

TABLE_MAX = 4096
_ROUNDS = 8
_SPREAD = np.uint64(0x9E3779B97F4A7C15)

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]


class Permutation(Protocol):
    """A family of permutations of [0, n), one for each 64-bit key; arrays broadcast against each other."""

    def forward(self, values: NDArray[np.integer[Any]], keys: Words) -> Ints:
        """The image of each value under the permutation of its key."""

    def backward(self, values: NDArray[np.integer[Any]], keys: Words) -> Ints:
        """The value whose image is given."""


def permutation(n: int) -> Permutation:
    """The family that fits the size: exactly uniform tables for small n, a Feistel network beyond."""
    return _Tables(n) if n <= TABLE_MAX else _Feistel(n)


class _Tables:
    """Uniform permutations of a few elements; the last tables are kept."""

    _KEEP = 256

    def __init__(self, n: int) -> None:
        self._n = n
        self._kept: dict[int, tuple[Ints, Ints]] = {}

    def _tables(self, key: int) -> tuple[Ints, Ints]:
        tables = self._kept.get(key)
        if tables is None:
            order = np.random.Generator(np.random.Philox(key=key)).permutation(self._n)
            inverse = np.empty_like(order)
            inverse[order] = np.arange(self._n)
            tables = order, inverse
            if len(self._kept) >= self._KEEP:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = tables
        return tables

    def forward(self, values: NDArray[np.integer[Any]], keys: Words) -> Ints:
        return self._look_up(values, keys, 0)

    def backward(self, values: NDArray[np.integer[Any]], keys: Words) -> Ints:
        return self._look_up(values, keys, 1)

    def _look_up(self, values: NDArray[np.integer[Any]], keys: Words, way: int) -> Ints:
        if keys.size == 1:
            table: Ints = self._tables(int(keys.item()))[way]
            return np.asarray(table[values], dtype=np.int64)
        pairs = np.broadcast(values, keys)
        found = [self._tables(int(key))[way][value] for value, key in pairs]
        return np.array(found, dtype=np.int64).reshape(pairs.shape)


class _Feistel:
    """The network: row += hash(column), column += hash(row), in turn."""

    def __init__(self, n: int) -> None:
        self._n = np.uint64(n)
        rows = math.isqrt(n - 1) + 1
        self._rows = np.uint64(rows)
        self._columns = np.uint64(-(-n // rows))

    def forward(self, values: NDArray[np.integer[Any]], keys: Words) -> Ints:
        return self._walk(values, keys, self._encrypt)

    def backward(self, values: NDArray[np.integer[Any]], keys: Words) -> Ints:
        return self._walk(values, keys, self._decrypt)

    def _walk(self, values: NDArray[np.integer[Any]], keys: Words, step: Any) -> Ints:
        cells, keys = np.broadcast_arrays(np.asarray(values).astype(np.uint64), keys)
        cells = step(cells, keys)
        while (outside := cells >= self._n).any():
            cells[outside] = step(cells[outside], keys[outside])
        return np.asarray(cells, dtype=np.int64)

    def _encrypt(self, cells: Words, keys: Words) -> Words:
        row, column = np.divmod(cells, self._columns)
        for turn in range(0, _ROUNDS, 2):
            row = (row + self._hash(column, keys, turn) % self._rows) % self._rows
            column = (column + self._hash(row, keys, turn + 1) % self._columns) % self._columns
        return np.atleast_1d(row * self._columns + column)

    def _decrypt(self, cells: Words, keys: Words) -> Words:
        row, column = np.divmod(cells, self._columns)
        for turn in range(_ROUNDS - 2, -1, -2):
            column = (column + self._columns - self._hash(row, keys, turn + 1) % self._columns) % self._columns
            row = (row + self._rows - self._hash(column, keys, turn) % self._rows) % self._rows
        return np.atleast_1d(row * self._columns + column)

    @staticmethod
    def _hash(half: Words, keys: Words, turn: int) -> Words:
        return mix_array(half * _SPREAD + mix_array(keys + np.uint64(turn)))
