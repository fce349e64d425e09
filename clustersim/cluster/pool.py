"""Where each node is."""

from collections import Counter
from heapq import heapify, heappop, heappush
from typing import Literal, get_args

from clustersim.cluster.machine import Machine

Place = Literal["job", "spare", "repair", "cold", "starting", "elsewhere"]


class Pool:
    """Each node is in one place; the lowest number is taken first.

    It is held by the job, a spare that the job may take at once, in repair, a cold spare, one that is being started, or
    works elsewhere and may be borrowed.
    """

    def __init__(self, machine: Machine) -> None:
        self._nodes = machine.all_nodes
        # Sorted lists are heaps.
        spare, cold = machine.nodes + machine.spares, machine.own_nodes
        self._waiting: dict[Place, list[int]] = {
            "spare": list(range(machine.nodes, spare)),
            "cold": list(range(spare, cold)),
            "elsewhere": list(range(cold, self._nodes)),
        }
        # Absent: in the job since the start.
        self._place: dict[int, Place] = {node: place for place, nodes in self._waiting.items() for node in nodes}
        self._hot = machine.spares if machine.cold else None
        self.missing = 0
        """Nodes that the job lacks beside the spares, as it said last."""
        self.starting = 0
        """Cold spares that are being started."""

    def place(self, node: int) -> Place:
        """Where the node is."""
        return self._place.get(node, "job")

    def break_down(self, node: int) -> Place:
        """The node goes to repair; where it was."""
        place = self.place(node)
        self._place[node] = "repair"
        if place == "starting":
            self.starting -= 1
        elif place in self._waiting:
            self._waiting[place].remove(node)
            heapify(self._waiting[place])
        return place

    def bring_back(self, node: int) -> None:
        """The repaired node becomes a spare; a cold one where there are such and enough others."""
        enough = self._hot is not None and len(self._waiting["spare"]) >= self._hot + self.missing
        self._wait(node, "cold" if enough else "spare")

    def _wait(self, node: int, place: Place) -> None:
        self._place[node] = place
        heappush(self._waiting[place], node)

    def spares(self, below: int | None = None) -> int:
        """How many spares there are that the job may take at once (with a number below `below`)."""
        spares = self._waiting["spare"]
        return len(spares) if below is None else sum(node < below for node in spares)

    @property
    def cold(self) -> int:
        """Cold spares."""
        return len(self._waiting["cold"])

    @property
    def elsewhere(self) -> int:
        """Nodes that may be borrowed."""
        return len(self._waiting["elsewhere"])

    def take(self) -> int:
        """The job takes the spare with the lowest number; IndexError if there is none."""
        node = heappop(self._waiting["spare"])
        self._place[node] = "job"
        return node

    def give_up(self, node: int) -> None:
        """The job gives a healthy node back: it becomes a spare."""
        self._wait(node, "spare")

    def start(self) -> int:
        """Begin to start the cold spare with the lowest number; IndexError if there is none."""
        node = heappop(self._waiting["cold"])
        self._place[node] = "starting"
        self.starting += 1
        return node

    def started(self, node: int) -> None:
        """A cold spare is up."""
        self.starting -= 1
        self._wait(node, "spare")

    def borrow(self) -> int:
        """A node that worked elsewhere becomes a spare for good; IndexError if there is none."""
        node = heappop(self._waiting["elsewhere"])
        self._wait(node, "spare")
        return node

    def census(self) -> dict[Place, int]:
        """Nodes by place, counted one by one."""
        counts = Counter(self.place(node) for node in range(self._nodes))
        return {place: counts[place] for place in get_args(Place)}
