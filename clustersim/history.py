"""The history: the small object in which the clock domain and the data domain meet.

The clock writes it, one record a leg; the data domain reads it. It knows neither.
"""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

Outcome = Literal["done", "limit", "starved", "refused", "no progress"]
Phase = Literal[
    "detection",
    "diagnosis",
    "maintenance",
    "waiting_for_nodes",
    "scheduling",
    "start_up",
    "load",
    "loader_resume",
    "warm_up",
    "wasted_progress",
]


class Refused(NamedTuple):
    """A loader's answer to a restart that it cannot take: the run ends there."""

    reason: str


class Timetable(Protocol):
    """When a leg saved: times are nanoseconds, steps and times count from the leg's start, saves of a tier from 0."""

    def step_of(self, tier: int, number: int) -> int:
        """The step after which a save fell due: what it holds."""

    def made_at(self, tier: int, number: int) -> int:
        """When its stall was over."""

    def durable_at(self, tier: int, number: int) -> int:
        """When it was durable."""

    def made(self, tier: int, elapsed: int) -> int:
        """How many saves were made after `elapsed`, their stall over."""

    def delay(self, steps: int) -> int:
        """How much longer than `step_ns` each, for something slow in the job, the first so many steps took together."""


class Leg(NamedTuple):
    """What the run trains between two restarts: steps [start, stop).

    Training steps [start, stop) were completed, steps [start, read) were read by the loader (the step in flight when
    the leg was broken off was read, not viewed), and the next leg starts at `kept`, which a silent failure puts behind
    the start of this one. Times are nanoseconds.
    """

    leg: int
    start: int
    stop: int
    read: int
    kept: int
    data: int  # data-parallel degree
    nodes: int
    begin_ns: int
    end_ns: int
    step_ns: int
    wait_ns: int  # of each step for its data; a part of step_ns
    stall_ns: int  # in saves, and waiting for an earlier save to be written
    saves: tuple[int, ...]  # that became durable, by tier; the first is [checkpoint] itself
    timetable: Timetable
    ended_by: str  # a cause, or "end of run"
    goes_on: bool = False  # the next leg goes on with the weights that this one left, without a restart


class Span(NamedTuple):
    """A stretch of a recovery that was spent in one phase, with so many nodes held; times since the run's start."""

    phase: Phase
    begin_ns: int
    end_ns: int
    nodes: int


Spent = tuple[Phase, int, int]
"""A phase of a recovery, how long it was (ns) and how many nodes were held."""


class Recovery(NamedTuple):
    """The time between two legs: phases that follow each other without a gap, none of them of no length.

    A failure in one of the phases begins them anew, so a phase may come several times.
    """

    begin_ns: int
    phases: tuple[Spent, ...]
    interruptions: int  # failures that hit the job from the end of the leg to the next leg's begin

    @property
    def spans(self) -> list[Span]:
        """The phases with their times."""
        spans, begin_ns = [], self.begin_ns
        for phase, spent_ns, nodes in self.phases:
            spans.append(Span(phase, begin_ns, begin_ns := begin_ns + spent_ns, nodes))
        return spans

    def spent_ns(self, phase: Phase) -> int:
        """The time in one phase."""
        return sum(spent_ns for name, spent_ns, _ in self.phases if name == phase)


class Happening(NamedTuple):
    """One line of the event log."""

    time_ns: int
    kind: str
    cause: str
    node: int  # -1: the job as a whole
    where: str  # "job", "spare", "repair"
    leg: int


class Outage(NamedTuple):
    """A node was out of use, in repair or to be replaced, until it was back or the run over; times in nanoseconds."""

    node: int
    cause: str
    begin_ns: int
    end_ns: int


HOUR_NS = 3_600_000_000_000


@dataclass(slots=True)
class History:
    """What happened, in the order in which it happened.

    `recoveries[i]` follows `legs[i]`; the last leg has one only if the run ended during a recovery.
    """

    legs: list[Leg] = field(default_factory=list)
    recoveries: list[Recovery] = field(default_factory=list)
    happenings: list[Happening] = field(default_factory=list)
    outages: list[Outage] = field(default_factory=list)  # by their end
    wall_ns: int = 0
    node_ns: int = 0  # nodes held by the job, integrated over time
    outcome: Outcome = "done"
    reason: str = ""

    @property
    def final_save(self) -> bool:
        """Whether the end of the run saved steps that no checkpoint held."""
        last = self.legs[-1]
        held = last.timetable.step_of(0, last.saves[0] - 1) if last.saves[0] else 0
        return last.ended_by == "end of run" and last.kept - last.start > held

    @property
    def digest(self) -> str:
        """SHA-256 (hexadecimal) of all that happened, to the nanosecond; the wording of `reason` has no part in it."""
        legs = [[value for name, value in leg._asdict().items() if name != "timetable"] for leg in self.legs]
        ended = self.wall_ns, self.node_ns, self.outcome
        # Integers and names alone, so that JSON writes the same text everywhere.
        recoveries = [(recovery.begin_ns, recovery.spans, recovery.interruptions) for recovery in self.recoveries]
        told = json.dumps([legs, recoveries, self.happenings, self.outages, ended])
        return hashlib.sha256(told.encode()).hexdigest()

    def lineage_stops(self) -> list[int]:
        """For each leg the step (exclusive) up to which the final model is made of it; at least the leg's start.

        A later restart may go behind the start of an earlier leg and cuts it then.
        """
        stops: list[int] = []
        bound = self.legs[-1].kept
        for leg in reversed(self.legs):
            bound = leg.kept if leg.kept < bound else bound
            stop = bound if bound < leg.stop else leg.stop
            stops.append(stop if stop > leg.start else leg.start)
        return stops[::-1]
