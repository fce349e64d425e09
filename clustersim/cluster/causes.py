"""What breaks: the causes of a scenario, with their laws compiled."""

from dataclasses import dataclass
from typing import Literal

from clustersim.laws import Constant, Law
from clustersim.streams import Hashed

JOB = -1
"""The 'node' of what concerns the job as a whole."""

_NODE_STRIDE = 2**32  # a node's draws under all causes stay apart: entity = cause * stride + node + 1


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause of failures.

    `life` is the law of the time from new to failure of one node (or of the job), in the time the cause ages by.
    `repair` is None for a transient failure, which takes no node. A scripted cause has `life` None.
    """

    index: int
    name: str
    scope: Literal["node", "job"]
    ages: Literal["wall", "in_job", "training"]
    life: Law | None
    renews_all: bool
    detection: Law
    repair: Law | None
    at_times_ns: tuple[int, ...] = ()
    at_steps: tuple[int, ...] = ()
    degrees: tuple[int, ...] = ()


class Draws:
    """The random durations of all causes: life k of a node under a cause, its k-th repair, its k-th detection."""

    def __init__(self, seed: int, replication: int) -> None:
        self._lives = Hashed(seed, replication, "life")
        self._repairs = Hashed(seed, replication, "repair")
        self._detections = Hashed(seed, replication, "detection")
        self.first = self._lives.uniforms

    @staticmethod
    def entity(cause: Cause, node: int) -> int:
        """The number that stands for (cause, node) in a hashed stream."""
        return cause.index * _NODE_STRIDE + node + 1

    def life(self, cause: Cause, node: int, k: int) -> int:
        """Life k (ns) of a node, or of the job, under a cause."""
        assert cause.life is not None
        return cause.life.quantile(self._lives.uniform(self.entity(cause, node), k))

    def repair(self, cause: Cause, node: int, k: int) -> int:
        """The duration (ns) of the repair that ends life k."""
        assert cause.repair is not None
        return self._drawn(self._repairs, cause.repair, cause, node, k)

    def detection(self, cause: Cause, node: int, k: int) -> int:
        """The time (ns) from the end of life k to its detection."""
        return self._drawn(self._detections, cause.detection, cause, node, k)

    def _drawn(self, stream: Hashed, law: Law, cause: Cause, node: int, k: int) -> int:
        if isinstance(law, Constant):
            return law.value_ns
        return law.quantile(stream.uniform(self.entity(cause, node), k))
