"""What can be known of a scenario before any simulation: sizes, expected failures, repairs, intervals and feed."""

import math
from dataclasses import dataclass
from typing import Literal

from clustersim.cluster.compile import law_of
from clustersim.history import HOUR_NS
from clustersim.laws import NEVER, Constant
from clustersim.scenario import Scenario
from clustersim.scenario.failures import Scripted, Stochastic
from clustersim.storage.feeding import supply_of
from clustersim.theory import daly, first_order_ettr, young
from clustersim.training.compile import job_plan

_SECOND_NS = 10**9
_DAY_NS = 24 * HOUR_NS
# How a scenario's "never" is compiled: of a repair, of a hang's timeout.
_NEVER = Constant(NEVER)
# Spares run short often enough to be worth a word.
_SHORT_OFTEN = 0.05
# Failures that take minutes to simulate: a restart takes some 0.8 ms, with every table.
_MANY = 100_000


@dataclass(frozen=True)
class CauseForecast:
    """What one random cause does, at full layout."""

    cause: str
    failures_per_day: float
    """Of the nodes of the job, or of the job."""
    stops_at_once: bool
    """False of a silent failure: the job trains on until it is seen; and of a slow node."""
    slows: float | None
    """Of a slow node, which stops nothing: how many times as long a step takes."""
    detection_s: float | None
    """Mean; None of a hang that nothing notices."""
    takes: Literal["node for repair", "node for good", "no node"]
    repair_h: float | None
    """Mean; None if nothing is repaired."""


@dataclass(frozen=True)
class Forecast:
    """Expectations in closed form; None where the scenario does not say enough, or no random failure is stated.

    Rates are means over a long time: a law that ages has the same mean and another beginning.
    """

    gpus: int
    data_parallel: int
    step_s: float
    global_batch: int
    samples: int
    """Of an epoch."""
    epoch_steps: float
    failure_free_steps: int
    """Steps of the run without failures, with its saves."""
    failure_free_h: float
    failure_free_epochs: float
    feed_tokens_per_s: float | None
    feed_bytes_per_s: float | None

    causes: tuple[CauseForecast, ...]
    scripted_failures: int
    scripted_slow: int
    """How often the job is slow by script, which stops nothing."""
    failures_per_day: float
    """Random failures that stop the job."""
    interruption_mean_h: float | None
    """Mean time between them, M."""
    failures: float
    """Those that stop the job in the time of a run without any, scripted ones too; fewer where it has long to wait."""

    nodes_down: float
    """Nodes in repair on average: rate of losing them (spares fail too) times mean repair; no wait for a slot."""
    nodes_lost: float
    """Nodes that are lost for good by the end of a run without interruptions."""
    repair_slots: int | None
    spares: int
    """Nodes that may take the place of others: spares, cold ones, and those that can be borrowed."""
    spare_shortfall: float
    """Probability that more nodes are down or lost by the end than there are spares: a Poisson law of their mean."""

    save_s: float
    """Training stands still this long at each save."""
    write_s: float
    """After it, until a save is durable."""
    restart_s: float
    """Mean detection (of what is noticed), diagnosis, scheduling, start-up, load and warm-up."""
    interval_steps: int
    interval_s: float
    """Training between saves: whole steps."""
    young_s: float | None
    daly_s: float | None
    ettr_first_order: float | None
    """Without waits for nodes and for saves being written; None where failures in place cost no restart."""

    warnings: tuple[str, ...]


def forecast(scenario: Scenario) -> Forecast:
    """The forecast of a scenario."""
    sizes = scenario.sizes
    plan = job_plan(scenario)
    clock = plan.clock(sizes.data)
    step_ns, saving = clock.step, clock.savings[0]
    causes = tuple(_cause(scenario, failure) for failure in scenario.failures if isinstance(failure, Stochastic))
    mean_ns = 1 / sizes.failures_per_ns if sizes.failures_per_ns else None
    nodes_down, lost_per_ns = _nodes_down(scenario), _nodes_lost_per_ns(scenario)
    steps = sizes.steps if sizes.steps is not None else clock.at(sizes.limit_ns).steps
    run_ns = clock.time_of(steps) if sizes.wall_ns is None else sizes.wall_ns
    nodes_lost, spares = lost_per_ns * run_ns, scenario.cluster.all_nodes - scenario.cluster.nodes
    short = _more_than(spares, nodes_down + nodes_lost)
    scripted = _scripted(scenario, slow=False)
    failures = sizes.failures_per_ns * run_ns + scripted
    restart_ns = _detection_ns(causes) + plan.restart_mean_ns(scenario.cluster.nodes)
    interval_ns, save_ns = saving.every * step_ns, scenario.checkpoint.stall
    return Forecast(
        gpus=sizes.gpus,
        data_parallel=sizes.data,
        step_s=step_ns / _SECOND_NS,
        global_batch=sizes.batch,
        samples=sizes.samples,
        epoch_steps=sizes.samples / sizes.batch,
        failure_free_steps=steps,
        failure_free_h=run_ns / HOUR_NS,
        failure_free_epochs=sizes.batches.before(steps) / sizes.samples,
        feed_tokens_per_s=sizes.tokens_per_s,
        feed_bytes_per_s=sizes.bytes_per_s,
        causes=causes,
        scripted_failures=scripted,
        scripted_slow=_scripted(scenario, slow=True),
        failures_per_day=sizes.failures_per_ns * _DAY_NS,
        interruption_mean_h=None if mean_ns is None else mean_ns / HOUR_NS,
        failures=failures,
        nodes_down=nodes_down,
        nodes_lost=nodes_lost,
        repair_slots=scenario.cluster.repair_slots,
        spares=spares,
        spare_shortfall=short,
        save_s=save_ns / _SECOND_NS,
        write_s=saving.write / _SECOND_NS,
        restart_s=restart_ns / _SECOND_NS,
        interval_steps=saving.every,
        interval_s=interval_ns / _SECOND_NS,
        young_s=None if mean_ns is None else young(save_ns, mean_ns) / _SECOND_NS,
        daly_s=None if mean_ns is None else daly(save_ns, mean_ns) / _SECOND_NS,
        ettr_first_order=None
        if mean_ns is None or plan.in_place
        else first_order_ettr(interval_ns, save_ns, mean_ns, restart_ns),
        warnings=tuple(_warnings(scenario, failures, nodes_down, nodes_lost, spares, short, interval_ns, mean_ns)),
    )


def _cause(scenario: Scenario, failure: Stochastic) -> CauseForecast:
    exposed, detection = scenario.cluster.exposed(failure.scope, failure.nodes_per_domain), law_of(failure.detection)
    repair_ns = _repair_ns(failure)
    takes: Literal["node for repair", "node for good", "no node"] = "node for repair"
    if repair_ns is None:
        takes = "no node" if failure.repair is None else "node for good"
    return CauseForecast(
        cause=failure.cause,
        failures_per_day=failure.failures_per_ns(scenario.cluster.gpus_per_node) * exposed * _DAY_NS,
        stops_at_once=failure.kind not in ("silent", "slow"),
        slows=failure.slows,
        detection_s=None if detection == _NEVER else detection.mean_ns / _SECOND_NS,
        takes=takes,
        repair_h=None if repair_ns is None else repair_ns / HOUR_NS,
    )


def _scripted(scenario: Scenario, slow: bool) -> int:
    """How often something happens by script: that the job is slow, or that it fails."""
    scripts = [failure for failure in scenario.failures if isinstance(failure, Scripted)]
    return sum(len(each.at_steps or each.at_times or ()) for each in scripts if (each.kind == "slow") == slow)


def _nodes_down(scenario: Scenario) -> float:
    """Little's law: nodes taken for repair a nanosecond, times the mean of their repair."""
    return math.fsum(rate * mean_ns for rate, mean_ns in _takers(scenario) if mean_ns is not None)


def _nodes_lost_per_ns(scenario: Scenario) -> float:
    return math.fsum(rate for rate, mean_ns in _takers(scenario) if mean_ns is None)


def _repair_ns(failure: Stochastic) -> float | None:
    """Mean of a repair and of the manual one that may follow; None if there is none, or the node is lost for good."""
    if failure.repair is None or law_of(failure.repair) == _NEVER:
        return None
    manual_ns = 0.0 if failure.manual_repair is None else law_of(failure.manual_repair).mean_ns
    return law_of(failure.repair).mean_ns + failure.escalates * manual_ns


def _takers(scenario: Scenario) -> list[tuple[float, float | None]]:
    """Of each cause that takes nodes: how many a nanosecond, and for how many on average (None: for good).

    Only wall-clock ages run in spares, cold ones too, not in nodes that can be borrowed.

    The failure of a domain takes all its nodes, so that each goes at the rate of its domain.
    """
    cluster = scenario.cluster
    return [
        (
            (1 - failure.transient)
            * failure.failures_per_ns(cluster.gpus_per_node)
            * (cluster.mean_lemon if failure.scope == "node" else 1)
            * (cluster.own_nodes if failure.ages == "wall" else cluster.nodes),
            _repair_ns(failure),
        )
        for failure in scenario.failures
        if isinstance(failure, Stochastic) and failure.repair is not None
    ]


def _detection_ns(causes: tuple[CauseForecast, ...]) -> float:
    """Mean detection, weighted by how often each cause that stops the job, and that is noticed, strikes."""
    noticed = [(cause, cause.detection_s) for cause in causes if cause.detection_s is not None]
    often = math.fsum(cause.failures_per_day for cause, _ in noticed if cause.slows is None)
    waited_s = math.fsum(cause.failures_per_day * mean_s for cause, mean_s in noticed if cause.stops_at_once)
    detected_s = waited_s / often if often else 0.0
    return detected_s * _SECOND_NS


def _more_than(spares: int, mean: float) -> float:
    """P(more than `spares`) under a Poisson law, exact for unlimited slots and whatever law of repair."""
    from scipy.special import pdtrc

    return float(pdtrc(spares, mean))


def _warnings(
    scenario: Scenario,
    failures: float,
    nodes_down: float,
    nodes_lost: float,
    spares: int,
    short: float,
    interval_ns: int,
    mean_ns: float | None,
) -> list[str]:
    slots = scenario.cluster.repair_slots
    warnings = []
    if failures > _MANY:
        warnings.append(f"some {failures:,.0f} failures stop the job: to simulate a run takes minutes, or longer")
    if slots is not None and nodes_down > slots:
        warnings.append(
            f"repairs pile up: nodes break so often that {nodes_down:.3g} would be in repair at once, "
            f"and there are {slots} repair slots"
        )
    if short > _SHORT_OFTEN:
        lost = f" and {nodes_lost:.3g} lost for good by the end" if nodes_lost else ""
        warnings.append(
            f"spares run short: with {nodes_down:.3g} nodes in repair on average{lost}, "
            f"more nodes are gone than the {spares} spares replace with probability {short:.0%}"
        )
    for failure in scenario.failures:
        if isinstance(failure, (Stochastic, Scripted)) and law_of(failure.detection) == _NEVER:
            warnings.append(
                f"nothing notices {failure.cause}: from the first time on the job hangs until the run is over"
            )
    if mean_ns is not None and interval_ns > mean_ns:
        warnings.append("the checkpoint interval is longer than the mean time between interruptions")
    supply = supply_of(scenario)
    if supply is not None and supply.keeps_up < 1:
        warnings.append(
            f"the storage starves the job: read by {supply.pattern}, at most {supply.keeps_up:.3g} of what is asked "
            f"for comes, by its {supply.bottleneck}"
        )
    return warnings
