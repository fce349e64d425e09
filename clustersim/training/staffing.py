"""The nodes of the job: which degree they allow, which are taken, and how many node-nanoseconds that comes to."""

from collections.abc import Callable, Sequence

from clustersim.cluster.cluster import Cluster
from clustersim.training.crew import Crew
from clustersim.training.plan import JobPlan


class Staffing:
    """The job's crew and its data-parallel degree: the one that it has and the one that it should have."""

    def __init__(self, cluster: Cluster, plan: JobPlan) -> None:
        self.crew = Crew(cluster, plan.degree // plan.unit_replicas, plan.unit_nodes)
        self.degree = self.target = plan.degree
        self.node_ns = 0
        """Nodes held, integrated over time until the last change of their number."""
        self._counted_to = 0
        self._cluster = cluster
        self._plan = plan

    def count(self, now: int) -> None:
        """Integrate the nodes held over time; to be called before their number changes."""
        self.node_ns += self.crew.nodes * (now - self._counted_to)
        self._counted_to = now

    def lose(self, nodes: Sequence[int], now: int) -> None:
        """Nodes that the job held are gone."""
        if nodes:
            self.count(now)
            for node in nodes:
                self.crew.lose(node)

    def affordable(self) -> int | None:
        """The degree that the job can have with the nodes it holds and may take now; None: it waits."""
        plan = self._plan
        units = self.crew.available(own_only=plan.policy == "wait") // plan.unit_nodes
        most = min(self.target, units * plan.unit_replicas)
        if most == self.target or plan.policy != "shrink":
            return self.target if most == self.target else None
        return self._degree_of(units)

    def sound(self, now: int) -> int | None:
        """The degree of those that are whole and healed; None if they are too few."""
        return self._degree_of(self.crew.sound(now))

    def _degree_of(self, units: int) -> int | None:
        """The largest degree that so many units allow, at most the target; None if it is too small."""
        plan = self._plan
        most = min(self.target, units * plan.unit_replicas)
        return next((d for d in range(most, plan.least_degree - 1, -1) if plan.degree_allowed(d)), None)

    @property
    def _wanted_units(self) -> int:
        return -(-self.target // self._plan.unit_replicas)

    def call_up(self, now: int) -> None:
        """Let nodes come that are missing beside the spares."""
        needed = self._plan.unit_nodes * self._wanted_units
        self._cluster.call_up(max(0, needed - self.crew.available(own_only=False)), now)

    def take(self, degree: int, now: int) -> None:
        """Take the nodes for a degree that is affordable; all start anew together."""
        plan = self._plan
        self.count(now)
        self.degree = degree
        self.crew.form(-(-degree // plan.unit_replicas), now)
        if plan.in_place:
            self.crew.heal_all()

    def refill(self, now: int, rejoin: Callable[[], int]) -> list[int]:
        """Take nodes for missing units while the others go on; until when each of them heals, which takes `rejoin`."""
        self.count(now)
        units = min(self._wanted_units, self.crew.available(own_only=False) // self._plan.unit_nodes)
        filled = self.crew.form(units, now)
        healed = [now + rejoin() for _ in filled]
        for unit, until in zip(filled, healed, strict=True):
            self.crew.heal(unit, until)
        self.call_up(now)
        return healed

    def gains(self, now: int) -> bool:
        """Whether those that go on could be more: replicas are healed, or there are nodes for another unit."""
        joins = (self.sound(now) or 0) > self.degree
        more = self.crew.available(own_only=False) // self._plan.unit_nodes > self.crew.units
        return joins or (more and self.crew.units < self._wanted_units)

    def shortage(self) -> str:
        """In words: what is missing."""
        plan = self._plan
        degree = min(self.target, plan.least_degree) if plan.policy == "shrink" else self.target
        needed = plan.unit_nodes * (-(-degree // plan.unit_replicas))
        return f"the job holds {self.crew.nodes} of the {needed} nodes it needs, and no other will come back"
