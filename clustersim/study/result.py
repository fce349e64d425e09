"""What the replications of one scenario come to, gathered one at a time."""

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clustersim.cluster.compile import drawn_rates
from clustersim.figures import Figure
from clustersim.history import HOUR_NS, Outcome
from clustersim.loaders.build import loader_of
from clustersim.run import Run
from clustersim.scenario import Scenario, load_scenario
from clustersim.simulation import orders_for
from clustersim.study.inputs import Split, splits
from clustersim.study.provenance import provenance
from clustersim.study.spread import Spread, figures


class Unfinished(NamedTuple):
    """A replication that did not come to its end."""

    replication: int
    outcome: Outcome
    reason: str
    wall_ns: int


class Result:
    """The figures of the replications added so far; it keeps no run."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario = scenario
        self.seed = seed
        self.numbers: list[int] = []
        """Of the replications, in the order in which they were added."""
        self.summaries: list[dict[str, Figure]] = []
        self.times_h: list[dict[str, float]] = []
        self.unfinished: list[Unfinished] = []
        self.all_by_identity = True
        """Whether every replication was counted sample by sample."""
        self.loader_acts_on_time = False
        """Whether the loader was asked while the clock ran, as it may end the run; else it was followed afterwards."""
        self._samples: Counter[tuple[int, int]] = Counter()

    def add(self, run: Run) -> None:
        """Take in a finished replication."""
        self.numbers.append(run.replication)
        self.summaries.append(run.summary())
        self.times_h.append(run.time_h)
        history = run.history
        if history.outcome != "done":
            self.unfinished.append(Unfinished(run.replication, history.outcome, history.reason, history.wall_ns))
        self.all_by_identity &= run.exact == "identity"
        self.loader_acts_on_time = run.loader.acts_on_time
        planned, seen, samples = (column.tolist() for column in run.account.table)
        self._samples.update(dict(zip(zip(planned, seen, strict=True), samples, strict=True)))

    @classmethod
    def load(cls, directory: Path) -> "Result":
        """The result of the replications that `clustersim run --out` left in a directory.

        Raises:
            OSError: there is none.
            ScenarioError: its scenario is not one of this version.
        """
        made_by = json.loads((directory / "run.json").read_text("utf-8"))["provenance"]
        result = cls(load_scenario(made_by["scenario"]), made_by["seed"])
        summary, time, ledger = (pd.read_parquet(directory / name) for name in ("summary", "time", "ledger"))
        result.loader_acts_on_time = loader_of(result.scenario, *orders_for(result.scenario, result.seed)).acts_on_time
        result.all_by_identity = bool((summary["exact"] == "identity").all())
        result.numbers = summary["replication"].tolist()
        told = ["replication", "seed", "outcome", "reason", "exact"]
        # Whole numbers stay whole; a figure that a run has not is None again.
        numbers = summary.drop(columns=told).astype(object)
        result.summaries = numbers.where(numbers.notna(), None).to_dict("records")  # type: ignore[assignment]
        result.times_h = [
            dict(zip(own["bucket"], own["hours"].tolist(), strict=True)) for _, own in time.groupby("replication")
        ]
        for row in summary[summary["outcome"] != "done"].to_dict("records"):
            ended = row["outcome"], row["reason"], round(row["wall_h"] * HOUR_NS)
            result.unfinished.append(Unfinished(row["replication"], *ended))
        totals = ledger.groupby(["planned", "seen"], as_index=False)["samples"].sum()
        for planned, seen, samples in totals.to_numpy().tolist():
            result._samples[planned, seen] = samples
        return result

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

    @property
    def spreads(self) -> dict[str, Spread | None]:
        """The spread of each figure of the summary; for two or more replications."""
        return figures(self.summaries)

    @property
    def splits(self) -> dict[str, Split] | None:
        """How unsure each mean is for chance, and for rates; None without uncertain rates or replications enough."""
        drawn = [drawn_rates(self.scenario, self.seed, number) for number in self.numbers]
        return splits(self.summaries, np.array(drawn))

    @property
    def times_spread_h(self) -> dict[str, Spread | None]:
        """The spread of each time bucket, in hours; for two or more replications."""
        return figures(self.times_h)

    def as_json(self) -> dict[str, Any]:
        """The result in JSON values: plain figures for one replication, the spread of each for several."""
        several, split = self.replications > 1, self.splits
        return {
            "scenario": self.scenario.name,
            "seed": self.seed,
            "replications": self.replications,
            "summary": self.spreads if several else self.summaries[0],
            "time_h": self.times_spread_h if several else self.times_h[0],
            **({} if split is None else {"ci95_half": {name: half._asdict() for name, half in split.items()}}),
            "ledger": self.ledger,
            "provenance": provenance(self.scenario, self.seed, self.replications),
        }

    def text(self) -> str:
        """`as_json` as JSON text; the same scenario, seed and machine give the same bytes.

        Raises:
            ValueError: a figure is NaN or infinite, which JSON does not know.
        """
        return json.dumps(self.as_json(), indent=2, allow_nan=False)
