"""Replications of one scenario, and what their figures come to."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from clustersim.run import Figure, Run
from clustersim.scenario import Scenario
from clustersim.simulation import simulate

Spread = dict[str, float]
"""mean; ci95_low, ci95_high (95 % interval of the mean by Student's t); p05, p50, p95 (linear between values)."""


def replicate(
    scenario: Scenario,
    replications: int,
    seed: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> Iterator[Run]:
    """Replications 0 .. replications - 1, one at a time, so that memory does not grow with their number.

    Args:
        scenario: what all of them simulate.
        replications: how many, at least 1.
        seed: instead of the scenario's own `run.seed`.
        progress: called now and then with the replications that are done, a fraction of the running one included.

    Raises:
        ValueError: there would be none.
    """
    if replications < 1:
        raise ValueError(f"expected at least 1 replication, found {replications}")

    def one(replication: int) -> Run:
        tell = None if progress is None else lambda share: progress(replication + share)
        return simulate(scenario, replication, seed, tell)

    return map(one, range(replications))


def figures(rows: Sequence[Mapping[str, Figure]]) -> dict[str, Spread | None]:
    """The spread of each figure over two or more replications; None where any of them has none.

    Args:
        rows: one mapping of figures a replication, all with the same names.
    """
    return {name: _spread([row[name] for row in rows]) for name in rows[0]}


def _spread(values: Sequence[Figure]) -> Spread | None:
    # Half a second of import, for several replications only.
    from scipy.special import stdtrit

    known = np.array([value for value in values if value is not None], dtype=np.float64)
    count = len(known)
    if count < len(values):
        return None
    mean = float(known.mean())
    half_width = float(stdtrit(count - 1, 0.975)) * float(known.std(ddof=1)) / count**0.5
    p05, p50, p95 = np.percentile(known, (5, 50, 95)).tolist()
    return {
        "mean": mean,
        "ci95_low": mean - half_width,
        "ci95_high": mean + half_width,
        "p05": p05,
        "p50": p50,
        "p95": p95,
    }
