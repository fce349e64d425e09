"""What breaks, in words: how often, and all that makes a cause differ from a crash that is noticed and mended."""

from clustersim.cli.words import count, duration, plural, share
from clustersim.cluster.compile import law_of
from clustersim.forecast import Forecast
from clustersim.scenario import Scenario
from clustersim.scenario.failures import Failure, Scripted, Steps, Stochastic
from clustersim.scenario.laws import (
    DurationOrLawOrNever,
    EmpiricalLife,
    ExponentialLife,
    LifeLaw,
    LogNormalLife,
    WeibullLife,
)
from clustersim.scenario.quantities import LIMIT
from clustersim.scenario.traced import Traced

_AGES = {"in_job": "ages in the job alone", "training": "ages while the job trains alone"}


def failures_in_words(scenario: Scenario, forecast: Forecast) -> str:
    """All causes: those at random together, the scripted ones, and then what is peculiar to which of them."""
    said = []
    if forecast.interruption_mean_h is not None:
        causes = plural(sum(cause.slows is None for cause in forecast.causes), "cause")
        every = duration(3600 * forecast.interruption_mean_h)
        said.append(f"{count(forecast.failures_per_day)} a day from {causes}, one every {every}, at full layout")
    if forecast.scripted_failures:
        said.append(f"{count(forecast.scripted_failures)} scripted")
    if forecast.scripted_slow:
        said.append(f"slow {plural(forecast.scripted_slow, 'time')} by script")
    for place, faults in scenario.faults.items():
        failure = scenario.failures[place]
        assert isinstance(failure, Traced)
        again = f", again every {duration(failure.length / 1e9)}" if failure.at_end == "repeat" else ""
        said.append(f"{failure.cause}: {plural(len(faults), 'fault')} of a trace{again}")
    for cause in forecast.causes:
        if cause.slows is not None:
            assert cause.detection_s is not None  # what is slow is found, sooner or later
            often, found = count(cause.failures_per_day), duration(cause.detection_s)
            said.append(f"{cause.cause}: slow {often} times a day, {cause.slows:g} x a step, found after {found}")
    return "; ".join([*said, *_peculiarities(scenario)]) or "none"


def _peculiarities(scenario: Scenario) -> list[str]:
    """One text a group of causes that are alike; none for plain crashes that do not age."""
    alike: dict[str, list[str]] = {}
    for failure in scenario.failures:
        if told := ", ".join(_peculiar(failure)):
            alike.setdefault(told, []).append(failure.cause)
    return [f"{', '.join(causes)}: {told}" for told, causes in alike.items()]


def _peculiar(failure: Failure) -> list[str]:
    if isinstance(failure, Traced):
        return _noticed(failure)
    said = _kind(failure)
    if isinstance(failure, Scripted):
        slow = [] if failure.slows is None else [f"{failure.slows:g} x a step for {lasts(failure.detection)}"]
        return said + slow + (_noticed(failure) if failure.kind in ("crash", "false-alarm") else [])
    said += _life(failure.law)
    if failure.scope == "domain":
        own = failure.nodes_per_domain
        said.append("takes whole domains" if own is None else f"takes {plural(own, 'node')} that are a domain")
    if failure.ages in _AGES:
        said.append(_AGES[failure.ages])
    if failure.steps is not None:
        said.append(_stepped(failure.steps))
    if failure.uncertain:
        said.append(f"a rate of which {plural(failure.count or 0, 'failure')} tell")
    return said + _repair(failure)


def _kind(failure: Stochastic | Scripted) -> list[str]:
    """How the job meets it, if not as a crash; what is slow is told with how often it is."""
    if failure.kind == "hang":
        return ["hangs for good" if failure.detection == LIMIT else f"hangs for {lasts(failure.detection)}"]
    if failure.kind == "silent":
        return [f"corrupts the weights, which is seen after {lasts(failure.detection)}"]
    return ["a false alarm"] if failure.kind == "false-alarm" else []


def _noticed(failure: Scripted | Traced) -> list[str]:
    """When a crash is noticed that the mean of a restart, which is of the causes at random, leaves out."""
    return [f"noticed after {lasts(failure.detection)}"] if failure.detection else []


def _life(law: LifeLaw) -> list[str]:
    """The law of the lives, if they age."""
    if isinstance(law, ExponentialLife):
        return []
    if isinstance(law, EmpiricalLife):
        return [f"{plural(len(law.durations), 'life', 'lives')} seen"]
    how = f"sigma {law.sigma:g}" if isinstance(law, LogNormalLife) else f"shape {law.shape:g}"
    return [f"{'Weibull' if isinstance(law, WeibullLife) else law.type} lives of {how}"]


def _stepped(steps: Steps) -> str:
    since = "of age" if steps.by == "age" else "of the run"
    told = (
        f"{times:g} times the rate from {duration(at / 1e9)} {since} on"
        for at, times in zip(steps.at, steps.times, strict=True)
    )
    return ", ".join(told)


def _repair(failure: Stochastic) -> list[str]:
    """What a repair does beside bringing the node back, and which failures have none though others do."""
    said = []
    if failure.transient:
        said.append(f"{share(failure.transient)} take no node")
    if failure.misdiagnosis:
        said.append(f"in {share(failure.misdiagnosis)} another node is taken out")
    if failure.repair_starts == "detection":
        said.append("repair starts at the detection")
    if failure.manual_repair is not None:
        said.append(f"{share(failure.escalates)} of the repairs go on by hand for {lasts(failure.manual_repair)}")
    if failure.repair_fails:
        said.append(f"{share(failure.repair_fails)} of the repairs mend nothing")
    if failure.manual_fails:
        said.append(f"{share(failure.manual_fails)} of those by hand mend nothing")
    if failure.recurs is not None:
        said.append(f"what is not mended fails again after {lasts(failure.recurs)}")
    if failure.renews == "all":
        said.append("a repair renews all causes")
    return said


def lasts(stated: DurationOrLawOrNever) -> str:
    """A duration, or the mean of its law."""
    mean = duration(law_of(stated).mean_ns / 1e9)
    return mean if isinstance(stated, int) else f"{mean} on average"


def maintenance_in_words(scenario: Scenario) -> str:
    """All windows; empty without any."""
    said = []
    for each in scenario.maintenance:
        what = "the whole machine" if each.nodes is None else plural(each.nodes, "node")
        when = plural(len(each.at or ()), "time") if each.every is None else f"every {duration(each.every / 1e9)}"
        said.append(f"{each.name}: {what} for {duration(law_of(each.takes).mean_ns / 1e9)}, {when}")
    return "; ".join(said)
