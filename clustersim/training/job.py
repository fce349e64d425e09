"""The job: it trains, is interrupted, recovers, and trains again.

A state machine on alarms. A leg waits for nothing but its interruption or the end of the run; a recovery takes one
alarm for what it takes to know what broke, and one for all from scheduling to the first step, or none where nothing
else can happen before. Any failure that hits the job during a recovery begins it anew. Whoever is called is told the
time, which may be ahead of SimPy's then.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Literal

import simpy

from clustersim.cluster.causes import JOB, Cause
from clustersim.cluster.clock import Alarm, Rank, Timer
from clustersim.cluster.cluster import Cluster, Hit
from clustersim.cluster.planned import Plan
from clustersim.history import Happening, History, Outcome, Phase, Refused, Spent
from clustersim.laws import NEVER
from clustersim.streams import Hashed
from clustersim.training.milestones import Due, Milestones
from clustersim.training.plan import Feed, JobPlan
from clustersim.training.recovery import Recovering, lasting
from clustersim.training.restart import Restarts
from clustersim.training.staffing import Staffing
from clustersim.training.store import Store
from clustersim.training.under_way import UnderWay

_GROWING = "growing back"
_IN_SCENARIO = attrgetter("cause.index")
"""The order of failures at one instant, whichever of them was heard of first."""

State = Literal["training", "detecting", "regrouping", "closed", "waiting", "starting", "over"]
"""What the job is doing."""

_TIMED: tuple[State, ...] = ("detecting", "regrouping", "closed", "starting")


class Job:
    """One job on one cluster; `history` is what it leaves."""

    def __init__(
        self,
        env: simpy.Environment,
        cluster: Cluster,
        plan: JobPlan,
        store: Store,
        causes: Sequence[Cause],
        phases: Hashed,
        feed: Feed | None,
    ) -> None:
        self.history = History()
        self.over = env.event()
        self.state: State = "starting"
        self._env = env
        self._cluster = cluster
        self._plan = plan
        self._feed = feed
        self._staffing = Staffing(cluster, plan)
        self.crew = self._staffing.crew
        self._milestones = Milestones(env, causes, plan.rewinds, cluster.strike_job, self._reached)
        self._due: set[Due] = set()  # at this instant
        self.hits: list[Hit] = []
        self.deciding_at: int | None = None
        self._recovery: Recovering
        self._leg: UnderWay  # the last one, where none is; it is written down when it is known what follows it
        self._done = Timer(env, Rank.COMPLETE, lambda now: self._finish(now, "done", "", kept_whole=True))
        self._closes = Timer(env, Rank.COMPLETE, self._decide_at_this_instant)
        self._step = 0  # the next leg's first
        self._all_saved = (0,) * len(plan.tiers)
        self._unsaved = self._all_saved  # steps since the last save of each tier, if the next leg goes on
        self._closes_for = ""  # why the leg is closing
        self._plan_name = ""  # of what is planned, and not begun
        self._grows = plan.grow_back != "next-interruption"
        self._closed_until = 0  # the machine is in maintenance
        self._store = store
        self._restarts = Restarts(plan, store, phases, None if feed is None else feed.resume_ns)
        self._interruptions = 0
        self._ended = 0  # legs
        self._failed_until = 0  # the step that failed in place is over
        cluster.on_hits = self._hit
        cluster.on_return = self._returned
        cluster.on_plan = self._planned
        cluster.on_pace = self._paced
        Alarm(env, plan.end_ns, Rank.END, self._time_is_up)
        self._begin_leg(0)

    # --- what the cluster tells

    def _hit(self, hits: Sequence[Hit], now: int) -> None:
        """Failures of nodes that the job holds, or of the job as a whole; nothing else of this event is to come."""
        for hit in hits:
            if hit.lost:
                self._staffing.lose(hit.lost, now)
        self.hits += hits
        if now < self._env.peek():
            self._decide(now)
        else:
            self._decide_at_this_instant(now)

    def _returned(self, now: int) -> None:
        """A node is back from repair."""
        if self._plan.in_place and self.state == "training":
            self._regroup_soon(now)
        elif self.state == "waiting" or self._may_grow:
            self._decide_at_this_instant(now)

    def _planned(self, plan: Plan, now: int) -> None:
        """Nodes are to leave, or the whole machine is in maintenance."""
        self._plan_name = self._plan_name or plan.name
        self._closed_until = max(self._closed_until, plan.until_ns)
        self._decide_at_this_instant(now)

    def _paced(self, now: int) -> None:
        """From the next step on the job is as fast as what is slow in it."""
        if self.state != "training":
            return
        leg, closing = self._leg, self._leg.closing
        if closing is not None and leg.trained(now) >= closing.steps:
            return
        leg.slow(now, self._extra_ns(leg.clock.step))
        if closing is None:
            self._aim(now)
        else:
            self._close(closing.steps, self._closes_for)

    def _reached(self, what: Due, now: int) -> None:
        """Something is due at the end of a step; to join others is of no use in a leg that ends anyway."""
        if what != "regrouping" or self._leg.closing is None:
            self._due.add(what)
            self._decide_at_this_instant(now)

    def _decide_at_this_instant(self, now: int) -> None:
        if self.deciding_at != now:
            self.deciding_at = now
            Alarm(self._env, now, Rank.DECIDE, self._decision_due)

    def _decision_due(self, alarm: Alarm) -> None:
        self._decide(alarm.at_ns)

    def _decide(self, now: int) -> None:
        """What completes at this instant is complete; then failures count; then nodes that came back."""
        self.deciding_at = None
        if self.state in _TIMED and now == self._recovery.ends_ns:
            self._phases_done(now)
        state = self.state
        if state == "over":
            return
        if self.hits or "bad checkpoint" in self._due:
            self._interrupt(now)
        elif state == "training":
            self._decide_in_training(now)
        elif self._plan_name:
            self._prepare(now)
        elif state == "waiting":
            self._staff(now)

    def _decide_in_training(self, now: int) -> None:
        """Nothing fails: what was planned, or may be better than what is."""
        if self._leg.is_closed(now):
            self._end_leg(now, self._closes_for)
            self._wait(now)
        elif "rewind" in self._due:
            self._rewind(now)
        elif "regrouping" in self._due:
            self._end_leg(now, "regrouping", goes_on=True)
            self._begin_phases(now, "regrouping", self._spend(("start_up", self._restarts.regroup())))
        elif self._plan_name:
            self._prepare(now)
        elif self._may_grow:
            self._grow(now)

    # --- recovery

    def _interrupt(self, now: int) -> None:
        """Failures at one instant are one interruption."""
        hits, self.hits = self.hits, []
        if len(hits) > 1:
            hits.sort(key=_IN_SCENARIO)
        went_bad, detection = "bad checkpoint" in self._due, 0
        for hit in hits:
            if hit.detection_ns > detection:
                detection = hit.detection_ns
            if hit.cause.degrees:
                self._staffing.target = hit.cause.degrees[hit.k]
        goes_on = self._plan.in_place and not went_bad and self._goes_on(hits, now)
        if self.state == "training":
            if goes_on:
                self._failed_until = self._leg.instant_of(self._leg.trained(now) + 1)
            ended_by = hits[0].cause.name if hits else "bad checkpoint"
            self._end_leg(now, ended_by, goes_on=goes_on, fails=goes_on)
        else:
            self._stop_phases(now)
        self._recovery.interruptions += 1
        self._interruptions += 1
        if went_bad:
            self._log(now, "bad checkpoint", self._restarts.went_bad())
        for hit in hits:
            if hit.lost:
                self._store.strike(hit.lost)
            if hit.corrupt_since_ns is not None:
                self._go_behind(hit.corrupt_since_ns)
        if goes_on:
            self._discard(now, detection)
            return
        self._step = self._store.newest_step()
        self._begin_phases(now, "detecting", self._restarts.found(detection, self.crew.nodes))

    def _go_behind(self, since: int) -> None:
        """What was saved since the weights became corrupt is of no use."""
        clean = self._store.newest_step_made_by(since)
        # A restart since then may have gone behind the corruption already: what followed it is sound.
        legs = self.history.legs
        if not any(leg.kept <= clean for leg in legs if leg.end_ns > since and not leg.goes_on):
            self._store.forget_after(since)

    def _spend(self, *phases: tuple[Phase, int]) -> list[Spent]:
        """Those of the phases that last, with the nodes that the job holds."""
        return lasting(self.crew.nodes, *phases)

    def _begin_phases(self, now: int, state: State, phases: Sequence[Spent]) -> None:
        """Spend the time of phases; at once where nothing can happen before they are over, which takes no event."""
        self.state = state
        ends_ns = self._recovery.run(now, phases)
        if ends_ns == now or ends_ns < self._env.peek():
            self._phases_done(ends_ns)
        elif ends_ns < now + NEVER:
            Alarm(self._env, ends_ns, Rank.DECIDE, self._decision_due)

    def _stop_phases(self, now: int) -> None:
        """The phases are over, or cut short: loads that were over by now and failed are known to be of no use."""
        self._recovery.stop(now)
        for tier in self._restarts.stop(now):
            self._log(now, "bad checkpoint", tier)

    def _phases_done(self, now: int) -> None:
        if self._restarts.in_vain:
            self._stop_phases(now)
        if self.state == "starting":
            self._begin_leg(now)
        elif self.state != "regrouping":
            self._wait(now)
        elif not self.hits:
            self._regroup(now)

    def _wait(self, now: int) -> None:
        """Let nodes go that are to leave, wait for the end of maintenance, and for nodes, if there are not enough."""
        self._plan_name = ""
        if lost := self._cluster.let_go(now):
            self._staffing.lose(lost, now)
        if now < self._closed_until:
            self._begin_phases(now, "closed", self._spend(("maintenance", self._closed_until - now)))
            return
        self.state = "waiting"
        if self.hits or not self._staff(now):
            self._recovery.run(now, self._spend(("waiting_for_nodes", NEVER)))

    def _staff(self, now: int) -> bool:
        """Take the nodes for the largest degree that the policy allows, and start; whether the wait is over."""
        staffing = self._staffing
        degree = staffing.affordable()
        if self._cluster.has_reserve and self._plan.policy != "wait":
            staffing.call_up(now)
        if degree is None:
            if self._cluster.returning:
                return False
            self._finish(now, "starved", staffing.shortage())
            return True
        if now < self._recovery.ends_ns:
            self._recovery.stop(now)
        staffing.take(degree, now)
        self._begin_phases(now, "starting", self._restarts.phases(now, degree, self.crew.nodes))
        return True

    # --- in place

    def _goes_on(self, hits: Sequence[Hit], now: int) -> bool:
        """Whether replicas enough survive failures in place to go on without a restart."""
        return (
            self.state in ("training", "regrouping")
            # What stops the job as a whole, or has spread to all, leaves no survivor; a script says how many are left.
            and not any(hit.cause.scope == "job" and hit.cause.life is not None for hit in hits)
            and not any(hit.corrupt_since_ns is not None for hit in hits)
            and self._staffing.sound(now) is not None
        )

    def _discard(self, now: int, detection: int) -> None:
        """The step that failed runs to its end, or until it is seen that somebody is missing: no replica commits it."""
        if self._leg.closing is not None:
            self._plan_name = self._plan_name or self._closes_for
        failed_until = max(now, self._failed_until)
        phases = self._spend(
            ("wasted_progress", failed_until - now),
            ("detection", max(0, now + detection - failed_until)),
            ("start_up", self._restarts.regroup()),
        )
        self._begin_phases(now, "regrouping", phases)

    def _regroup(self, now: int) -> None:
        """Take nodes for replicas that are missing, which heal by themselves, and go on with those that are sound."""
        for healed in self._staffing.refill(now, self._restarts.rejoin):
            if now < healed < NEVER:
                Alarm(self._env, healed, Rank.COMPLETE, lambda alarm: self._regroup_soon(alarm.at_ns))
        degree = self._staffing.sound(now)
        if degree is None:
            self._step = self._store.newest_step()
            self._wait(now)
            return
        self._staffing.degree = degree
        self._begin_leg(now, goes_on=True)
        if self._plan_name:
            self._decide_at_this_instant(now)

    def _regroup_soon(self, now: int) -> None:
        """If replicas can join, or begin to heal, regroup after the step in flight."""
        leg = self._leg
        if self.state == "training" and leg.closing is None and self._staffing.gains(now):
            steps = leg.soon(now)
            if leg.goes_beyond(steps):
                self._milestones.due_after(steps, "regrouping")

    # --- planned restarts

    def _rewind(self, now: int) -> None:
        """Go back as planned: from the newest checkpoint that is old enough, once."""
        at, back = self._milestones.next_rewind()
        self._end_leg(now, "rewind")
        self._store.forget_above(at - back)
        self._step = self._store.newest_step()
        self._wait(now)

    def _prepare(self, now: int) -> None:
        """End the leg soon, as something is planned; a recovery that is under way goes on without what is to leave."""
        if self.state == "regrouping":
            return
        name, self._plan_name = self._plan_name, ""
        if self.state == "training":
            steps, closing = self._leg.soon(now), self._leg.closing
            if (closing is None or steps < closing.steps) and self._leg.goes_beyond(steps):
                self._close(steps, name)
        elif self.state != "detecting":
            self._stop_phases(now)
            self._wait(now)

    @property
    def _may_grow(self) -> bool:
        """Whether the job trains with fewer replicas than it should, and goes for more as soon as there are nodes."""
        growing = self._grows and self._staffing.degree < self._staffing.target
        return growing and self.state == "training" and self._leg.closing is None

    def _grow(self, now: int) -> None:
        """If there are nodes for more replicas, end the leg after the step in flight, or at the next checkpoint."""
        degree, leg = self._staffing.affordable(), self._leg
        if degree is None or degree <= self._staffing.degree:
            return
        steps = leg.soon(now)
        if self._plan.grow_back == "next-checkpoint":
            steps = leg.running.next_due(0, steps)
        if leg.goes_beyond(steps):
            self._close(steps, _GROWING)

    def _close(self, steps: int, closes_for: str) -> None:
        """End the leg after so many steps, with a save."""
        self._closes_for = closes_for
        self._closes.set(self._leg.close(steps))
        self._done.set(None)

    # --- training

    def _begin_leg(self, now: int, goes_on: bool = False) -> None:
        plan, degree = self._plan, self._staffing.degree
        if not goes_on:
            self._unsaved = self._all_saved
            if self._ended:
                self._step = self._restarts.step
        delivered = None if self._feed is None else self._feed.begin(self._step, degree, goes_on)
        if isinstance(delivered, Refused):
            self._finish(now, "refused", delivered.reason)
            return
        self.state = "training"
        if self._ended:
            self._write_down(goes_on)
            self.history.recoveries.append(self._recovery.record())
            if not goes_on and self._restarts.source is None and self._store.has_held:
                self._log(now, "from scratch", "")
        clock = plan.clock_at(degree, now, self._interruptions)
        if goes_on:
            clock = clock.going_on(self._unsaved)
        left = None if plan.steps is None else plan.steps - self._step
        if delivered is not None:
            left = delivered if left is None else min(left, delivered)
        self._leg = UnderWay(self._ended, now, self._step, degree, clock, left, self._unsaved)
        if self._cluster.pace != 1:
            self._leg.slow(now, self._extra_ns(clock.step))
        self._cluster.training_starts(now)
        if self._feed is not None:
            self._milestones.crashes_at(self._feed.crash())
        self._aim(now)

    def _extra_ns(self, step_ns: int) -> int:
        """How much longer than at full pace a step takes now."""
        return round(step_ns * (self._cluster.pace - 1))

    def _aim(self, now: int) -> None:
        """Set the timers to what the leg comes to by its timetable."""
        leg, source = self._leg, self._restarts.source
        self._milestones.arm(leg, now)
        if source is not None and self._restarts.goes_bad:
            shows = source.step + self._plan.tiers[source.tier].bad_after_steps - leg.step
            if shows > 0:
                self._milestones.due_after(shows, "bad checkpoint")
        if leg.left is not None:
            self._done.set(leg.instant_of(leg.left))

    def _end_leg(self, now: int, ended_by: str, goes_on: bool = False, fails: bool = False) -> None:
        """The leg is over, with what it trained and saved; what the next one starts from is settled later."""
        leg = self._leg
        leg.end(now, ended_by, self.crew.units * self._plan.unit_nodes, goes_on, fails)
        if goes_on:
            self._unsaved = leg.unsaved()
        self._due.clear()
        self._milestones.leg_ends()
        if leg.left is not None:
            self._done.set(None)
        if leg.closing is not None:
            self._closes.set(None)
        # What is saved of steps that go bad is as bad as the checkpoint that they come from.
        if not self._restarts.goes_bad:
            self._store.add(leg)
        self._step = leg.stop
        self._recovery = Recovering(now)
        if self._feed is not None:
            self._feed.end(leg.stop, leg.read, ended_by)
        self._cluster.training_stops(now)
        self._ended += 1
        self._cluster.leg = self._ended

    def _write_down(self, goes_on: bool) -> None:
        """Write the leg down that has ended: the next one starts at `_step`."""
        leg = self._leg
        self.history.legs.append(leg.record(self._step, self._plan.wait_ns(leg.degree), goes_on))

    # --- the end

    def _time_is_up(self, alarm: Alarm) -> None:
        kept_whole = self._plan.final_checkpoint
        if self._plan.ends_by_time:
            self._finish(alarm.at_ns, "done", "", kept_whole)
        else:
            self._finish(alarm.at_ns, "limit", "it was not done by then", kept_whole)

    def _finish(self, now: int, outcome: Outcome, reason: str, kept_whole: bool = False) -> None:
        training = self.state == "training"
        if training:
            self._end_leg(now, "end of run")
        else:
            self._stop_phases(now)
        if (training or self.state == "regrouping") and not kept_whole:
            self._step = self._store.newest_step()
        self._write_down(goes_on=False)
        if not training:
            self.history.recoveries.append(self._recovery.record())
        self._staffing.count(now)
        self.state = "over"
        self.history.node_ns = self._staffing.node_ns
        self.history.wall_ns = now
        self.history.outcome, self.history.reason = outcome, reason
        self.history.happenings = self._cluster.happenings
        self.history.outages = self._cluster.outages(now)
        self.over.succeed()

    def _log(self, now: int, kind: str, cause: str) -> None:
        """Write down what happens to the job as a whole beside failures."""
        self._cluster.happenings.append(Happening(now, kind, cause, JOB, "job", self._cluster.leg))
