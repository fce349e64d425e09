"""From a scenario to the clock's own terms, and the run of the clock."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import simpy

from clustersim.cluster.clock import Alarm, Rank
from clustersim.cluster.cluster import Cluster
from clustersim.cluster.compile import causes_of, law_of, machine_of
from clustersim.cluster.lifetimes import Lifetimes
from clustersim.history import History
from clustersim.laws import Constant, Law
from clustersim.scenario import Scenario
from clustersim.scenario.checkpoint import MAIN_TIER, Medium
from clustersim.scenario.laws import DurationOrLaw
from clustersim.storage.feeding import wait_ns
from clustersim.streams import Hashed
from clustersim.training.job import Job
from clustersim.training.leg import LegClock, Saving
from clustersim.training.plan import Feed, JobPlan, Tier
from clustersim.training.store import Store


def job_plan(scenario: Scenario) -> JobPlan:
    """What the job does."""
    sizes, checkpoint, recovery = scenario.sizes, scenario.checkpoint, scenario.recovery

    @cache
    def waits_ns(degree: int) -> int:
        return wait_ns(scenario, degree)

    @cache
    def clock(degree: int) -> LegClock:
        trained_ns = sizes.full_step_ns if recovery.batch == "shrinks" else sizes.step_ns(degree)
        step_ns, size, nodes = trained_ns + waits_ns(degree), sizes.checkpoint_bytes, sizes.nodes(degree)
        everies = [sizes.steps_between_saves(step_ns), *(tier.every.steps_of(step_ns) for tier in checkpoint.tiers)]
        savings = tuple(
            Saving(every, medium.stall, medium.write_ns(size, nodes), checkpoint.when_busy)
            for every, medium in zip(everies, (checkpoint, *checkpoint.tiers), strict=True)
        )
        return LegClock(step_ns, savings)

    return JobPlan(
        degree=sizes.data,
        degree_allowed=sizes.degrees_ok,
        least_degree=sizes.min_data,
        unit_nodes=sizes.unit_nodes,
        unit_replicas=sizes.unit_replicas,
        clock=clock,
        wait_ns=waits_ns,
        steps=None if sizes.epochs is not None else sizes.steps,
        end_ns=sizes.limit_ns,
        ends_by_time=sizes.wall_ns is not None,
        first_mtbf_ns=_first_mtbf_ns(scenario),
        tiers=_tiers(scenario),
        final_checkpoint=checkpoint.final_checkpoint,
        policy=recovery.policy,
        grow_back=recovery.grow_back,
        in_place=recovery.in_place,
        regroup=law_of(recovery.regroup),
        rejoin=law_of(recovery.rejoin),
        diagnosis=law_of(recovery.diagnosis),
        scheduling=law_of(recovery.scheduling),
        start_up=law_of(recovery.start_up),
        start_up_more_ns=cache(recovery.start_up_more_ns),
        load_attempts=recovery.load_attempts,
        warm_up=law_of(recovery.warm_up),
        rewinds=tuple((rewind.at_step, rewind.back) for rewind in scenario.rewinds),
    )


def _first_mtbf_ns(scenario: Scenario) -> float | None:
    if scenario.checkpoint.every.by != "adaptive":
        return None
    return scenario.checkpoint.first_mtbf or 1 / scenario.sizes.failures_per_ns


def _tiers(scenario: Scenario) -> tuple[Tier, ...]:
    """[checkpoint] itself, which survives all that happens to the job, and its tiers."""
    main = _tier(scenario, MAIN_TIER, scenario.checkpoint, scenario.recovery.load)
    return main, *(
        replace(_tier(scenario, tier.name, tier, tier.load), survives=tier.survives, copies=tier.copies)
        for tier in scenario.checkpoint.tiers
    )


def _tier(scenario: Scenario, name: str, medium: Medium, load: DurationOrLaw | None) -> Tier:
    sizes, stated = scenario.sizes, law_of(load or 0)

    @cache
    def load_of(degree: int) -> Law:
        if not medium.reads_by_bandwidth:
            return stated
        copies = degree if medium.read_by == "replica" else 1
        return Constant(medium.read_ns(sizes.checkpoint_bytes * copies, sizes.nodes(degree)))

    return Tier(
        name=name,
        load=load_of,
        keep=medium.keep,
        corrupt_at_load=medium.corrupt_at_load,
        corrupt_later=medium.corrupt_later,
        bad_after_steps=medium.bad_after_steps or 1,
    )


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Nothing that a run lets go of is part of a cycle, and all that it keeps is written down: nothing to look for."""
    if not gc.isenabled():  # it rests already, and is woken by whoever put it to rest
        yield
        return
    try:
        gc.disable()
        yield
    finally:
        gc.enable()


_REPORTS = 1000
"""How often a run that lasts to its limit tells how far it is."""


class World:
    """One scenario's cluster and job in simulated time, ready to run; `env` counts nanoseconds."""

    def __init__(self, scenario: Scenario, seed: int, replication: int, feed: Feed | None = None) -> None:
        causes, machine = causes_of(scenario, seed, replication), machine_of(scenario)
        self._sizes = scenario.sizes
        self.env = simpy.Environment()
        self.cluster = Cluster(
            self.env,
            causes,
            Lifetimes(seed, replication, machine.lemon_share),
            machine,
            horizon_ns=scenario.sizes.limit_ns,
        )
        plan, phases = job_plan(scenario), Hashed(seed, replication, "recovery")
        fates = [Hashed(seed, replication, "checkpoint", tier.name) for tier in plan.tiers]
        store = Store(plan.tiers, fates, machine.nodes_per_domain)
        self.job = Job(self.env, self.cluster, plan, store, causes, phases, feed)

    def run(self, progress: Callable[[float], object] | None = None) -> History:
        """Run to the end.

        Args:
            progress: called now and then with the share that is done, 0 to 1: of the steps, as far as checkpoints keep
                them, or of the time that the run may take, whichever is more.
        """
        if progress is not None:
            self._report(progress)
        with collector_at_rest():
            self.env.run(until=self.job.over)
        return self.job.history

    def _report(self, progress: Callable[[float], object]) -> None:
        """Tell the progress at even times. It changes nothing, so what else happens at that instant does not matter."""
        steps, limit_ns = self._sizes.steps, self._sizes.limit_ns
        every_ns = max(1, limit_ns // _REPORTS)

        def tell(alarm: Alarm) -> None:
            legs = self.job.history.legs
            of_steps = legs[-1].kept / steps if steps and legs else 0.0
            progress(min(1.0, max(of_steps, alarm.at_ns / limit_ns)))
            Alarm(self.env, alarm.at_ns + every_ns, Rank.COMPLETE, tell)

        Alarm(self.env, every_ns, Rank.COMPLETE, tell)
