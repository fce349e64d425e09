"""The trace of a run by the rules of the Trace Event Format, and against the history that it shows."""

import json
from collections import Counter, defaultdict

import pytest

from clustersim import load_scenario, simulate
from clustersim.study import perfetto
from clustersim.study.perfetto import trace_events, write_trace

REQUIRED = {
    "X": {"name", "pid", "tid", "ts", "dur", "args"},
    "i": {"name", "pid", "tid", "ts", "s", "args"},
    "C": {"name", "pid", "tid", "ts", "args"},
    "M": {"name", "pid", "tid", "args"},
}
TIERS = [{"name": "peer memory", "every": "5 steps", "survives": "process", "load": "1 s"}]


def run_of(**changes):
    base = load_scenario("small", {key.replace("__", "."): value for key, value in changes.items()})
    return simulate(base)


@pytest.fixture(scope="module")
def run():
    return run_of(checkpoint__write="40 s", checkpoint__stall="2 s", recovery__load="20 s")


@pytest.fixture(scope="module")
def events(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("trace") / "trace.json"
    write_trace(run, path)
    trace = json.loads(path.read_text("utf-8"))
    about = {"scenario": run.scenario.name, "seed": run.seed, "replication": 0, "outcome": "done"}
    assert trace["otherData"] == about
    return trace["traceEvents"]


def ns(microseconds):
    return round(microseconds * 1000)


def spans(events, pid, tid):
    return [event for event in events if (event["ph"], event["pid"], event["tid"]) == ("X", pid, tid)]


def bounds(event):
    return ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])


def track(events, name):
    return next((e["pid"], e["tid"]) for e in events if e["name"] == "thread_name" and e["args"]["name"] == name)


def test_each_event_has_what_its_phase_asks_for(events):
    assert Counter(event["ph"] for event in events).keys() == REQUIRED.keys()
    for event in events:
        assert event.keys() >= REQUIRED[event["ph"]] | {"ph"}
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        if event["ph"] != "M":
            assert event["ts"] >= 0
        if event["ph"] == "i":
            assert event["s"] in ("t", "p", "g")
        if event["ph"] == "C":
            assert all(isinstance(value, int) for value in event["args"].values())


def test_tracks_are_named_and_in_order_and_what_lies_in_an_event_lies_in_it_whole(events):
    named = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
    named |= {(event["pid"], 0) for event in events if event["name"] == "process_name"}
    tracks = defaultdict(list)
    for event in events:
        if event["ph"] != "M":
            tracks[event["pid"], event["tid"], event["ph"]].append(event)
    assert {(pid, tid) for pid, tid, _ in tracks} <= named
    for (_, _, ph), own in tracks.items():
        assert [event["ts"] for event in own] == sorted(event["ts"] for event in own)
        open_until = []
        for begin, end in map(bounds, own) if ph == "X" else ():
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            assert not open_until or end <= open_until[-1]
            open_until.append(end)


def test_legs_recoveries_and_their_parts_are_those_of_the_history(run, events):
    own = spans(events, *track(events, "legs and recoveries"))
    expected = []
    for leg, recovery in zip(run.history.legs, [*run.history.recoveries, None], strict=True):
        expected.append((f"leg {leg.leg}: steps {leg.start} to {leg.stop - 1}", leg.begin_ns, leg.end_ns))
        if recovery is not None:
            expected.append(("recovery", recovery.begin_ns, recovery.spans[-1].end_ns))
            expected += [(span.phase, span.begin_ns, span.end_ns) for span in recovery.spans]
    assert len(expected) > 20
    assert [(e["name"], *bounds(e)) for e in own if "fate" not in e["args"]] == expected
    stretches = [event for event in own if "fate" in event["args"]]
    assert sum(event["dur"] for event in stretches) * 1000 == pytest.approx(
        sum(leg.end_ns - leg.begin_ns for leg in run.history.legs)
    )
    steps = Counter()
    for event in stretches:
        if event["name"] != "no step":
            _, first, _, last = event["name"].split()
            steps[event["args"]["fate"]] += int(last) - int(first) + 1
    assert steps == {"kept": run.steps, "rolled back": run.rolled_back_steps}


def test_checkpoints_failures_outages_and_degrees(run, events):
    saved = spans(events, *track(events, "checkpoints: main"))
    durable_ns = [end for _, end in map(bounds, saved)]
    rows = run.checkpoints.iloc[: -1 if run.history.final_save else None]
    assert [event["name"] for event in saved] == [f"step {step}" for step in rows["step"]]
    assert durable_ns == pytest.approx((rows["durable_h"] * 3.6e12).tolist())
    assert {ns(event["dur"]) for event in saved} == {40 * 10**9}
    told = [(ns(e["ts"]), e["name"], e["args"]["node"]) for e in events if e["ph"] == "i"]
    assert told == [(row.time_ns, f"{row.kind}: {row.cause}", row.node) for row in run.history.happenings]
    out = Counter((e["tid"], e["name"], *bounds(e)) for e in events if e["ph"] == "X" and e["pid"] == 2)
    assert out == Counter((each.node, each.cause, each.begin_ns, each.end_ns) for each in run.history.outages)
    assert len(out) > 3
    degrees = [(ns(event["ts"]), event["args"]["replicas"]) for event in events if event["ph"] == "C"]
    assert degrees[::2] == [(leg.begin_ns, leg.data) for leg in run.history.legs]
    assert degrees[1::2] == [(leg.end_ns, 0) for leg in run.history.legs]


def test_many_saves_are_drawn_together(run, monkeypatch):
    monkeypatch.setattr(perfetto, "MOST_SAVES", 10)
    events = list(trace_events(run))
    saved = spans(events, *track(events, "checkpoints: main"))
    legs = [leg for leg in run.history.legs if leg.saves[0]]
    assert [event["name"] for event in saved] == [f"{leg.saves[0]} saves" for leg in legs]
    assert [bounds(event) for event in saved] == [
        (
            leg.begin_ns + leg.timetable.made_at(0, 0),
            leg.begin_ns + leg.timetable.durable_at(0, leg.saves[0] - 1),
        )
        for leg in legs
    ]
    assert not any("fate" in event["args"] for event in events)


def test_each_tier_has_a_track():
    events = list(trace_events(run_of(checkpoint__tiers=TIERS, checkpoint__when_busy="skip")))
    assert len(spans(events, *track(events, "checkpoints: peer memory"))) > 10
