"""The random durations and chances of failures; each draw belongs to what it is about."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Literal

from clustersim.cluster.causes import Cause, Strike
from clustersim.laws import Constant, Law, Stepwise, draw
from clustersim.streams import Hashed, lowest

Duration = Literal["repair", "manual repair", "detection", "recurrence"]
Chance = Literal["transient", "escalation", "failed repair", "misdiagnosis"]
OfNode = Literal["replacement", "cold start", "borrowing"]
# Nodes whose lives are drawn at once, for one cause or several: few enough to stay in the processor's cache.
_VECTOR = 2**17
# How often it is looked for another node that the job holds: more than enough, unless it holds next to none.
_LOOKS = 1000
# A life of no length would end before its repair does.
_LEAST_LIFE = 1


class Lifetimes:
    """The random durations of all causes: life k of a node under a cause, the repair after it, its detection.

    Streams are named by the cause, so that a cause keeps its draws whatever other causes a scenario has.
    """

    def __init__(self, seed: int, replication: int, lemon_share: float = 0.0) -> None:
        # Made when they are first drawn from: a run of many causes draws from few of all streams that it could.
        self._stream: Callable[..., Hashed] = cache(partial(Hashed, seed, replication))
        self._lemon_share = lemon_share
        self._lemons: dict[tuple[int, int], bool] = {}  # what is known of (node, generation)

    def life(self, cause: Cause, node: int, k: int, lemon: bool = False, born_ns: int = 0) -> int:
        """Life k (ns, at least 1) of a node, a domain or the job, under a cause; it begins at a date."""
        law = cause.lemon_life if lemon and cause.lemon_life is not None else cause.life
        assert law is not None
        if isinstance(law, Stepwise):
            law = law.born(born_ns)
        stream = self._stream("life", cause.name)
        uniform = stream.uniform(node + 1, k) if k else stream.first(node)
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

    def first_lives(self, aging: Sequence[tuple[Cause, int]], horizon_ns: int) -> Iterator[tuple[Cause, int, int]]:
        """(cause, node, life 0) of the first lives that end within the horizon.

        `aging`: causes, and of each how many nodes or domains age by it.
        """
        drawn_at_once = max(1, _VECTOR // max((nodes for _, nodes in aging), default=1))
        for first in range(0, len(aging), drawn_at_once):
            causes, nodes = zip(*aging[first : first + drawn_at_once], strict=True)
            laws = [
                [(law, law.cdf(horizon_ns)) for law in (cause.life, cause.lemon_life or cause.life)] for cause in causes
            ]
            streams = [self._stream("life", cause.name) for cause in causes]
            most = [max(within for _, within in either) for either in laws]
            for of, node, uniform in zip(*(found.tolist() for found in lowest(streams, most, nodes)), strict=True):
                law, within = laws[of][self.is_lemon(node, 0)]
                if uniform <= within:
                    yield causes[of], node, law.quantile(uniform) or _LEAST_LIFE

    def duration(self, what: Duration, law: Law, strike: Strike) -> int:
        """A duration (ns) that belongs to a failure."""
        if isinstance(law, Constant):
            return law.value_ns
        cause, entity, k = strike
        return law.quantile(self._stream(what, cause.name).uniform(entity + 1, k))

    def chance(self, what: Chance, share: float, strike: Strike) -> bool:
        """Whether what befalls a share of the failures befalls this one."""
        if share == 0:
            return False
        cause, entity, k = strike
        return self._stream(what, cause.name).uniform(entity + 1, k) < share

    def takes_node(self, strike: Strike) -> bool:
        """Whether a failure takes its nodes: not if a restart in place mends it."""
        cause = strike.cause
        if cause.repair is None:
            return bool(cause.out_ns)
        return not (cause.transient and self.chance("transient", cause.transient, strike))

    def which(self, strike: Strike, of: int) -> Iterator[int]:
        """Numbers below `of`, each as likely as the others: where to look for the node that is wrongly taken out."""
        cause, entity, k = strike
        stream = self._stream("wrong node", cause.name)
        return (int(stream.uniform(entity + 1, k + (look << 32)) * of) for look in range(_LOOKS))
