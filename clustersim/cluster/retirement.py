"""Which nodes are given up because they fail too often: what an operator who counts failures does about lemons."""

from collections import deque
from dataclasses import dataclass

from clustersim.laws import Law


@dataclass(frozen=True, slots=True)
class Window:
    """A node is given up at the failure that makes `failures` of its within the last `within_ns`."""

    failures: int
    within_ns: int


@dataclass(frozen=True, slots=True)
class Score:
    """Each failure adds 1 to a node's score, which halves every `half_life_ns`; at `score` the node is given up."""

    score: float
    half_life_ns: int


@dataclass(frozen=True, slots=True)
class Retirement:
    """When nodes are given up, and the law of the time until a new one stands in the place of one."""

    policy: Window | Score
    replaced: Law


class Watch:
    """The record of failures of each node that has failed."""

    def __init__(self, retirement: Retirement) -> None:
        self.replaced = retirement.replaced
        """The law of the time until a new node stands in the place of one that is given up."""
        self._policy = retirement.policy
        self._failed: dict[int, deque[int]] = {}  # node -> times of its last failures, at most as many as retire it
        self._scores: dict[int, tuple[float, int]] = {}  # node -> score and when it was that

    def failed(self, node: int, now: int) -> bool:
        """Note a failure; whether it retires the node, whose successor has no record."""
        policy = self._policy
        retires = self._scored(node, now, policy) if isinstance(policy, Score) else self._counted(node, now, policy)
        if retires:
            self._failed.pop(node, None)
            self._scores.pop(node, None)
        return retires

    def _counted(self, node: int, now: int, window: Window) -> bool:
        times = self._failed.setdefault(node, deque(maxlen=window.failures))
        times.append(now)
        return len(times) == window.failures and now - times[0] <= window.within_ns

    def _scored(self, node: int, now: int, policy: Score) -> bool:
        score, then = self._scores.get(node, (0.0, now))
        score = score * 2.0 ** (-(now - then) / policy.half_life_ns) + 1
        self._scores[node] = score, now
        return bool(score >= policy.score)
