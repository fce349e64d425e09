"""Where each node is."""

from collections import Counter
from heapq import heappop, heappush
from typing import Literal

Place = Literal["job", "spare", "repair"]
_JOB, _SPARE, _REPAIR = range(3)
_NAMES: tuple[Place, ...] = ("job", "spare", "repair")


class Pool:
    """Each node is in one place: held by the job, a spare, or in repair. Spares are taken lowest number first."""

    def __init__(self, job_nodes: int, spares: int) -> None:
        self._place = bytearray([_JOB]) * job_nodes + bytearray([_SPARE]) * spares
        self._spares = list(range(job_nodes, job_nodes + spares))  # a sorted list is a heap

    def place(self, node: int) -> Place:
        """Where the node is."""
        return _NAMES[self._place[node]]

    def break_down(self, node: int) -> None:
        """The node goes to repair."""
        if self._place[node] == _SPARE:
            self._spares.remove(node)
            self._spares.sort()
        self._place[node] = _REPAIR

    def bring_back(self, node: int) -> None:
        """The repaired node becomes a spare."""
        self._place[node] = _SPARE
        heappush(self._spares, node)

    def spares(self, below: int | None = None) -> int:
        """How many spares there are (with a number below `below`)."""
        return len(self._spares) if below is None else sum(node < below for node in self._spares)

    def take(self) -> int:
        """The job takes the spare with the lowest number; IndexError if there is none."""
        node = heappop(self._spares)
        self._place[node] = _JOB
        return node

    def give_up(self, node: int) -> None:
        """The job gives a healthy node back: it becomes a spare."""
        self._place[node] = _SPARE
        heappush(self._spares, node)

    def census(self) -> dict[Place, int]:
        """Nodes by place, counted one by one."""
        counts = Counter(self._place)
        return {name: counts[code] for code, name in enumerate(_NAMES)}
