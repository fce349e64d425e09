"""What breaks: the causes of a scenario, with their laws compiled."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from clustersim.laws import Law, draw
from clustersim.streams import Hashed

JOB = -1
"""The 'node' of what concerns the job as a whole."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause of failures.

    `life` is the law of the time from new to failure of one node, domain or of the job, in the time it ages by.
    `repair` is None for a cause that takes no node, and a share `transient` of the others' failures takes none either.
    A scripted cause has `life` None.

    `kind` says how the job meets it. "crash" and "hang": it stands from the failure on and knows after `detection`
    (of a hang the timeout, and perhaps never). "silent": it trains on with corrupt weights for `detection`, and stops
    when that is seen. "false-alarm": as a crash, but nothing broke.
    """

    index: int
    name: str
    scope: Literal["node", "domain", "job"]
    ages: Literal["wall", "in_job", "training"]
    life: Law | None
    renews_all: bool
    detection: Law
    repair: Law | None
    kind: Literal["crash", "hang", "silent", "false-alarm"] = "crash"
    repair_at_detection: bool = False
    transient: float = 0.0
    lemon_life: Law | None = None  # None: a lemon fails as others do
    at_times_ns: tuple[int, ...] = ()
    at_steps: tuple[int, ...] = ()
    degrees: tuple[int, ...] = ()


class Lifetimes:
    """The random durations of all causes: life k of a node under a cause, the repair after it, its detection.

    Streams are named by the cause, so that a cause keeps its draws whatever other causes a scenario has.
    """

    def __init__(self, causes: Sequence[Cause], seed: int, replication: int, lemon_share: float = 0.0) -> None:
        self._lives = [Hashed(seed, replication, "life", cause.name) for cause in causes]
        self._repairs = [Hashed(seed, replication, "repair", cause.name) for cause in causes]
        self._detections = [Hashed(seed, replication, "detection", cause.name) for cause in causes]
        self._transients = [Hashed(seed, replication, "transient", cause.name) for cause in causes]
        self._lemons = Hashed(seed, replication, "lemon")
        self._lemon_share = lemon_share
        self._replacements = Hashed(seed, replication, "replacement")

    def life(self, cause: Cause, node: int, k: int, lemon: bool = False) -> int:
        """Life k (ns, at least 1) of a node, a domain or the job, under a cause."""
        law = cause.lemon_life if lemon and cause.lemon_life is not None else cause.life
        assert law is not None
        return self._life(law, self._lives[cause.index].uniform(node + 1, k))

    def is_lemon(self, node: int, generation: int) -> bool:
        """Whether a node is a lemon; generation counts the nodes that have stood in its place before."""
        return self._lemon_share > 0 and self._lemons.uniform(node + 1, generation) < self._lemon_share

    def replacement(self, law: Law, node: int, generation: int) -> int:
        """The time (ns) until a new node stands in the place of one that was given up."""
        return draw(law, self._replacements, node + 1, generation)

    def first_lives(self, cause: Cause, nodes: int, horizon_ns: int) -> Iterator[tuple[int, int]]:
        """(node, life 0) of the nodes below `nodes` whose first life ends within the horizon; one vectorised draw."""
        assert cause.life is not None
        numbers = np.arange(1, nodes + 1)
        uniforms = self._lives[cause.index].uniforms(numbers, 0)
        if cause.lemon_life is None:
            for node in np.flatnonzero(uniforms <= cause.life.cdf(horizon_ns)).tolist():
                yield node, self._life(cause.life, float(uniforms[node]))
            return
        lemons = self._lemons.uniforms(numbers, 0) < self._lemon_share
        within = np.where(lemons, cause.lemon_life.cdf(horizon_ns), cause.life.cdf(horizon_ns))
        for node in np.flatnonzero(uniforms <= within).tolist():
            yield node, self._life(cause.lemon_life if lemons[node] else cause.life, float(uniforms[node]))

    @staticmethod
    def _life(law: Law, uniform: float) -> int:
        """A life of no length would end before its repair does."""
        return max(1, law.quantile(uniform))

    def repair(self, cause: Cause, node: int, k: int) -> int:
        """The duration (ns) of the repair that ends life k."""
        assert cause.repair is not None
        return draw(cause.repair, self._repairs[cause.index], node + 1, k)

    def takes_node(self, cause: Cause, node: int, k: int) -> bool:
        """Whether the failure that ends life k takes its node: not if a restart in place mends it."""
        if cause.repair is None or cause.transient == 0:
            return cause.repair is not None
        return self._transients[cause.index].uniform(node + 1, k) >= cause.transient

    def detection(self, cause: Cause, node: int, k: int) -> int:
        """The time (ns) from the end of life k to its detection; `NEVER` for a hang without a timeout."""
        return draw(cause.detection, self._detections[cause.index], node + 1, k)
