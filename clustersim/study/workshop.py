"""The workshop: one small run with one failure, read by three loaders."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustersim.figures import Figure
from clustersim.scenario import load_scenario
from clustersim.simulation import simulate

LOADERS = ("restore", "epoch", "reshuffle")


class Played(NamedTuple):
    """What one loader made of it."""

    loader: str
    seed: int
    summary: dict[str, Figure]
    seen: NDArray[np.int64]
    """Views of each document in the final model, int64[documents]."""

    def documents_by_views(self, most: int) -> list[int]:
        """How many documents were seen 0, 1, .. `most` times, or more often than that if any was."""
        counted: list[int] = np.bincount(self.seen, minlength=most + 1).tolist()
        return counted


def play(fail_step: int, seed: int | None = None) -> list[Played]:
    """The shipped workshop with its failure at a step, under each loader; seed: instead of the scenario's own.

    Raises:
        ScenarioError: the shipped scenario was changed so that it no longer holds.
    """
    played = []
    for loader in LOADERS:
        scenario = load_scenario("workshop", {"failures.0.at_steps": [fail_step], "loader.preset": loader})
        run = simulate(scenario, seed=seed)
        played.append(Played(loader, run.seed, run.summary(), run.counts.seen))
    return played
