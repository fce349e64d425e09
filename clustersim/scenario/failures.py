"""What breaks: causes that strike at random, failures at stated steps or times, and those of a trace."""

import math
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Discriminator, StrictBool, Tag, model_validator

from clustersim.scenario.errors import wrong
from clustersim.scenario.laws import (
    DurationOrLaw,
    DurationOrLawOrNever,
    EmpiricalLife,
    ExponentialLife,
    LifeLaw,
    WeibullLife,
)
from clustersim.scenario.part import Part
from clustersim.scenario.quantities import LIMIT
from clustersim.scenario.rates import FailureRate
from clustersim.scenario.traced import Traced
from clustersim.scenario.units import (
    Count,
    Duration,
    Name,
    Number,
    PositiveCount,
    PositiveDuration,
    PositiveNumber,
    Share,
)

Kind = Literal["crash", "hang", "silent", "false-alarm", "slow"]

_MOST_TIMES = 100
_MOST_SLOWS = 1000
# What a rate may be of, by scope, and how one writes it.
_RATES = {
    "node": {"node": "per node-day", "GPU": "per GPU-year"},
    "domain": {"domain": "per domain-year"},
    "job": {"job": "per day"},
}


def _check_detection(kind: Kind, detection: object) -> None:
    if kind == "hang" and detection == 0:
        raise wrong('a timeout such as "10 min", or "never", with kind = "hang"', '"0 s"', key="detection")
    if kind == "slow" and detection == 0:
        raise wrong('the time until it is found with kind = "slow"', '"0 s"', key="detection")
    if kind != "hang" and detection == LIMIT:
        raise wrong(f'a duration or a law with kind = "{kind}"', '"never"', key="detection")


def _check_slows(kind: Kind, slows: float | None) -> None:
    if kind != "slow":
        if slows is not None:
            raise wrong('kind = "slow" beside it', f'"{kind}"', key="slows")
    elif slows is None or not 1 < slows <= _MOST_SLOWS:
        found = "nothing" if slows is None else str(slows)
        raise wrong(f'a multiple above 1, at most {_MOST_SLOWS}, with kind = "slow"', found, key="slows")


class Steps(Part):
    """A rate that changes: burn-in, infant mortality, a change at a date."""

    by: Literal["date", "age"]
    """The steps lie at times since the run's start, or at ages of what fails, which a repair makes new."""
    at: tuple[Duration, ...]
    """Increasing; before the first one the rate is the stated one."""
    times: tuple[Number, ...]
    """From each of them on, the rate as a multiple of the stated one; at most 100."""

    @model_validator(mode="after")
    def _check(self) -> "Steps":
        if not self.at:
            raise wrong("at least one entry", "an empty list", key="at")
        if any(a >= b for a, b in zip(self.at, self.at[1:], strict=False)):
            raise wrong("increasing times", "a list out of order", key="at")
        if len(self.times) != len(self.at):
            raise wrong(f"one multiple for each of the {len(self.at)} steps", str(len(self.times)), key="times")
        if max(self.times) > _MOST_TIMES:
            raise wrong(f"multiples of at most {_MOST_TIMES}", str(max(self.times)), key="times")
        return self


class Stochastic(Part):
    """A cause that strikes at random, each node on its own clock or the job as a whole."""

    cause: Name
    """Its name, unique in the scenario."""
    count: Number | None = None
    """Failures seen over a period, on so many nodes or domains, or in one job (scope = "job")."""
    over: PositiveDuration | None = None
    """The period in which `count` failures were seen."""
    on_nodes: PositiveCount | None = None
    """The number of nodes on which `count` failures were seen."""
    on_domains: PositiveCount | None = None
    """With scope = "domain": the number of domains on which `count` failures were seen."""
    rate: FailureRate | None = None
    """Instead of a count: "6.5 per 1000 node-days", "2 per GPU-year", "1 per domain-year"; "3 per day" of the job."""
    law: LifeLaw = ExponentialLife(type="exponential")
    """The law of the time between failures of one node, one domain or the job; its mean is the inverse of the rate.

    An empirical law may stand without a rate.
    """
    steps: Steps | None = None
    """How the rate changes with time; with an exponential or a Weibull law."""
    uncertain: StrictBool = False
    """Draw each replication's rate from what `count` failures tell of it: Gamma(count + 1/2) / exposure."""
    scope: Literal["node", "domain", "job"] = "node"
    """A node fails, or all nodes of a domain at once, or the job stops without losing a node."""
    nodes_per_domain: PositiveCount | None = None
    """With scope = "domain": the nodes of one of its own domains, as a switch over several racks has them; those of
    cluster.nodes_per_domain if not said."""
    ages: Literal["wall", "in_job", "training"] = "wall"
    """What time it ages by: always, only while its node is in the job, or only while the job trains."""
    renews: Literal["cause", "all"] = "cause"
    """What a repair makes new: the cause that failed, or every cause of the node."""
    kind: Kind = "crash"
    """The job stops; hangs until a timeout; trains on with corrupt weights until that is seen; or nothing broke; or
    each step takes longer until the slow node is found, and replaced when the job has saved."""
    slows: PositiveNumber | None = None
    """With kind = "slow": how many times as long a step takes, more than 1 and at most 1000."""
    detection: DurationOrLawOrNever = 0
    """From the failure until it is noticed; of a hang the timeout, or "never"."""
    repair: DurationOrLawOrNever | None = None
    """Until the node is back, or "never"; without it the failure is transient and takes no node."""
    repair_starts: Literal["failure", "detection"] = "failure"
    """When the repair begins. A silent failure's always begins when it is seen."""
    transient: Share = 0
    """The share of the failures that a restart in place mends: they take no node."""
    escalates: Share = 0
    """The share of the repairs that a manual one follows."""
    manual_repair: DurationOrLaw | None = None
    """How long that takes."""
    repair_fails: Share = 0
    """The share of the repairs that mend nothing, and nobody knows; of those that no manual one follows."""
    manual_fails: Share = 0
    """The same of manual repairs."""
    misdiagnosis: Share = 0
    """The share of the failures for which another node of the job, a sound one, is taken out for repair."""
    recurs: DurationOrLaw | None = None
    """The time until what was not mended fails again; as long as any other life if not said."""

    @model_validator(mode="after")
    def _check(self) -> "Stochastic":
        if self.rate is None:
            self._check_count()
        else:
            for key in ("count", "over", "on_nodes", "on_domains"):
                if getattr(self, key) is not None:
                    raise wrong("either a count with its period or a rate", "both", key=key)
            if self.rate.of not in _RATES[self.scope]:
                expected = " or ".join(f'"{example}"' for example in _RATES[self.scope].values())
                raise wrong(f'a rate {expected} with scope = "{self.scope}"', f'"{self.rate}"', key="rate")
        if self.scope == "domain":
            self._check_domain()
        elif self.nodes_per_domain is not None:
            raise wrong('scope = "domain" beside it', f'"{self.scope}"', key="nodes_per_domain")
        if self.uncertain and self.count is None:
            raise wrong("a count with its period, of which a rate is known", "none", key="uncertain")
        if self.steps is not None:
            self._check_steps(self.steps)
        _check_detection(self.kind, self.detection)
        self._check_repair()
        self._check_slow()
        return self

    def _check_slow(self) -> None:
        _check_slows(self.kind, self.slows)
        if self.kind != "slow":
            return
        if self.scope == "domain":
            raise wrong('a node or the job that is slow with kind = "slow"', '"domain"', key="scope")
        if self.misdiagnosis:
            raise wrong('no misdiagnosis with kind = "slow"', str(self.misdiagnosis), key="misdiagnosis")

    @property
    def stops_job(self) -> bool:
        """Whether it interrupts the job that it strikes."""
        return self.kind != "slow"

    def _check_repair(self) -> None:
        if self.repair is None:
            if self.transient:
                expected = "a repair beside it: without one every failure is transient"
                raise wrong(expected, str(self.transient), key="transient")
            for key in ("repair_starts", "escalates", "manual_repair", "repair_fails", "misdiagnosis"):
                if getattr(self, key) != type(self).model_fields[key].default:
                    raise wrong("a repair beside it", "none", key=key)
        elif self.scope == "job":
            raise wrong('no repair with scope = "job", which takes no node', "one", key="repair")
        elif self.kind == "false-alarm":
            raise wrong('no repair with kind = "false-alarm", as nothing broke', "one", key="repair")
        if self.repair_starts == "detection" and self.detection == LIMIT:
            raise wrong('"failure" with detection = "never"', '"detection"', key="repair_starts")
        if (self.escalates > 0) != (self.manual_repair is not None):
            given, missing = ("escalates", "manual_repair") if self.escalates else ("manual_repair", "escalates")
            raise wrong(f"{missing} beside {given}", "none", key=missing)
        if self.manual_fails and self.manual_repair is None:
            raise wrong("a manual_repair beside it", "none", key="manual_fails")
        if self.misdiagnosis and self.scope == "domain":
            raise wrong('scope = "node" beside it', '"domain"', key="misdiagnosis")
        if self.recurs is not None and not (self.repair_fails or self.manual_fails or self.misdiagnosis):
            raise wrong("a repair_fails, manual_fails or misdiagnosis beside it", "none", key="recurs")

    def _check_count(self) -> None:
        if self.count is None:
            if isinstance(self.law, EmpiricalLife) and (self.over or self.on_nodes or self.on_domains) is None:
                return
            raise wrong('count, over and on_nodes, or a rate such as "6.5 per 1000 node-days"', "neither", key="rate")
        if self.over is None:
            raise wrong('a period such as "54 d" beside count', "nothing", key="over")
        for scope, key in (("node", "on_nodes"), ("domain", "on_domains")):
            seen_on = getattr(self, key)
            if scope == self.scope and seen_on is None:
                raise wrong(f"the number of {scope}s that the count was seen on", "nothing", key=key)
            if scope != self.scope and seen_on is not None:
                raise wrong(f'no {key} with scope = "{self.scope}"', str(seen_on), key=key)

    def _check_steps(self, steps: Steps) -> None:
        if not isinstance(self.law, (ExponentialLife, WeibullLife)):
            raise wrong('"exponential" or "weibull" beside steps', f'"{self.law.type}"', key="law.type")
        if steps.by == "date" and self.ages != "wall":
            raise wrong('ages = "wall" with by = "date"', f'"{self.ages}"', key="steps.by")

    def _check_domain(self) -> None:
        for key, only in (("ages", "wall"), ("renews", "cause")):
            if getattr(self, key) != only:
                raise wrong(f'"{only}" with scope = "domain"', f'"{getattr(self, key)}"', key=key)
        if self.kind == "silent":
            raise wrong('a node or the job that computes wrongly with kind = "silent"', '"domain"', key="scope")

    def failures_per_ns(self, gpus_per_node: int) -> float:
        """Failures a nanosecond of one node, of one domain or of the job, as the scope says; may be 0."""
        if self.rate is not None:
            return self.rate.per_ns * (gpus_per_node if self.rate.of == "GPU" else 1)
        if self.count is None:
            assert isinstance(self.law, EmpiricalLife)  # `_check` left no other case
            return len(self.law.durations) / math.fsum(self.law.durations)
        return self.count / self.exposure_ns

    @property
    def exposure_ns(self) -> int:
        """The time over which `count` failures were seen, of all nodes or domains together."""
        assert self.over is not None
        return self.over * (self.on_nodes or self.on_domains or 1)


class Scripted(Part):
    """Failures of the job at stated steps or times; they take no node."""

    cause: Name
    """Its name, unique in the scenario."""
    at_steps: tuple[Count, ...] | None = None
    """In this order, each once: steps 0 .. s-1 are done, s is in flight. A step not trained again is passed over."""
    at_times: tuple[Duration, ...] | None = None
    """Wall-clock times since the start, increasing."""
    data: tuple[PositiveCount, ...] | None = None
    """The data-parallel degree after each of them."""
    kind: Kind = "crash"
    """As of random failures; what is slow is the job as a whole, until that is over after `detection`."""
    slows: PositiveNumber | None = None
    """With kind = "slow": how many times as long a step takes, more than 1 and at most 1000."""
    detection: DurationOrLawOrNever = 0
    """From the failure until it is noticed; of a hang the timeout, or "never"."""

    @model_validator(mode="before")
    @classmethod
    def _strikes_only_as_scripted(cls, values: object) -> object:
        if isinstance(values, Mapping):
            random = [key for key in values if key in Stochastic.model_fields and key not in cls.model_fields]
            if random:
                raise wrong("no such key beside at_steps or at_times, which script a failure", "both", key=random[0])
        return values

    @model_validator(mode="after")
    def _check(self) -> "Scripted":
        if self.at_steps is not None and self.at_times is not None:
            raise wrong("either at_steps or at_times", "both", key="at_times")
        key, times = ("at_steps", self.at_steps) if self.at_times is None else ("at_times", self.at_times)
        if not times:
            raise wrong("at least one entry", "an empty list", key=key)
        if self.at_times is not None and any(a >= b for a, b in zip(self.at_times, self.at_times[1:], strict=False)):
            raise wrong("increasing times", "a list out of order", key="at_times")
        if self.data is not None and len(self.data) != len(times):
            raise wrong(f"one degree for each of the {len(times)} failures", f"{len(self.data)}", key="data")
        if self.data is not None and self.kind == "slow":
            raise wrong('no degrees with kind = "slow", after which nothing restarts', "some", key="data")
        _check_detection(self.kind, self.detection)
        _check_slows(self.kind, self.slows)
        return self


def _tag(value: object) -> str:
    if isinstance(value, Traced) or (isinstance(value, Mapping) and "trace" in value):
        return "<traced>"
    if isinstance(value, Mapping):
        return "<scripted>" if "at_steps" in value or "at_times" in value else "<stochastic>"
    return "<scripted>" if isinstance(value, Scripted) else "<stochastic>"


Failure = Annotated[
    Annotated[Stochastic, Tag("<stochastic>")]
    | Annotated[Scripted, Tag("<scripted>")]
    | Annotated[Traced, Tag("<traced>")],
    Discriminator(_tag),
]
