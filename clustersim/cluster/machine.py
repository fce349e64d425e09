"""The machine: its nodes, in the cluster's own terms."""

from dataclasses import dataclass

from clustersim.cluster.retirement import Retirement
from clustersim.laws import Constant, Law

_AT_ONCE = Constant(0)


@dataclass(frozen=True, slots=True)
class Machine:
    """Nodes 0 .. nodes - 1 are the job's at the start; spares, cold spares and nodes that may be borrowed follow.

    Domains, of as many nodes each as a cause says, follow each other, those that may be borrowed left out; the copies
    of a checkpoint lie in different ones of nodes_per_domain.
    """

    nodes: int
    spares: int = 0
    repair_slots: int | None = None
    nodes_per_domain: int = 1
    lemon_share: float = 0.0
    lemons_cured: bool = False  # by a repair
    retirement: Retirement | None = None
    cold: int = 0
    cold_start: Law = _AT_ONCE
    lent: int = 0
    lent_after: Law = _AT_ONCE

    @property
    def all_nodes(self) -> int:
        """All nodes that the job may ever hold."""
        return self.own_nodes + self.lent

    @property
    def own_nodes(self) -> int:
        """Nodes of the job and spares."""
        return self.nodes + self.spares + self.cold

    def domains(self, size: int) -> int:
        """Failure domains of so many nodes; the last may have fewer."""
        return -(-self.own_nodes // size)

    def domain(self, number: int, size: int) -> range:
        """The nodes of a domain."""
        return range(number * size, min((number + 1) * size, self.own_nodes))
