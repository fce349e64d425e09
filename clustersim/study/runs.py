"""Single runs of one scenario, whole and one after the other, for those who want every table of each."""

from collections.abc import Callable, Iterator

from clustersim.run import Run
from clustersim.scenario import Scenario
from clustersim.simulation import simulate


def runs(
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
