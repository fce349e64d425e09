"""From a scenario to the cluster's own terms: laws, and the causes of failures."""

from collections.abc import Sequence

from clustersim import laws
from clustersim.cluster.causes import Cause
from clustersim.cluster.machine import Machine
from clustersim.cluster.retirement import Retirement, Score, Window
from clustersim.laws import NEVER, Constant, Law, Life
from clustersim.loaders.wandering import CAUSE
from clustersim.scenario import Scenario
from clustersim.scenario.cluster import Retirement as StatedRetirement
from clustersim.scenario.failures import Scripted, Stochastic
from clustersim.scenario.laws import (
    DurationOrLawOrNever,
    Empirical,
    EmpiricalLife,
    Exponential,
    Gamma,
    GammaLife,
    LogNormal,
    LogNormalLife,
    WeibullLife,
)
from clustersim.scenario.maintenance import Maintenance
from clustersim.scenario.poison import Poison
from clustersim.scenario.traced import Fault, Traced
from clustersim.streams import Hashed, generator


def law_of(stated: DurationOrLawOrNever) -> Law:
    """The law of a duration that a scenario states."""
    if isinstance(stated, int):
        return Constant(stated)
    if isinstance(stated, Exponential):
        return laws.Weibull.of_mean(stated.mean)
    if isinstance(stated, Gamma):
        return laws.Gamma.of_mean(stated.mean, stated.shape)
    if isinstance(stated, Empirical):
        return laws.Empirical(tuple(sorted(stated.durations)))
    if isinstance(stated, LogNormal):
        if stated.median is not None:
            return laws.Lognormal(stated.median, stated.sigma)
        assert stated.mean is not None
        return laws.Lognormal.of_mean(stated.mean, stated.sigma)
    if stated.scale is not None:
        return laws.Weibull(stated.shape, stated.scale)
    assert stated.mean is not None
    return laws.Weibull.of_mean(stated.mean, stated.shape)


def life_of(failure: Stochastic, per_ns: float) -> Life:
    """The law of a life under a cause whose mean is the inverse of a failure rate; a rate of 0 never fails."""
    stated = failure.law
    if per_ns == 0:
        return Constant(NEVER)
    if isinstance(stated, LogNormalLife):
        return laws.Lognormal.of_mean(1 / per_ns, stated.sigma)
    if isinstance(stated, GammaLife):
        return laws.Gamma.of_mean(1 / per_ns, stated.shape)
    if isinstance(stated, EmpiricalLife):
        return laws.Empirical.of_mean(1 / per_ns, stated.durations)
    base = laws.Weibull.of_mean(1 / per_ns, stated.shape if isinstance(stated, WeibullLife) else 1.0)
    steps = failure.steps
    return base if steps is None else laws.Stepwise(base, steps.at, steps.times, steps.by == "date")


def machine_of(scenario: Scenario) -> Machine:
    """The scenario's nodes."""
    cluster = scenario.cluster
    return Machine(
        nodes=cluster.nodes,
        spares=cluster.spares,
        repair_slots=cluster.repair_slots,
        nodes_per_domain=cluster.nodes_per_domain or 1,
        lemon_share=0.0 if cluster.lemons is None else cluster.lemons.share,
        lemons_cured=cluster.lemons is not None and cluster.lemons.cured_by_repair,
        retirement=None if cluster.retirement is None else _retirement(cluster.retirement),
        cold=0 if cluster.cold is None else cluster.cold.nodes,
        cold_start=law_of(0 if cluster.cold is None else cluster.cold.start_up),
        lent=0 if cluster.borrowed is None else cluster.borrowed.nodes,
        lent_after=law_of(0 if cluster.borrowed is None else cluster.borrowed.after),
    )


def _retirement(stated: StatedRetirement) -> Retirement:
    policy: Window | Score
    if stated.score is None:
        assert stated.failures is not None
        assert stated.within is not None
        policy = Window(stated.failures, stated.within)
    else:
        assert stated.half_life is not None
        policy = Score(stated.score, stated.half_life)
    return Retirement(policy, law_of(stated.replaced))


def causes_of(scenario: Scenario, seed: int, replication: int) -> list[Cause]:
    """The scenario's causes, in its order, maintenance last; a trace gives one for each of its own."""
    causes: list[Cause] = []
    for place, failure in enumerate(scenario.failures):
        if isinstance(failure, Traced):
            causes += _traced(len(causes), failure, scenario.faults[place], scenario.sizes.limit_ns, seed, replication)
        else:
            causes.append(_cause(len(causes), failure, scenario, seed, replication))
    if scenario.poison is not None:
        causes.append(_poison(len(causes), scenario.poison))
    for each in scenario.maintenance:
        causes.append(_maintenance(len(causes), each, scenario, seed, replication))
    return causes


def _maintenance(index: int, stated: Maintenance, scenario: Scenario, seed: int, replication: int) -> Cause:
    """Windows of the whole machine, or each of some nodes that take turns."""
    begins_ns = stated.begins_ns(scenario.sizes.limit_ns)
    of_each, own = stated.nodes or 1, scenario.cluster.own_nodes
    # Which node by window and place in it; the draws of the whole machine are those of no node.
    nodes = [] if stated.nodes is None else [turn % own for turn in range(len(begins_ns) * of_each)]
    law, stream = law_of(stated.takes), Hashed(seed, replication, "maintenance", stated.name)
    return Cause(
        index=index,
        name=stated.name,
        scope="job" if stated.nodes is None else "node",
        ages="wall",
        life=None,
        renews_all=False,
        detection=law_of(0),
        repair=None,
        kind="maintenance",
        at_times_ns=tuple(begin_ns for begin_ns in begins_ns for _ in range(of_each)),
        at_nodes=tuple(nodes),
        out_ns=tuple(
            laws.draw(law, stream, nodes[turn] + 1 if nodes else 0, turn) for turn in range(len(begins_ns) * of_each)
        ),
    )


def _poison(index: int, stated: Poison) -> Cause:
    """The crashes at steps that read poison, and those of searches for it."""
    return Cause(
        index=index,
        name=CAUSE,
        scope="job",
        ages="wall",
        life=None,
        renews_all=False,
        detection=law_of(stated.detection),
        repair=None,
        by_what_is_read=True,
    )


def _traced(
    index: int, failure: Traced, faults: Sequence[Fault], horizon_ns: int, seed: int, replication: int
) -> list[Cause]:
    """One cause for each that the trace names, in the order of their first faults; it may go round and round."""
    nodes = range(failure.nodes)
    if failure.assign == "shuffle":
        nodes = generator(seed, replication, "trace", failure.cause).permutation(failure.nodes).tolist()
    rounds = 1 if failure.at_end == "stop" else -(-horizon_ns // failure.length)
    of_cause: dict[str, list[tuple[int, int, int]]] = {}
    for begun in range(0, rounds * failure.length, failure.length):
        for fault in faults:
            entry = (begun + fault.start_ns, nodes[fault.node], fault.end_ns - fault.start_ns)
            of_cause.setdefault(fault.cause, []).append(entry)
    return [
        Cause(
            index=index + number,
            name=f"{failure.cause}: {name}" if name else failure.cause,
            scope="node",
            ages="wall",
            life=None,
            renews_all=False,
            detection=law_of(failure.detection),
            repair=None,
            at_times_ns=tuple(start_ns for start_ns, _, _ in entries),
            at_nodes=tuple(node for _, node, _ in entries),
            out_ns=tuple(out_ns for _, _, out_ns in entries),
        )
        for number, (name, entries) in enumerate(of_cause.items())
    ]


def _drawn_rate(failure: Stochastic, seed: int, replication: int) -> float:
    """A rate (per ns) that n failures are known of: drawn from its posterior, Gamma(n + 1/2) over the exposure.

    That is Jeffreys' prior: with n = 0 the rate need not be 0.
    """
    from scipy.special import gammaincinv

    assert failure.count is not None
    uniform = Hashed(seed, replication, "rate", failure.cause).uniform(0, 0)
    return float(gammaincinv(failure.count + 0.5, uniform)) / failure.exposure_ns


def drawn_rates(scenario: Scenario, seed: int, replication: int) -> list[float]:
    """The rates (per ns) that a replication draws: one for each uncertain cause, in the scenario's order."""
    stochastic = (failure for failure in scenario.failures if isinstance(failure, Stochastic))
    return [_drawn_rate(failure, seed, replication) for failure in stochastic if failure.uncertain]


def _cause(index: int, failure: Stochastic | Scripted, scenario: Scenario, seed: int, replication: int) -> Cause:
    if isinstance(failure, Scripted):
        return Cause(
            index=index,
            name=failure.cause,
            scope="job",
            ages="wall",
            life=None,
            renews_all=False,
            detection=law_of(failure.detection),
            repair=None,
            kind=failure.kind,
            at_times_ns=failure.at_times or (),
            at_steps=failure.at_steps or (),
            degrees=failure.data or (),
            slows=failure.slows or 1.0,
        )
    lemons = scenario.cluster.lemons
    per_ns = failure.failures_per_ns(scenario.cluster.gpus_per_node)
    if failure.uncertain:
        per_ns = _drawn_rate(failure, seed, replication)
    return Cause(
        index=index,
        name=failure.cause,
        scope=failure.scope,
        nodes_per_domain=failure.nodes_per_domain or scenario.cluster.nodes_per_domain or 1,
        ages=failure.ages,
        life=life_of(failure, per_ns),
        lemon_life=life_of(failure, per_ns * lemons.times) if lemons and failure.scope == "node" else None,
        renews_all=failure.renews == "all",
        detection=law_of(failure.detection),
        repair=None if failure.repair is None else law_of(failure.repair),
        kind=failure.kind,
        slows=failure.slows or 1.0,
        repair_at_detection=failure.repair_starts == "detection",
        transient=failure.transient,
        manual_repair=None if failure.manual_repair is None else law_of(failure.manual_repair),
        escalates=failure.escalates,
        repair_fails=failure.repair_fails,
        manual_fails=failure.manual_fails,
        misdiagnosis=failure.misdiagnosis,
        recurs=None if failure.recurs is None else law_of(failure.recurs),
    )
