"""Which nodes the job holds, in units: the smallest group of nodes that is lost and taken as a whole.

A unit is one replica of several nodes, or one node of several replicas. Losing a node breaks its unit; the unit's
healthy nodes can fill the holes of others, or go back to the spares.
"""

from itertools import chain, islice

from clustersim.cluster.cluster import Cluster


class Crew:
    """The job's nodes. Nodes 0 .. units * unit_nodes - 1 form the first crew."""

    def __init__(self, cluster: Cluster, units: int, unit_nodes: int) -> None:
        self._cluster = cluster
        self.unit_nodes = unit_nodes
        self._first_nodes = units * unit_nodes
        self._units: list[dict[int, None] | None] = [None] * units  # None: whole since the start, nodes not listed
        self._unit_of: dict[int, int] = {}  # nodes that are not where they were at the start
        self._broken: dict[int, None] = {}  # units with holes, in the order in which they broke
        self._healing: dict[int, int] = {}  # units that took nodes while the others trained, and until when they heal
        self.nodes = self._first_nodes

    @property
    def units(self) -> int:
        """Units, broken ones included."""
        return len(self._units)

    def _members(self, index: int) -> dict[int, None]:
        """The nodes of a unit, listed from now on; a dictionary, for its order and to lose one at no cost."""
        members = self._units[index]
        if members is None:
            members = dict.fromkeys(range(index * self.unit_nodes, (index + 1) * self.unit_nodes))
            self._units[index] = members
            self._unit_of.update(dict.fromkeys(members, index))
        return members

    def members(self) -> list[int]:
        """The nodes that the job holds."""
        return [node for index in range(self.units) for node in self._members(index)]

    def lose(self, node: int) -> None:
        """A node that the job holds is gone."""
        index = self._unit_of.get(node, node // self.unit_nodes)
        del self._members(index)[node]
        del self._unit_of[node]
        self.nodes -= 1
        self._broken[index] = None
        if self._healing:
            self._healing.pop(index, None)

    def available(self, own_only: bool) -> int:
        """Nodes held, plus the spares that the job may take: all, or only those it started with."""
        return self.nodes + self._cluster.pool.spares(self._first_nodes if own_only else None)

    def sound(self, now: int) -> int:
        """Units that are whole and do not heal any more."""
        return self.units - len(self._broken) - sum(until > now for until in self._healing.values())

    def heal(self, unit: int, until: int) -> None:
        """A unit of which `form` filled the holes cannot train until then."""
        self._healing[unit] = until

    def heal_all(self) -> None:
        """All units start anew together: none has to heal by itself."""
        self._healing.clear()

    def form(self, units: int, now: int) -> list[int]:
        """Make exactly so many whole units: dissolve the most broken ones first, then fill holes from the spares.

        Returns the units of which holes were filled.
        """
        surplus = len(self._units) - units
        if surplus > 0:
            emptiest = sorted(self._broken, key=lambda index: (len(self._members(index)), -index))
            whole = (index for index in range(self.units - 1, -1, -1) if index not in self._broken)
            for index in sorted(islice(chain(emptiest, whole), surplus), reverse=True):
                self._dissolve(index, now)
        for _ in range(-surplus):
            self._broken[len(self._units)] = None
            self._units.append({})
        filled, self._broken = list(self._broken), {}
        for index in filled:
            members = self._members(index)
            while len(members) < self.unit_nodes:
                node = self._cluster.take(now)
                members[node] = None
                self._unit_of[node] = index
                self.nodes += 1
        return filled

    def _dissolve(self, index: int, now: int) -> None:
        """Give a unit's nodes up, and close the gap with the last unit."""
        for node in self._members(index):
            del self._unit_of[node]
            self._cluster.give_up(node, now)
            self.nodes -= 1
        self._broken.pop(index, None)
        self._healing.pop(index, None)
        last = self.units - 1
        if index != last:
            moved = self._members(last)
            self._units[index] = moved
            self._unit_of.update(dict.fromkeys(moved, index))
            if last in self._broken:
                del self._broken[last]
                self._broken[index] = None
            if last in self._healing:
                self._healing[index] = self._healing.pop(last)
        self._units.pop()
