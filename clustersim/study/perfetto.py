"""A run as a trace in the Trace Event Format, which ui.perfetto.dev and chrome://tracing open.

Format: "Trace Event Format", Google, 2016. Times are microseconds since the run's start.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from clustersim.history import History, Leg
from clustersim.run import Run
from clustersim.scenario.checkpoint import MAIN_TIER

MOST_SAVES = 20_000
"""A run with more saves than that has them drawn together, one event for those of a leg and tier."""

_JOB, _NODES = 1, 2  # processes
_PHASES, _FAILURES, _FIRST_TIER = 1, 2, 3  # threads of the job

Event = dict[str, Any]


def write_trace(run: Run, path: Path) -> None:
    """Write `trace_events` as a JSON object, an event a line.

    Raises:
        OSError: it cannot be written.
    """
    about = {
        "scenario": run.scenario.name,
        "seed": run.seed,
        "replication": run.replication,
        "outcome": run.history.outcome,
    }
    with path.open("w", encoding="utf-8") as file:
        file.write(f'{{"displayTimeUnit": "ms", "otherData": {json.dumps(about)}, "traceEvents": [\n')
        for number, event in enumerate(trace_events(run)):
            file.write((",\n" if number else "") + json.dumps(event, allow_nan=False))
        file.write("\n]}\n")


def trace_events(run: Run) -> Iterator[Event]:
    """The events of a run; those of one track come in order of time, and an event before what lies in it.

    The process "job" has the legs, each cut into stretches of steps at its saves, and between them the recoveries with
    their phases; every line of the event log; for each tier of checkpoints when they were written; and the
    data-parallel degree. The process "nodes" has a track for each node that was ever out, with its outages.
    """
    history = run.history
    tiers = [MAIN_TIER, *(tier.name for tier in run.scenario.checkpoint.tiers)]
    singly = sum(sum(leg.saves) for leg in history.legs) <= MOST_SAVES
    outages = sorted(history.outages, key=lambda outage: (outage.node, outage.begin_ns, outage.end_ns))
    threads = {_PHASES: "legs and recoveries", _FAILURES: "failures"}
    threads |= {_FIRST_TIER + tier: f"checkpoints: {name}" for tier, name in enumerate(tiers)}
    yield from _names(_JOB, "job", threads)
    yield from _names(_NODES, "nodes", {outage.node: f"node {outage.node}" for outage in outages})
    yield from _phases(history, singly)
    yield from _degrees(history)
    for row in history.happenings:
        about = {"node": row.node, "where": row.where, "leg": row.leg}
        name = f"{row.kind}: {row.cause}" if row.cause else row.kind
        yield {**_event("i", name, _FAILURES, row.time_ns), "s": "t", "args": about}
    for tier in range(len(tiers)):
        for leg in history.legs:
            yield from _writes(leg, tier, singly)
    for outage in outages:
        yield {**_span(outage.cause, outage.node, outage.begin_ns, outage.end_ns), "pid": _NODES}


def _names(pid: int, process: str, threads: dict[int, str]) -> Iterator[Event]:
    yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": process}}
    for tid, name in threads.items():
        yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}


def _event(ph: str, name: str, tid: int, time_ns: int) -> Event:
    return {"ph": ph, "name": name, "pid": _JOB, "tid": tid, "ts": _us(time_ns)}


def _span(name: str, tid: int, begin_ns: int, end_ns: int, **args: object) -> Event:
    return {**_event("X", name, tid, begin_ns), "dur": _us(end_ns - begin_ns), "args": args}


def _us(ns: int) -> float:
    """Microseconds; a whole number where it is one."""
    return ns // 1000 if ns % 1000 == 0 else ns / 1000


def _phases(history: History, singly: bool) -> Iterator[Event]:
    """Legs and what lies in them, and recoveries with their phases, as they follow each other."""
    for leg, stop, recovery in zip_longest(history.legs, history.lineage_stops(), history.recoveries):
        about = {
            "nodes": leg.nodes,
            "data_parallel": leg.data,
            "kept": leg.kept,
            "lineage_stop": stop,
            "ended_by": leg.ended_by,
        }
        yield _span(f"leg {leg.leg}: {_steps(leg.start, leg.stop)}", _PHASES, leg.begin_ns, leg.end_ns, **about)
        if singly:
            yield from _stretches(leg, stop)
        if recovery is not None and (spans := recovery.spans):
            interruptions = {"interruptions": recovery.interruptions}
            yield _span("recovery", _PHASES, recovery.begin_ns, spans[-1].end_ns, **interruptions)
            for span in spans:
                yield _span(span.phase, _PHASES, span.begin_ns, span.end_ns, nodes=span.nodes)


def _steps(start: int, stop: int) -> str:
    return f"steps {start} to {stop - 1}" if start < stop else "no step"


def _stretches(leg: Leg, lineage_stop: int) -> Iterator[Event]:
    """The steps of a leg between its saves; a stretch ends when the save after it is made."""
    cuts = {leg.stop: leg.end_ns}  # step -> when the stretch before it ends
    for tier, saves in enumerate(leg.saves):
        for number in range(saves):
            step = leg.start + leg.timetable.step_of(tier, number)
            cuts[step] = max(cuts.get(step, 0), leg.begin_ns + leg.timetable.made_at(tier, number))
    start, begin_ns = leg.start, leg.begin_ns
    for stop, end_ns in sorted(cuts.items()):
        fate = "kept" if stop <= lineage_stop else "rolled back"
        yield _span(_steps(start, stop), _PHASES, begin_ns, end_ns, fate=fate)
        start, begin_ns = stop, end_ns


def _writes(leg: Leg, tier: int, singly: bool) -> Iterator[Event]:
    """Each durable save of a tier from when it is made until it is durable; or one event for them all."""
    saves, table, tid = leg.saves[tier], leg.timetable, _FIRST_TIER + tier
    for first, last in [(number, number) for number in range(saves)] if singly else [(0, saves - 1)] * (saves > 0):
        name = f"step {leg.start + table.step_of(tier, last)}" if singly else f"{saves} saves"
        made_ns, durable_ns = table.made_at(tier, first), table.durable_at(tier, last)
        yield _span(name, tid, leg.begin_ns + made_ns, leg.begin_ns + durable_ns, leg=leg.leg)


def _degrees(history: History) -> Iterator[Event]:
    """How many replicas train."""
    for leg in history.legs:
        for time_ns, replicas in ((leg.begin_ns, leg.data), (leg.end_ns, 0)):
            yield {**_event("C", "data-parallel degree", 0, time_ns), "args": {"replicas": replicas}}
