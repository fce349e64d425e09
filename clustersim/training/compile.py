"""From a scenario to the clock's own terms, and the run of the clock."""

from collections.abc import Callable

import simpy

from clustersim.cluster.clock import Alarm, Rank
from clustersim.cluster.cluster import Cluster
from clustersim.cluster.compile import causes_of, law_of, machine_of
from clustersim.cluster.lifetimes import Lifetimes
from clustersim.history import History
from clustersim.laws import Constant, Law
from clustersim.scenario import Scenario
from clustersim.streams import Hashed
from clustersim.training.job import Job
from clustersim.training.leg import Saving
from clustersim.training.plan import Feed, JobPlan


def job_plan(scenario: Scenario) -> JobPlan:
    """What the job does."""
    sizes, checkpoint, recovery = scenario.sizes, scenario.checkpoint, scenario.recovery

    def saving(degree: int) -> Saving:
        every = sizes.steps_between_saves(sizes.step_ns(degree))
        write_ns = checkpoint.write_ns(sizes.checkpoint_bytes, sizes.nodes(degree))
        return Saving(every, checkpoint.stall, write_ns, checkpoint.when_busy)

    stated = law_of(recovery.load or 0)

    def load(degree: int) -> Law:
        if not checkpoint.reads_by_bandwidth:
            return stated
        copies = degree if checkpoint.read_by == "replica" else 1
        return Constant(checkpoint.read_ns(sizes.checkpoint_bytes * copies, sizes.nodes(degree)))

    return JobPlan(
        degree=sizes.data,
        degree_allowed=sizes.degrees_ok,
        least_degree=sizes.min_data,
        unit_nodes=sizes.unit_nodes,
        unit_replicas=sizes.unit_replicas,
        step_ns=sizes.step_ns,
        steps=None if sizes.epochs is not None else sizes.steps,
        end_ns=sizes.limit_ns,
        ends_by_time=sizes.wall_ns is not None,
        saving=saving,
        final_checkpoint=checkpoint.final_checkpoint,
        policy=recovery.policy,
        diagnosis=law_of(recovery.diagnosis),
        scheduling=law_of(recovery.scheduling),
        start_up=law_of(recovery.start_up),
        start_up_more_ns=recovery.start_up_more_ns,
        load=load,
        warm_up=law_of(recovery.warm_up),
    )


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
            Lifetimes(causes, seed, replication, machine.lemon_share),
            machine,
            horizon_ns=scenario.sizes.limit_ns,
        )
        phases = Hashed(seed, replication, "recovery")
        self.job = Job(self.env, self.cluster, job_plan(scenario), causes, phases, feed)

    def run(self, progress: Callable[[float], object] | None = None) -> History:
        """Run to the end.

        Args:
            progress: called now and then with the share that is done, 0 to 1: of the steps, as far as checkpoints keep
                them, or of the time that the run may take, whichever is more.
        """
        if progress is not None:
            self._report(progress)
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
