"""Where each node is."""

from collections import Counter
from heapq import heapify, heappop, heappush
from typing import Literal

from clustersim.cluster.machine import Machine

Place = Literal["job", "spare", "repair", "cold", "starting", "elsewhere"]
_NAMES: tuple[Place, ...] = ("job", "spare", "repair", "cold", "starting", "elsewhere")
_JOB, _SPARE, _REPAIR, _COLD, _STARTING, _ELSEWHERE = range(len(_NAMES))


class Pool:
    """Each node is in one place; the lowest number is taken first.

    It is held by the job, a spare that the job may take at once, in repair, a cold spare, one that is being started, or
    works elsewhere and may be borrowed.
    """

    def __init__(self, machine: Machine) -> None:
        counts = ((_JOB, machine.nodes), (_SPARE, machine.spares), (_COLD, machine.cold), (_ELSEWHERE, machine.lent))
        self._place = bytearray().join(bytearray([place]) * count for place, count in counts)
        # Sorted lists are heaps.
        self._waiting = {
            place: [node for node in range(machine.nodes, machine.all_nodes) if self._place[node] == place]
            for place in (_SPARE, _COLD, _ELSEWHERE)
        }
        self._hot = machine.spares if machine.cold else None
        self.missing = 0
        """Nodes that the job lacks beside the spares, as it said last."""
        self.starting = 0
        """Cold spares that are being started."""

    def place(self, node: int) -> Place:
        """Where the node is."""
        return _NAMES[self._place[node]]

    def break_down(self, node: int) -> None:
        """The node goes to repair."""
        waiting = self._waiting.get(self._place[node])
        if waiting is not None:
            waiting.remove(node)
            heapify(waiting)
        self.starting -= self._place[node] == _STARTING
        self._place[node] = _REPAIR

    def bring_back(self, node: int) -> None:
        """The repaired node becomes a spare; a cold one where there are such and enough others."""
        enough = self._hot is not None and self.spares() >= self._hot + self.missing
        self._wait(node, _COLD if enough else _SPARE)

    def _wait(self, node: int, place: int) -> None:
        self._place[node] = place
        heappush(self._waiting[place], node)

    def spares(self, below: int | None = None) -> int:
        """How many spares there are that the job may take at once (with a number below `below`)."""
        spares = self._waiting[_SPARE]
        return len(spares) if below is None else sum(node < below for node in spares)

    @property
    def cold(self) -> int:
        """Cold spares."""
        return len(self._waiting[_COLD])

    @property
    def elsewhere(self) -> int:
        """Nodes that may be borrowed."""
        return len(self._waiting[_ELSEWHERE])

    def take(self) -> int:
        """The job takes the spare with the lowest number; IndexError if there is none."""
        node = heappop(self._waiting[_SPARE])
        self._place[node] = _JOB
        return node

    def give_up(self, node: int) -> None:
        """The job gives a healthy node back: it becomes a spare."""
        self._wait(node, _SPARE)

    def start(self) -> int:
        """Begin to start the cold spare with the lowest number; IndexError if there is none."""
        node = heappop(self._waiting[_COLD])
        self._place[node] = _STARTING
        self.starting += 1
        return node

    def started(self, node: int) -> None:
        """A cold spare is up."""
        self.starting -= 1
        self._wait(node, _SPARE)

    def borrow(self) -> int:
        """A node that worked elsewhere becomes a spare for good; IndexError if there is none."""
        node = heappop(self._waiting[_ELSEWHERE])
        self._wait(node, _SPARE)
        return node

    def census(self) -> dict[Place, int]:
        """Nodes by place, counted one by one."""
        counts = Counter(self._place)
        return {name: counts[code] for code, name in enumerate(_NAMES)}
