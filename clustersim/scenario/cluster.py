"""The machine: its nodes, which of them are worse than others, and what is done about those."""

from typing import Literal

from pydantic import StrictBool, model_validator

from clustersim.scenario.errors import wrong
from clustersim.scenario.laws import DurationOrLaw, DurationOrLawOrNever
from clustersim.scenario.part import Part
from clustersim.scenario.quantities import LIMIT
from clustersim.scenario.units import Count, PositiveCount, PositiveDuration, PositiveNumber, Share

_MOST_NODES = 10_000_000


class Cold(Part):
    """Spares that are off until the job misses nodes and the others are used up."""

    nodes: PositiveCount
    """How many. A node that comes back from repair becomes one again where the other spares are complete."""
    start_up: DurationOrLaw
    """From the call until one is a spare: as many are started as the job misses, and to complete the spares."""


class Borrowed(Part):
    """Nodes that do other work, and are taken from it when all spares are used up."""

    nodes: PositiveCount
    """How many; they do not go back."""
    after: DurationOrLaw
    """From the call until they come: as many as the job misses still, and to complete the spares."""


class Lemons(Part):
    """Nodes that fail more often than others, from every cause with scope = "node"."""

    share: Share
    """Each node is one with this probability."""
    times: PositiveNumber
    """A lemon's rate, as a multiple of a sound node's, which is the one that a cause states."""
    cured_by_repair: StrictBool = False
    """A repair makes a lemon a sound node."""


class Retirement(Part):
    """When a node that fails too often is given up, whatever is wrong with it: by a count of failures, or a score."""

    failures: PositiveCount | None = None
    """The failure that makes so many of one node within the window retires it."""
    within: PositiveDuration | None = None
    """The window."""
    score: PositiveNumber | None = None
    """Each failure adds 1 to the score of its node; the one that reaches this retires it."""
    half_life: PositiveDuration | None = None
    """The time in which a score falls to half."""
    replaced: DurationOrLawOrNever = LIMIT
    """Until a new node stands in its place."""

    @model_validator(mode="after")
    def _check(self) -> "Retirement":
        if (self.failures is None) == (self.score is None):
            found = "neither" if self.failures is None else "both"
            raise wrong("either failures within a time or a score with its half_life", found, key="score")
        for key, beside in (("failures", "within"), ("score", "half_life")):
            given, needs = getattr(self, key), getattr(self, beside)
            if given is not None and needs is None:
                raise wrong(f"a duration beside {key}", "nothing", key=beside)
            if given is None and needs is not None:
                raise wrong(f"{key} beside it", "none", key=beside)
        return self


class Cluster(Part):
    """The machine."""

    nodes: PositiveCount
    """Nodes that the job uses."""
    spares: Count = 0
    """Nodes beside them that replace failed ones."""
    gpus_per_node: PositiveCount = 8
    """GPUs a node."""
    cold: Cold | None = None
    """Spares beside those that take a while to start."""
    borrowed: Borrowed | None = None
    """Nodes of a shared pool that other work has to give up."""
    nodes_per_domain: PositiveCount | None = None
    """Nodes that share a rack or a switch, and fail together from a cause with scope = "domain"; spares follow.

    A cause may have larger or smaller ones of its own.
    """
    repair_slots: PositiveCount | None = None
    """Nodes that can be repaired at once; no bound if not said."""
    lemons: Lemons | None = None
    """Nodes that fail more often than others."""
    retirement: Retirement | None = None
    """When a node that fails too often is given up; never if not said."""

    def exposed(self, scope: Literal["node", "domain", "job"], nodes_per_domain: int | None = None) -> float:
        """How many times the stated rate of a cause, with domains of its own or not, strikes the job at full layout."""
        if scope == "domain":
            return -(-self.nodes // (nodes_per_domain or self.nodes_per_domain or 1))
        return self.nodes * self.mean_lemon if scope == "node" else 1

    @property
    def own_nodes(self) -> int:
        """Nodes of the job and spares, cold ones included."""
        return self.nodes + self.spares + (self.cold.nodes if self.cold else 0)

    @property
    def all_nodes(self) -> int:
        """Its own nodes and those that can be borrowed."""
        return self.own_nodes + (self.borrowed.nodes if self.borrowed else 0)

    @property
    def mean_lemon(self) -> float:
        """How often a node fails on average, as a multiple of a sound one, before any is retired."""
        return 1 if self.lemons is None else 1 + self.lemons.share * (self.lemons.times - 1)

    @model_validator(mode="after")
    def _check(self) -> "Cluster":
        if self.all_nodes > _MOST_NODES:
            raise wrong("at most 10 M nodes and spares together", str(self.all_nodes), key="nodes")
        return self
