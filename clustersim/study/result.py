"""What the replications of one scenario come to, gathered one at a time."""

from collections import Counter
from typing import Any

from clustersim.history import Outcome
from clustersim.run import Figure, Run
from clustersim.scenario import Scenario
from clustersim.study.provenance import provenance
from clustersim.study.replicate import figures


class Result:
    """The figures of the replications added so far; it keeps no run."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario = scenario
        self.seed = seed
        self.summaries: list[dict[str, Figure]] = []
        self.times_h: list[dict[str, float]] = []
        self.outcomes: Counter[Outcome] = Counter()
        """Replications by how they ended."""
        self.all_by_identity = True
        """Whether every replication was counted sample by sample."""
        self._samples: Counter[tuple[int, int]] = Counter()

    def add(self, run: Run) -> None:
        """Take in a finished replication."""
        self.summaries.append(run.summary())
        self.times_h.append(run.time_h)
        self.outcomes[run.history.outcome] += 1
        self.all_by_identity &= run.exact == "identity"
        planned, seen, samples = (column.tolist() for column in run.account.table)
        self._samples.update(dict(zip(zip(planned, seen, strict=True), samples, strict=True)))

    @property
    def replications(self) -> int:
        """Replications that were added."""
        return len(self.summaries)

    @property
    def ledger(self) -> list[dict[str, int | float]]:
        """planned, seen, samples, sorted; samples is a mean over replications where there are several."""
        count = self.replications
        return [
            {"planned": planned, "seen": seen, "samples": samples if count == 1 else samples / count}
            for (planned, seen), samples in sorted(self._samples.items())
        ]

    def as_json(self) -> dict[str, Any]:
        """The result in JSON values: plain figures for one replication, the spread of each for several."""
        several = self.replications > 1
        return {
            "scenario": self.scenario.name,
            "seed": self.seed,
            "replications": self.replications,
            "summary": figures(self.summaries) if several else self.summaries[0],
            "time_h": figures(self.times_h) if several else self.times_h[0],
            "ledger": self.ledger,
            "provenance": provenance(self.scenario, self.seed, self.replications),
        }
