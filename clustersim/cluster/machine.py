"""The machine: its nodes, in the cluster's own terms."""

from dataclasses import dataclass

from clustersim.cluster.retirement import Retirement


@dataclass(frozen=True, slots=True)
class Machine:
    """Nodes 0 .. nodes - 1 are the job's at the start, the spares follow; domain d has nodes_per_domain of them."""

    nodes: int
    spares: int = 0
    repair_slots: int | None = None
    nodes_per_domain: int = 1
    lemon_share: float = 0.0
    lemons_cured: bool = False  # by a repair
    retirement: Retirement | None = None

    @property
    def all_nodes(self) -> int:
        """Nodes of the job and spares."""
        return self.nodes + self.spares

    @property
    def domains(self) -> int:
        """Failure domains; the last may have fewer nodes."""
        return -(-self.all_nodes // self.nodes_per_domain)

    def domain(self, number: int) -> range:
        """The nodes of a domain."""
        first = number * self.nodes_per_domain
        return range(first, min(first + self.nodes_per_domain, self.all_nodes))
