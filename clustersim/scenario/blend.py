"""Whose turn it is: which corpus of a mixture each position of the endless sequence is read from.

The turns repeat after as many positions as the weights, in lowest terms, make together. Within that period turn i of a
corpus with the share w (i from 0) lies in the window [floor(i / w), ceil((i + 1) / w)), and of the turns whose window
is open the one that closes first is taken. The windows are those of proportionate progress (Baruah, Cohen, Plaxton and
Varvel 1996); as the shares make one, every turn finds a place in its own. So of the first P positions a corpus has
floor(P w) or ceil(P w), whatever P is.
"""

import heapq
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Blend:
    """Positions dealt out to corpora by whole weights. Counting and finding take no time that grows with positions."""

    def __init__(self, weights: Sequence[int]) -> None:
        """`weights`: at least 1 each; the period is held in memory, once a corpus."""
        common = math.gcd(*weights)
        self._weights = np.array(weights, dtype=np.int64) // common
        self.period = int(self._weights.sum())
        """Positions after which the turns repeat."""
        self._turns = _turns(self._weights.tolist())
        self._places = [np.flatnonzero(self._turns == corpus) for corpus in range(len(weights))]
        self._before = [np.append(0, np.cumsum(self._turns == corpus)) for corpus in range(len(weights))]

    def before(self, corpus: int, position: Ints) -> Ints:
        """How many of the positions below each one are a corpus's, int64 of their shape."""
        periods, place = np.divmod(position, self.period)
        count: Ints = periods * self._weights[corpus] + self._before[corpus][place]
        return count

    def position_of(self, corpus: int, number: Ints) -> Ints:
        """The position of each turn (from 0) of a corpus, int64 of their shape."""
        periods, turn = np.divmod(number, self._weights[corpus])
        position: Ints = periods * self.period + self._places[corpus][turn]
        return position

    def corpus_at(self, position: Ints) -> Ints:
        """The corpus that each position is read from, int64 of their shape."""
        return self._turns[position % self.period]


def _turns(weights: list[int]) -> Ints:
    """The corpus of each position of a period, int64[Σ weights]."""
    period = sum(weights)
    turns = np.empty(period, dtype=np.int64)
    opens = [(0, corpus, 0) for corpus in range(len(weights))]  # (position, corpus, turn), the next of each corpus
    ready: list[tuple[int, int, int]] = []  # (position before which it has to be taken, corpus, turn)
    for position in range(period):
        while opens and opens[0][0] <= position:
            _, corpus, turn = heapq.heappop(opens)
            heapq.heappush(ready, (-(-(turn + 1) * period // weights[corpus]), corpus, turn))
        _, corpus, turn = heapq.heappop(ready)
        turns[position] = corpus
        if turn + 1 < weights[corpus]:
            heapq.heappush(opens, ((turn + 1) * period // weights[corpus], corpus, turn + 1))
    return turns
