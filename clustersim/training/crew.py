"""Which nodes the job holds, in units: the smallest group of nodes that is lost and taken as a whole.

A unit is one replica of several nodes, or one node of several replicas. Losing a node breaks its unit; the unit's
healthy nodes can fill the holes of others, or go back to the spares.
"""

from clustersim.cluster.cluster import Cluster


class Crew:
    """The job's nodes. Nodes 0 .. units * unit_nodes - 1 form the first crew."""

    def __init__(self, cluster: Cluster, units: int, unit_nodes: int) -> None:
        self._cluster = cluster
        self.unit_nodes = unit_nodes
        self._first_nodes = units * unit_nodes
        self._units: list[dict[int, None] | None] = [None] * units  # None: whole since the start, nodes not listed
        self._unit_of: dict[int, int] = {}  # nodes that are not where they were at the start
        self._broken: list[int] = []
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
        if index not in self._broken:
            self._broken.append(index)

    def available(self, own_only: bool) -> int:
        """Nodes held, plus the spares that the job may take: all, or only those it started with."""
        return self.nodes + self._cluster.pool.spares(self._first_nodes if own_only else None)

    def form(self, units: int) -> None:
        """Make exactly so many whole units: dissolve the most broken ones first, then fill holes from the spares."""
        while len(self._units) > units:
            self._dissolve()
        while len(self._units) < units:
            self._units.append({})
            self._broken.append(len(self._units) - 1)
        for index in self._broken:
            members = self._members(index)
            while len(members) < self.unit_nodes:
                node = self._cluster.take()
                members[node] = None
                self._unit_of[node] = index
                self.nodes += 1
        self._broken.clear()

    def _dissolve(self) -> None:
        """Give up the unit with the most holes (the last one of several), and close the gap with the last unit."""
        index = min(self._broken, key=lambda i: (len(self._members(i)), -i), default=len(self._units) - 1)
        for node in self._members(index):
            del self._unit_of[node]
            self._cluster.give_up(node)
            self.nodes -= 1
        if index in self._broken:
            self._broken.remove(index)
        last = len(self._units) - 1
        if index != last:
            moved = self._members(last)
            self._units[index] = moved
            self._unit_of.update(dict.fromkeys(moved, index))
            self._broken = [index if broken == last else broken for broken in self._broken]
        self._units.pop()
