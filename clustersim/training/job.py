"""The job: it trains, is interrupted, recovers, and trains again.

A state machine on alarms. A leg waits for nothing but its interruption or the end of the run; a recovery takes one
alarm for what it takes to know what broke, and one for all from scheduling to the first step. Any failure that hits
the job during a recovery begins it anew.
"""

from collections.abc import Sequence
from enum import Enum, auto
from functools import partial

import simpy

from clustersim.cluster.causes import JOB, Cause
from clustersim.cluster.clock import Alarm, Rank
from clustersim.cluster.cluster import Cluster, Hit
from clustersim.cluster.planned import Plan
from clustersim.history import Happening, History, Leg, Outcome, Phase, Refused
from clustersim.laws import NEVER
from clustersim.streams import Hashed
from clustersim.training.closing import Closing
from clustersim.training.crew import Crew
from clustersim.training.leg import LegClock
from clustersim.training.plan import Feed, JobPlan
from clustersim.training.recovery import Recovering
from clustersim.training.restart import Restarts
from clustersim.training.slowed import Slowed, slowed
from clustersim.training.store import Store

_WAITING: tuple[tuple[Phase, int], ...] = (("waiting_for_nodes", NEVER),)
_GROWING = "growing back"
_REGROUPING = "regrouping"
_REWIND = "rewind"
_BAD_CHECKPOINT = "bad checkpoint"


def _no_time(step: int, degree: int) -> int:
    """How long a loader takes to come back that is not asked."""
    return 0


class State(Enum):
    """What the job is doing."""

    TRAINING = auto()
    DETECTING = auto()
    REGROUPING = auto()
    CLOSED = auto()
    WAITING = auto()
    STARTING = auto()
    OVER = auto()


_TIMED = (State.DETECTING, State.REGROUPING, State.CLOSED, State.STARTING)


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
        self.state = State.STARTING
        self._env = env
        self._cluster = cluster
        self._plan = plan
        self._feed = feed
        self.crew = Crew(cluster, plan.degree // plan.unit_replicas, plan.unit_nodes)
        self._target = self._degree = plan.degree
        self._script = [(cause, list(enumerate(cause.at_steps))) for cause in causes if cause.at_steps]
        self.hits: list[Hit] = []
        self.deciding_at: int | None = None
        self._recovery: Recovering
        self._step = 0  # the next leg's first
        self._leg_began = self._leg_end = 0
        self._clock: LegClock | Slowed | Closing  # of the leg
        self._closes_for = ""  # why the leg is closing
        self._plan_name = ""  # of what is planned, and not begun
        self._closed_until = 0  # the machine is in maintenance
        self._left: int | None = None  # steps from its start to the end of the run
        self._store = store
        self._restarts = Restarts(plan, store, phases)
        self._went_bad = False
        self._interruptions = 0
        self._rewinds = list(plan.rewinds)
        self._rewinding = False  # after the step that is complete now
        self._failed_until = 0  # the step that failed in place is over
        self._regroups = False  # after the step that is complete now
        self._unsaved = (0,) * len(plan.tiers)  # steps since the last save of each tier, when the leg began
        self._completion: Alarm | None = None
        self._nodes_counted_to = 0
        cluster.on_hit = self._hit
        cluster.on_return = self._returned
        cluster.on_plan = self._planned
        cluster.on_pace = self._paced
        Alarm(env, plan.end_ns, Rank.END, self._time_is_up)
        self._begin_leg()

    @property
    def _now(self) -> int:
        return self._env.now  # type: ignore[return-value]  # the clock is an integer

    @property
    def _trained(self) -> int:
        """Steps that the leg has trained so far."""
        return self._clock.at(self._now - self._leg_began).steps

    # --- what the cluster tells

    def _hit(self, hit: Hit) -> None:
        """A failure of a node that the job holds, or of the job as a whole."""
        self._lose(hit.lost)
        self.hits.append(hit)
        self._decide_at_this_instant()

    def _lose(self, nodes: Sequence[int]) -> None:
        if nodes:
            self._count_nodes()
            for node in nodes:
                self.crew.lose(node)

    def _returned(self) -> None:
        """A node is back from repair."""
        if self._plan.in_place and self.state is State.TRAINING:
            self._regroup_soon()
        elif self.state is State.WAITING or self._may_grow:
            self._decide_at_this_instant()

    def _planned(self, plan: Plan) -> None:
        """Nodes are to leave, or the whole machine is in maintenance."""
        self._plan_name = self._plan_name or plan.name
        self._closed_until = max(self._closed_until, plan.until_ns)
        self._decide_at_this_instant()

    def _paced(self) -> None:
        """From the next step on the job is as fast as what is slow in it."""
        if self.state is not State.TRAINING:
            return
        elapsed, closing = self._now - self._leg_began, self._clock if isinstance(self._clock, Closing) else None
        clock = self._running
        progress = clock.at(elapsed)
        clock = slowed(clock, progress.steps + (progress.partial > 0), self._extra_ns(clock))
        if closing is None:
            self._clock = clock
            self._aim()
        elif progress.steps < closing.steps:
            self._close(clock, closing.steps, self._closes_for)

    def _decide_at_this_instant(self) -> None:
        if self.deciding_at != self._now:
            self.deciding_at = self._now
            Alarm(self._env, self._now, Rank.DECIDE, self._decide)

    def _decide(self, alarm: Alarm) -> None:
        """What completes at this instant is complete; then failures count; then nodes that came back."""
        self.deciding_at = None
        if self.state in _TIMED and self._now == self._recovery.ends_ns:
            self._phases_done()
        if self.state is State.OVER:
            return
        if self.hits or self._went_bad:
            self._interrupt()
        elif self._is_closed:
            self._end_leg(self._closes_for, kept_whole=True)
            self._wait()
        elif self._rewinding:
            self._rewind()
        elif self._regroups:
            self._end_leg(_REGROUPING, kept_whole=True, goes_on=True)
            self._begin_phases(State.REGROUPING, [("start_up", self._restarts.regroup())])
        elif self._plan_name:
            self._prepare()
        elif self.state is State.WAITING:
            self._staff()
        elif self._may_grow:
            self._grow()

    @property
    def _is_closed(self) -> bool:
        """Whether the leg is over, as planned, at this instant."""
        training = self.state is State.TRAINING
        return training and isinstance(self._clock, Closing) and self._now == self._leg_began + self._clock.over

    # --- recovery

    def _interrupt(self) -> None:
        """Failures at one instant are one interruption."""
        hits, self.hits = self.hits, []
        for hit in hits:
            if hit.cause.degrees:
                self._target = hit.cause.degrees[hit.k]
        goes_on = self._goes_on(hits)
        if self.state is State.TRAINING:
            if goes_on:
                self._failed_until = self._leg_began + self._clock.time_of(self._trained + 1)
            self._end_leg(hits[0].cause.name if hits else _BAD_CHECKPOINT, kept_whole=goes_on, goes_on=goes_on)
        else:
            self._stop_phases()
        self._recovery.interruptions += 1
        self._interruptions += 1
        if self._went_bad:
            self._went_bad = False
            self._log(_BAD_CHECKPOINT, self._restarts.went_bad())
        for hit in hits:
            self._store.strike(hit)
            if hit.corrupt_since_ns is not None:
                self._go_behind(hit.corrupt_since_ns)
        detection = max((hit.detection_ns for hit in hits), default=0)
        if goes_on:
            self._discard(detection)
            return
        self._come_back_to(self._store.newest_step())
        self._begin_phases(State.DETECTING, [("detection", detection), ("diagnosis", self._restarts.diagnosis())])

    def _go_behind(self, since: int) -> None:
        """What was saved since the weights became corrupt is of no use."""
        clean = self._store.newest_step(made_by_ns=since)
        # A restart since then may have gone behind the corruption already: what followed it is sound.
        legs = self.history.legs[:-1]
        if not any(leg.kept <= clean for leg in legs if leg.end_ns > since and not leg.goes_on):
            self._store.forget_after(since)

    def _come_back_to(self, step: int) -> None:
        """The next leg starts at a step."""
        self._step = step
        legs = self.history.legs
        if legs[-1].kept != step:
            legs[-1] = legs[-1]._replace(kept=step)

    def _begin_phases(self, state: State, phases: list[tuple[Phase, int]]) -> None:
        now = self._now
        self.state = state
        self._recovery.run(now, phases, self.crew.nodes)
        if self._recovery.ends_ns == now:
            self._phases_done()
        elif self._recovery.ends_ns < now + NEVER:
            Alarm(self._env, self._recovery.ends_ns, Rank.DECIDE, self._decide)

    def _stop_phases(self) -> None:
        """The phases are over, or cut short: loads that were over by now and failed are known to be of no use."""
        self._recovery.stop(self._now)
        for tier in self._restarts.stop(self._now):
            self._log(_BAD_CHECKPOINT, tier)

    def _phases_done(self) -> None:
        self._stop_phases()
        if self.state is State.STARTING:
            self._begin_leg()
        elif self.state is not State.REGROUPING:
            self._wait()
        elif not self.hits:
            self._regroup()

    def _wait(self) -> None:
        """Let nodes go that are to leave, wait for the end of maintenance, and for nodes, if there are not enough."""
        self._plan_name = ""
        self._lose(self._cluster.let_go())
        if self._now < self._closed_until:
            self._begin_phases(State.CLOSED, [("maintenance", self._closed_until - self._now)])
            return
        self.state = State.WAITING
        self._recovery.run(self._now, _WAITING, self.crew.nodes)
        if not self.hits:
            self._staff()

    def _staff(self) -> None:
        """Take the nodes for the largest degree that the policy allows, and start; or go on waiting."""
        plan = self._plan
        degree = self._affordable_degree()
        if plan.policy != "wait":
            self._call_up()
        if degree is None:
            if self._cluster.returning == 0:
                self._starve()
            return
        self._stop_phases()
        self._count_nodes()
        self._degree = degree
        self.crew.form(-(-degree // plan.unit_replicas))
        self.crew.heal_all()
        self._cluster.arm()
        resume = _no_time if self._feed is None else self._feed.resume_ns
        self._begin_phases(State.STARTING, self._restarts.phases(self._now, degree, self.crew.nodes, resume))

    def _call_up(self) -> None:
        needed = self._plan.unit_nodes * self._target_units
        self._cluster.call_up(max(0, needed - self.crew.available(own_only=False)))

    @property
    def _target_units(self) -> int:
        return -(-self._target // self._plan.unit_replicas)

    def _affordable_degree(self) -> int | None:
        """The degree that the job can have with the nodes it holds and may take now; None: it waits."""
        plan = self._plan
        units = self.crew.available(own_only=plan.policy == "wait") // plan.unit_nodes
        most = min(self._target, units * plan.unit_replicas)
        if most == self._target or plan.policy != "shrink":
            return self._target if most == self._target else None
        return self._degree_of(units)

    def _degree_of(self, units: int) -> int | None:
        """The largest degree that so many units allow, at most the target; None if it is too small."""
        plan = self._plan
        most = min(self._target, units * plan.unit_replicas)
        return next((d for d in range(most, plan.least_degree - 1, -1) if plan.degree_allowed(d)), None)

    def _starve(self) -> None:
        plan = self._plan
        degree = min(self._target, plan.least_degree) if plan.policy == "shrink" else self._target
        held, needed = self.crew.nodes, plan.unit_nodes * (-(-degree // plan.unit_replicas))
        self._finish("starved", f"the job holds {held} of the {needed} nodes it needs, and no other will come back")

    # --- in place

    def _goes_on(self, hits: Sequence[Hit]) -> bool:
        """Whether replicas enough survive failures to go on without a restart."""
        return (
            self._plan.in_place
            and self.state in (State.TRAINING, State.REGROUPING)
            and not self._went_bad
            # What stops the job as a whole, or has spread to all, leaves no survivor; a script says how many are left.
            and not any(hit.cause.scope == "job" and hit.cause.life is not None for hit in hits)
            and not any(hit.corrupt_since_ns is not None for hit in hits)
            and self._degree_of(self.crew.sound(self._now)) is not None
        )

    def _discard(self, detection: int) -> None:
        """The step that failed runs to its end, or until it is seen that somebody is missing: no replica commits it."""
        if isinstance(self._clock, Closing):
            self._plan_name = self._plan_name or self._closes_for
        now, failed_until = self._now, max(self._now, self._failed_until)
        phases: list[tuple[Phase, int]] = [
            ("wasted_progress", failed_until - now),
            ("detection", max(0, now + detection - failed_until)),
            ("start_up", self._restarts.regroup()),
        ]
        self._begin_phases(State.REGROUPING, phases)

    def _regroup(self) -> None:
        """Take nodes for replicas that are missing, which heal by themselves, and go on with those that are sound."""
        now, plan = self._now, self._plan
        self._count_nodes()
        units = min(self._target_units, self.crew.available(own_only=False) // plan.unit_nodes)
        for unit in self.crew.form(units):
            healed = now + self._restarts.rejoin()
            if now < healed < NEVER:
                Alarm(self._env, healed, Rank.COMPLETE, lambda _: self._regroup_soon())
            self.crew.heal(unit, healed)
        self._cluster.arm()
        self._call_up()
        degree = self._degree_of(self.crew.sound(now))
        if degree is None:
            self._come_back_to(self._store.newest_step())
            self._wait()
            return
        self._degree = degree
        self._begin_leg(goes_on=True)
        if self._plan_name:
            self._decide_at_this_instant()

    def _regroup_soon(self) -> None:
        """If replicas can join, or begin to heal, regroup after the step in flight."""
        if self.state is not State.TRAINING or isinstance(self._clock, Closing):
            return
        joins = (self._degree_of(self.crew.sound(self._now)) or 0) > self._degree
        more = self.crew.available(own_only=False) // self._plan.unit_nodes > self.crew.units
        if not joins and not (more and self.crew.units < self._target_units):
            return
        leg, steps = self._cluster.leg, self._soon
        if self._left is None or steps < self._left:
            complete = self._leg_began + self._clock.time_of(steps)
            Alarm(self._env, complete, Rank.COMPLETE, lambda _: self._regroups_now(leg))

    def _regroups_now(self, leg: int) -> None:
        if leg == self._cluster.leg and self.state is State.TRAINING and not isinstance(self._clock, Closing):
            self._regroups = True
            self._decide_at_this_instant()

    # --- planned restarts

    def _rewind(self) -> None:
        """Go back as planned: from the newest checkpoint that is old enough, once."""
        at, back = self._rewinds.pop(0)
        self._end_leg(_REWIND, kept_whole=False)
        self._store.forget_above(at - back)
        self._come_back_to(self._store.newest_step())
        self._wait()

    def _prepare(self) -> None:
        """End the leg soon, as something is planned; a recovery that is under way goes on without what is to leave."""
        if self.state is State.REGROUPING:
            return
        name, self._plan_name = self._plan_name, ""
        if self.state is State.TRAINING:
            steps = self._soon
            if isinstance(self._clock, Closing) and self._clock.steps <= steps:
                return
            if self._left is None or steps < self._left:
                self._close(self._running, steps, name)
        elif self.state is not State.DETECTING:
            self._stop_phases()
            self._wait()

    @property
    def _running(self) -> LegClock | Slowed:
        """The timetable of the leg, but for its end."""
        return self._clock.clock if isinstance(self._clock, Closing) else self._clock

    @property
    def _soon(self) -> int:
        """Steps of the leg with the one in flight, at least one."""
        steps = self._trained
        return max(1, steps + (self._leg_began + self._clock.time_of(steps) < self._now))

    @property
    def _may_grow(self) -> bool:
        """Whether the job trains with fewer replicas than it should, and goes for more as soon as there are nodes."""
        growing = self._plan.grow_back != "next-interruption" and self._degree < self._target
        return growing and self.state is State.TRAINING and not isinstance(self._clock, Closing)

    def _grow(self) -> None:
        """If there are nodes for more replicas, end the leg after the step in flight, or at the next checkpoint."""
        degree, clock, steps = self._affordable_degree(), self._running, self._soon
        if degree is None or degree <= self._degree:
            return
        if self._plan.grow_back == "next-checkpoint":
            steps = clock.next_due(0, steps)
        if self._left is None or steps < self._left:
            self._close(clock, steps, _GROWING)

    def _close(self, clock: LegClock | Slowed, steps: int, closes_for: str) -> None:
        """End the leg after so many steps, with a save."""
        leg = self._cluster.leg
        self._clock, self._closes_for = Closing(clock, steps), closes_for
        self._leg_end = NEVER
        Alarm(self._env, self._leg_began + self._clock.over, Rank.COMPLETE, lambda _: self._closed(leg))

    def _closed(self, leg: int) -> None:
        if leg == self._cluster.leg:
            self._decide_at_this_instant()

    # --- training

    def _begin_leg(self, goes_on: bool = False) -> None:
        now, plan, legs = self._now, self._plan, self.history.legs
        if goes_on:
            legs[-1] = legs[-1]._replace(goes_on=True)
        else:
            self._unsaved = (0,) * len(plan.tiers)
            if legs:
                self._come_back_to(self._restarts.step)
        delivered = None if self._feed is None else self._feed.begin(self._step, self._degree, goes_on)
        if isinstance(delivered, Refused):
            self._finish("refused", delivered.reason)
            return
        self.state = State.TRAINING
        if self.history.legs:
            self.history.recoveries.append(self._recovery.record())
            if not goes_on and self._restarts.source is None and self._store.has_held:
                self._log("from scratch", "")
        self._leg_began = now
        savings = plan.savings_at(self._degree, now, self._interruptions)
        if goes_on:
            savings = tuple(saving.after(steps) for saving, steps in zip(savings, self._unsaved, strict=True))
        clock = LegClock(plan.step_ns(self._degree), savings)
        self._clock = slowed(clock, 0, self._extra_ns(clock))
        left = None if plan.steps is None else plan.steps - self._step
        if delivered is not None:
            left = delivered if left is None else min(left, delivered)
        self._left = left
        self._cluster.training_starts()
        self._aim()

    def _extra_ns(self, clock: LegClock | Slowed) -> int:
        """How much longer than at full pace a step takes now."""
        return round(clock.step * (self._cluster.pace - 1))

    def _aim(self) -> None:
        """Set the alarms of what the leg comes to by its timetable."""
        self._arm_script(self._left)
        self._arm_bad_checkpoint()
        self._arm_rewind()
        if self._left is not None:
            self._leg_end = self._leg_began + self._clock.time_of(self._left)
            if self._completion is None or self._leg_end < self._completion.at_ns:
                self._completion = Alarm(self._env, self._leg_end, Rank.COMPLETE, self._complete)

    def _complete(self, alarm: Alarm) -> None:
        """The end of the last leg, unless failures have put it off: then wait for the new end."""
        if alarm is not self._completion:
            return
        self._completion = None
        if self.state is State.TRAINING:
            if self._now == self._leg_end:
                self._finish("done", "", kept_whole=True)
            elif self._leg_end < NEVER:
                self._completion = Alarm(self._env, self._leg_end, Rank.COMPLETE, self._complete)

    def _arm_script(self, left: int | None) -> None:
        """Set the alarm of the next scripted failure of each cause that this leg reaches: in mid-step."""
        clock, leg = self._clock, self._cluster.leg
        for cause, entries in self._script:
            while entries and entries[0][1] < self._step:
                entries.pop(0)  # that step is behind the checkpoint and will not be trained again
            if entries and (left is None or entries[0][1] < self._step + left):
                at_ns = self._leg_began + clock.time_of(entries[0][1] - self._step + 1) - clock.step // 2
                if at_ns >= self._now:
                    Alarm(self._env, at_ns, Rank.STRIKE, partial(self._scripted, leg, cause, entries))

    def _scripted(self, leg: int, cause: Cause, entries: list[tuple[int, int]], alarm: Alarm) -> None:
        if leg == self._cluster.leg and self.state is State.TRAINING and self._step + self._trained == entries[0][1]:
            self._cluster.strike_job(cause, entries.pop(0)[0])

    def _arm_rewind(self) -> None:
        """Set the alarm of the next rewind: at the end of its step, when that is complete for the first time."""
        leg = self._cluster.leg
        if self._rewinds:
            steps = self._rewinds[0][0] - self._step
            at = self._leg_began + self._clock.time_of(steps)
            Alarm(self._env, at, Rank.COMPLETE, lambda _: self._rewinds_now(leg, steps))

    def _rewinds_now(self, leg: int, steps: int) -> None:
        if leg == self._cluster.leg and self.state is State.TRAINING and self._trained == steps:
            self._rewinding = True
            self._decide_at_this_instant()

    def _arm_bad_checkpoint(self) -> None:
        """A leg from a checkpoint that is bad shows it some steps later."""
        source, leg = self._restarts.source, self._cluster.leg
        if source is not None and self._restarts.goes_bad:
            steps = source.step + self._plan.tiers[source.tier].bad_after_steps - self._step
            if steps > 0:
                seen = self._leg_began + self._clock.time_of(steps)
                Alarm(self._env, seen, Rank.STRIKE, lambda _: self._goes_bad(leg, steps))

    def _goes_bad(self, leg: int, steps: int) -> None:
        if leg == self._cluster.leg and self.state is State.TRAINING and self._trained == steps:
            self._went_bad = True
            self._decide_at_this_instant()

    def _end_leg(self, ended_by: str, kept_whole: bool, goes_on: bool = False) -> None:
        """Write the leg down, and what it saved; where it was not kept whole the next one may start at any of that.

        Where it goes on, saves that are being written are so to their end, by the others.
        """
        clock, start = self._clock, self._step
        elapsed = self._now - self._leg_began
        progress = clock.at(elapsed)
        stop = start + progress.steps
        # A replica that is lost between two steps is missed in the next one.
        fails = goes_on and not self._regroups
        read = stop + (progress.partial > 0 or fails)
        count_saves = clock.made if goes_on else clock.durable
        saves = tuple(count_saves(tier, elapsed) for tier in range(len(clock.savings)))
        self._unsaved = tuple(
            progress.steps - clock.step_of(tier, count - 1) if count else unsaved + progress.steps
            for tier, (count, unsaved) in enumerate(zip(saves, self._unsaved, strict=True))
        )
        self._regroups = self._rewinding = False
        leg = Leg(
            leg=len(self.history.legs),
            start=start,
            stop=stop,
            read=read,
            kept=stop,
            data=self._degree,
            nodes=self.crew.units * self._plan.unit_nodes,
            begin_ns=self._leg_began,
            end_ns=self._now,
            step_ns=clock.step,
            wait_ns=self._plan.wait_ns(self._degree),
            stall_ns=progress.stalled,
            saves=saves,
            timetable=clock,
            ended_by=ended_by,
        )
        self.history.legs.append(leg)
        # What is saved of steps that go bad is as bad as the checkpoint that they come from.
        if not self._restarts.goes_bad:
            self._store.add(leg)
        self._come_back_to(stop if kept_whole else self._store.newest_step())
        self._recovery = Recovering(self._now)
        if self._feed is not None:
            self._feed.end(stop, read)
        self._cluster.training_stops()
        self._cluster.leg += 1

    # --- the end

    def _time_is_up(self, alarm: Alarm) -> None:
        if self._plan.ends_by_time:
            self._finish("done", "", kept_whole=self._plan.final_checkpoint)
        else:
            self._finish("limit", "it was not done by then", kept_whole=self._plan.final_checkpoint)

    def _finish(self, outcome: Outcome, reason: str, kept_whole: bool = False) -> None:
        if self.state is State.TRAINING:
            self._end_leg("end of run", kept_whole)
        else:
            self._stop_phases()
            if self.state is State.REGROUPING and not kept_whole:
                self._come_back_to(self._store.newest_step())
            self.history.recoveries.append(self._recovery.record())
        self._count_nodes()
        self.state = State.OVER
        self.history.wall_ns = self._now
        self.history.outcome, self.history.reason = outcome, reason
        self.history.happenings = self._cluster.happenings
        self.history.outages = self._cluster.outages(self._now)
        self.over.succeed()

    def _log(self, kind: str, cause: str) -> None:
        """Write down what happens to the job as a whole beside failures."""
        self._cluster.happenings.append(Happening(self._now, kind, cause, JOB, "job", self._cluster.leg))

    def _count_nodes(self) -> None:
        """Integrate the nodes held over time; to be called before their number changes."""
        self.history.node_ns += self.crew.nodes * (self._now - self._nodes_counted_to)
        self._nodes_counted_to = self._now
