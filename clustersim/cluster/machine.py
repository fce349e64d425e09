"""The machine: its nodes, in the cluster's own terms."""

from dataclasses import dataclass

from clustersim.cluster.retirement import Retirement
from clustersim.laws import Constant, Law

_AT_ONCE = Constant(0)


@dataclass(frozen=True, slots=True)
class Machine:
    """Nodes 0 .. nodes - 1 are the job's at the start; spares, cold spares and nodes that may be borrowed follow.

    Domain d has nodes_per_domain of them, those that may be borrowed left out.
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

    @property
    def domains(self) -> int:
        """Failure domains; the last may have fewer nodes."""
        return -(-self.own_nodes // self.nodes_per_domain)

    def domain(self, number: int) -> range:
        """The nodes of a domain."""
        first = number * self.nodes_per_domain
        return range(first, min(first + self.nodes_per_domain, self.own_nodes))
