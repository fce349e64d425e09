"""The random durations and chances of failures; each draw belongs to what it is about."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Literal

from clustersim.cluster.causes import Cause
from clustersim.laws import Constant, Law, Stepwise, draw
from clustersim.streams import Hashed, LowestFirst

Duration = Literal["repair", "manual repair", "detection", "recurrence"]
Chance = Literal["transient", "escalation", "failed repair", "misdiagnosis"]
OfNode = Literal["replacement", "cold start", "borrowing"]
# A life of no length would end before its repair does.
_LEAST_LIFE = 1


class Lifetimes:
    """The random durations of all causes: life k of a node under a cause, the repair after it, its detection.

    Streams are named by the cause, so that a cause keeps its draws whatever other causes a scenario has.
    """

    def __init__(self, seed: int, replication: int, lemon_share: float = 0.0) -> None:
        # Made when they are first drawn from: a run of many causes draws from few of all streams that it could.
        self._stream: Callable[..., Hashed] = cache(partial(Hashed, seed, replication))
        self._first: Callable[[str], LowestFirst] = cache(partial(LowestFirst, seed, replication, "first life"))
        self._lemon_share = lemon_share
        self._lemons: dict[tuple[int, int], bool] = {}  # what is known of (node, generation)

    def life(self, cause: Cause, node: int, k: int, lemon: bool = False, born_ns: int = 0) -> int:
        """Life k (ns, at least 1) of a node, a domain or the job, under a cause; it begins at a date."""
        law = cause.lemon_life if lemon and cause.lemon_life is not None else cause.life
        assert law is not None
        if isinstance(law, Stepwise):
            law = law.born(born_ns)
        if k == 0:
            uniform = self._first(cause.name).uniform(node)
        else:
            uniform = self._stream("life", cause.name).uniform(node + 1, k)
        return law.quantile(uniform) or _LEAST_LIFE

    def is_lemon(self, node: int, generation: int) -> bool:
        """Whether a node is a lemon; generation counts the nodes that have stood in its place before."""
        if not self._lemon_share:
            return False
        known = self._lemons.get((node, generation))
        if known is None:
            known = self._stream("lemon").uniform(node + 1, generation) < self._lemon_share
            self._lemons[node, generation] = known
        return known

    def of_node(self, what: OfNode, law: Law, node: int, number: int) -> int:
        """A duration (ns) that belongs to a node and no cause; number counts them."""
        return draw(law, self._stream(what), node + 1, number)

    def first_lives(self, cause: Cause, nodes: int, horizon_ns: int) -> Iterator[tuple[int, int]]:
        """(node, life 0) of the nodes below `nodes` whose first life ends within the horizon."""
        assert cause.life is not None
        laws = [(law, law.cdf(horizon_ns)) for law in (cause.life, cause.lemon_life or cause.life)]
        found, uniforms = self._first(cause.name).at_most(max(within for _, within in laws), nodes)
        for node, uniform in zip(found.tolist(), uniforms.tolist(), strict=True):
            law, within = laws[self.is_lemon(node, 0)]
            if uniform <= within:
                yield node, law.quantile(uniform) or _LEAST_LIFE

    def duration(self, what: Duration, law: Law, cause: Cause, entity: int, k: int) -> int:
        """A duration (ns) that belongs to the failure that ends life k."""
        if isinstance(law, Constant):
            return law.value_ns
        return law.quantile(self._stream(what, cause.name).uniform(entity + 1, k))

    def detection(self, cause: Cause, entity: int, k: int) -> int:
        """The time (ns) from the end of life k to its detection; `NEVER` for a hang without a timeout."""
        return self.duration("detection", cause.detection, cause, entity, k)

    def chance(self, what: Chance, share: float, cause: Cause, entity: int, k: int) -> bool:
        """Whether what befalls a share of the failures befalls the one that ends life k."""
        return share > 0 and self._stream(what, cause.name).uniform(entity + 1, k) < share

    def takes_node(self, cause: Cause, entity: int, k: int) -> bool:
        """Whether the failure that ends life k takes its nodes: not if a restart in place mends it."""
        if cause.out_ns:
            return True
        if not cause.transient:
            return cause.repair is not None
        return cause.repair is not None and not self.chance("transient", cause.transient, cause, entity, k)

    def which(self, cause: Cause, entity: int, k: int, of: int) -> int:
        """A number below `of`, each as likely as the others: where to look for the node that is wrongly taken out."""
        return int(self._stream("wrong node", cause.name).uniform(entity + 1, k) * of)
