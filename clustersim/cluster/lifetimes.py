"""The random durations and chances of failures; each draw belongs to what it is about."""

from collections.abc import Iterator, Sequence
from typing import Literal, get_args

import numpy as np

from clustersim.cluster.causes import Cause
from clustersim.laws import Law, Life, Stepwise, draw
from clustersim.streams import Hashed

Duration = Literal["repair", "manual repair", "detection", "recurrence"]
Chance = Literal["transient", "escalation", "failed repair", "misdiagnosis"]
OfNode = Literal["replacement", "cold start", "borrowing"]
_What = Literal["life", "wrong node", Duration, Chance]
# Nodes whose lives are drawn at once: so few that they stay in the processor's cache.
_VECTOR = 2**14


class Lifetimes:
    """The random durations of all causes: life k of a node under a cause, the repair after it, its detection.

    Streams are named by the cause, so that a cause keeps its draws whatever other causes a scenario has.
    """

    def __init__(self, causes: Sequence[Cause], seed: int, replication: int, lemon_share: float = 0.0) -> None:
        self._streams = {
            what: [Hashed(seed, replication, what, cause.name) for cause in causes] for what in get_args(_What)
        }
        self._lemons = Hashed(seed, replication, "lemon")
        self._lemon_share = lemon_share
        self._of_nodes = {what: Hashed(seed, replication, what) for what in get_args(OfNode)}

    def life(self, cause: Cause, node: int, k: int, lemon: bool = False, born_ns: int = 0) -> int:
        """Life k (ns, at least 1) of a node, a domain or the job, under a cause; it begins at a date."""
        law = cause.lemon_life if lemon and cause.lemon_life is not None else cause.life
        assert law is not None
        if isinstance(law, Stepwise):
            law = law.born(born_ns)
        return self._life(law, self._streams["life"][cause.index].uniform(node + 1, k))

    def is_lemon(self, node: int, generation: int) -> bool:
        """Whether a node is a lemon; generation counts the nodes that have stood in its place before."""
        return self._lemon_share > 0 and self._lemons.uniform(node + 1, generation) < self._lemon_share

    def of_node(self, what: OfNode, law: Law, node: int, number: int) -> int:
        """A duration (ns) that belongs to a node and no cause; number counts them."""
        return draw(law, self._of_nodes[what], node + 1, number)

    def first_lives(self, cause: Cause, nodes: int, horizon_ns: int) -> Iterator[tuple[int, int]]:
        """(node, life 0) of the nodes below `nodes` whose first life ends within the horizon; drawn in vectors."""
        assert cause.life is not None
        within, within_lemon = cause.life.cdf(horizon_ns), 0.0
        if cause.lemon_life is not None:
            within_lemon = cause.lemon_life.cdf(horizon_ns)
        for first in range(0, nodes, _VECTOR):
            numbers = np.arange(first, min(first + _VECTOR, nodes)) + 1
            uniforms = self._streams["life"][cause.index].uniforms(numbers, 0)
            lemons = None
            if cause.lemon_life is not None:
                lemons = self._lemons.uniforms(numbers, 0) < self._lemon_share
            ends = uniforms <= (within if lemons is None else np.where(lemons, within_lemon, within))
            for i in np.flatnonzero(ends).tolist():
                law = cause.life if lemons is None or cause.lemon_life is None or not lemons[i] else cause.lemon_life
                yield first + i, self._life(law, float(uniforms[i]))

    @staticmethod
    def _life(law: Life, uniform: float) -> int:
        """A life of no length would end before its repair does."""
        return max(1, law.quantile(uniform))

    def duration(self, what: Duration, law: Law, cause: Cause, entity: int, k: int) -> int:
        """A duration (ns) that belongs to the failure that ends life k."""
        return draw(law, self._streams[what][cause.index], entity + 1, k)

    def detection(self, cause: Cause, entity: int, k: int) -> int:
        """The time (ns) from the end of life k to its detection; `NEVER` for a hang without a timeout."""
        return self.duration("detection", cause.detection, cause, entity, k)

    def chance(self, what: Chance, share: float, cause: Cause, entity: int, k: int) -> bool:
        """Whether what befalls a share of the failures befalls the one that ends life k."""
        return share > 0 and self._streams[what][cause.index].uniform(entity + 1, k) < share

    def takes_node(self, cause: Cause, entity: int, k: int) -> bool:
        """Whether the failure that ends life k takes its nodes: not if a restart in place mends it."""
        if cause.out_ns:
            return True
        return cause.repair is not None and not self.chance("transient", cause.transient, cause, entity, k)

    def which(self, cause: Cause, entity: int, k: int, of: int) -> int:
        """A number below `of`, each as likely as the others: where to look for the node that is wrongly taken out."""
        return int(self._streams["wrong node"][cause.index].uniform(entity + 1, k) * of)
