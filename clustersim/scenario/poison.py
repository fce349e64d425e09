"""The record of death: samples that crash the step that reads them, and what is done about it."""

from itertools import pairwise
from typing import Literal

from pydantic import model_validator

from clustersim.scenario.errors import wrong
from clustersim.scenario.laws import DurationOrLaw
from clustersim.scenario.part import Part
from clustersim.scenario.units import Count, PositiveCount, Share


class Poison(Part):
    """Samples that kill. Where the order comes back after a crash, the job dies at the same step again."""

    samples: tuple[Count, ...] | None = None
    """Which ones."""
    share: Share | None = None
    """Instead of samples: how large a part of the corpus they are, drawn anew in each replication."""
    together: PositiveCount = 1
    """How many of them in one batch crash it."""
    retries: Count = 3
    """Restarts that are tried at the same step before anything is done."""
    act: Literal["skip-batch", "quarantine", "bisect"] = "skip-batch"
    """Then the step trains on nothing; or the samples are known and never trained on again; or they are known after a
    search, a crash for each half of the batch."""
    detection: DurationOrLaw = 0
    """From a crash until it is noticed."""

    @model_validator(mode="after")
    def _check(self) -> "Poison":
        if (self.samples is None) == (self.share is None):
            raise wrong("either samples or share", "neither" if self.samples is None else "both", key="samples")
        if self.act == "bisect" and self.together > 1:
            raise wrong('"skip-batch" or "quarantine" with together > 1, as halves part them', '"bisect"', key="act")
        if self.samples is not None:
            twice = [one for one, next_one in pairwise(sorted(self.samples)) if one == next_one]
            if twice:
                raise wrong("each sample once", f"{twice[0]} again", key="samples")
            if len(self.samples) < self.together:
                expected = f"at least {self.together}, as so many in a batch crash it"
                raise wrong(expected, str(len(self.samples)), key="samples")
        return self
