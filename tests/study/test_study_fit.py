"""A trace of known laws is fitted, and what is printed of it simulates the same failures again."""

import statistics
import tomllib

import pandas as pd
import pytest

from clustersim import ScenarioError, load_scenario, simulate
from clustersim.study.fit import chosen, fit_trace, fragment

NODES, DAYS = 300, 300
TRUTH = """
[[failures]]
cause = "wear"
rate = "20 per 1000 node-days"
law = { type = "weibull", shape = 0.7 }
repair = { type = "lognormal", median = "10 h", sigma = 1.2 }
"""
MAPPING = {
    "columns": {"time": "start", "node": "node", "end": "end"},
    "unit": "h",
    "nodes": NODES,
    "length": f"{DAYS} d",
}


def scenario(failures):
    base = {
        "name": "fitted",
        "run": {"wall_time": f"{DAYS} d"},
        "model": {"global_batch": NODES, "step_time": "1 min"},
        "cluster": {"nodes": NODES, "gpus_per_node": 1},
        "checkpoint": {"every": "1 h"},
        "data": {"samples": "1 T"},
    }
    return load_scenario(base | tomllib.loads(failures))


def trace_of(run):
    """The run's faults, one row each; an end that lies beyond the run is empty."""
    events = run.events[run.events["kind"].isin(["failure", "repair"])].sort_values(["node", "time_h"], kind="stable")
    events = events.assign(end=events.groupby("node")["time_h"].shift(-1))
    faults = events[events["kind"] == "failure"].rename(columns={"time_h": "start"})
    return faults[["node", "start", "end", "cause"]].sort_values("start")


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    path = tmp_path_factory.mktemp("fit") / "log.csv"
    trace_of(simulate(scenario(TRUTH))).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def fitted(trace):
    (only,) = fit_trace(trace, MAPPING, new_at_start=True)
    return only


def test_the_laws_are_found(trace, fitted):
    faults = pd.read_csv(trace)
    assert (fitted.cause, fitted.faults) == ("log", len(faults))
    assert len(fitted.durations.lives) == NODES + len(faults) - faults["end"].isna().sum()
    lives = {each.law.name: each for each in fitted.lives}
    assert fitted.lives[0].law.name in ("weibull", "gamma")
    assert lives["weibull"].shape.ci95_low < 0.7 < lives["weibull"].shape.ci95_high
    assert lives["weibull"].mean_h.ci95_low < 1200 < lives["weibull"].mean_h.ci95_high
    assert fitted.repairs[0].law.name == "lognormal"
    assert fitted.repairs[0].shape.ci95_low < 1.2 < fitted.repairs[0].shape.ci95_high


def test_what_is_printed_gives_the_failures_and_repairs_back(trace, fitted):
    faults = pd.read_csv(trace)
    runs = [simulate(scenario(fragment([fitted])), replication) for replication in range(12)]
    traces = [trace_of(run) for run in runs]
    for seen, drawn in (
        (len(faults), [len(each) for each in traces]),
        ((faults["end"] - faults["start"]).mean(), [(each["end"] - each["start"]).mean() for each in traces]),
        (faults["start"].median(), [each["start"].median() for each in traces]),
    ):
        error = statistics.stdev(drawn) * (1 + 1 / len(drawn)) ** 0.5
        assert abs(statistics.mean(drawn) - seen) < 3 * error
        assert error < 0.1 * seen


def test_a_shape_that_is_not_needed_is_left_out(fitted):
    """Of an exponential law and one with a shape, the first is taken unless it is worse by 2."""
    shaped, exponential = (
        next(each for each in fitted.lives if (each.shape is None) is plain) for plain in (False, True)
    )
    for worse, expected in ((1.9, exponential), (2.1, shaped)):
        compared = [shaped._replace(aic=100.0), exponential._replace(aic=100.0 + worse)]
        assert chosen(compared).law is expected.law


def test_each_cause_has_a_clock_of_its_own(tmp_path):
    """Two causes; the rarer one comes second, and the fragment has both, as TOML spells their names."""
    rows = [(f"n{i}", 10.0 * i, 10.0 * i + 1, "GPU") for i in range(1, 9)]
    rows += [("n1", 15.0, 16.0, 'the "other"'), ("n2", 95.0, None, 'the "other"')]
    path = tmp_path / "log.csv"
    table = pd.DataFrame(sorted(rows, key=lambda row: row[1]), columns=["node", "start", "end", "what"])
    table.to_csv(path, index=False)
    mapping = MAPPING | {"nodes": 10, "length": "100 h", "columns": MAPPING["columns"] | {"cause": "what"}}
    gpu, other = fit_trace(path, mapping)
    assert (gpu.cause, gpu.faults, other.cause, other.faults) == ("GPU", 8, 'the "other"', 2)
    exponential = next(each for each in gpu.lives if each.law.name == "exponential")
    assert exponential.mean_h.value == pytest.approx((10 * 100 - 8) / 8, rel=1e-5)
    assert other.lives[0].mean_h.value == pytest.approx((10 * 100 - 1 - 5) / 2, rel=1e-5)
    loaded = scenario(fragment([gpu, other]))
    assert [failure.cause for failure in loaded.failures] == ["GPU", 'the "other"']
    assert loaded.failures[1].failures_per_ns(1) * 3.6e12 == pytest.approx(2 / 994, rel=1e-3)
    # All repairs of the first took an hour: no law has a spread. Of the second one ended, after an hour.
    assert other.repairs[0].mean_h.value == pytest.approx((1 + 5) / 1, rel=1e-5)


def test_repairs_that_never_end_or_take_no_time(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("node,start,end\na,10,\nb,20,\n")
    (never,) = fit_trace(path, MAPPING)
    assert 'repair = "never"' in fragment([never])
    path.write_text("node,start,end\na,10,10\nb,20,20\n")
    (nothing,) = fit_trace(path, MAPPING)
    assert "repair" not in fragment([nothing])
    for each in (never, nothing):
        assert len(scenario(fragment([each])).failures) == 1


def test_repairs_of_one_length_are_that_long(tmp_path):
    path = tmp_path / "log.csv"
    rows = [f"n{i},{10.1 * i},{10.1 * i + 6}" for i in range(1, 8)]
    path.write_text("\n".join(["node,start,end", *rows]))
    (fitted,) = fit_trace(path, MAPPING)
    assert 'repair = "6 h"' in fragment([fitted])
    path.write_text("\n".join(["node,start,end", *rows, "n9,100,"]))  # one takes longer, nobody knows by how much
    (fitted,) = fit_trace(path, MAPPING)
    assert 'repair = { type = "exponential", mean = ' in fragment([fitted])


@pytest.mark.parametrize(
    ("text", "changes", "line"),
    [
        ("node,start,end\na,1,0\n", {}, "trace: expected an end after its start, found row 1 that ends before"),
        ("node,start,end\na,1,2\n", {"unit": "hour"}, 'unit: expected one of "ns", '),
        ("node,start,end\na,1,2\n", {"length": "30 min"}, "length: expected a time that covers row 1"),
        ("node,start,end\na,1,2\n", {"length": "300"}, "length: expected a duration such as"),
        ("node,start,end\na,1,2\nb,2,3\n", {"nodes": 1}, "nodes: expected at least the 2 nodes named until row 2"),
        ("node,start,end\na,1,5\na,2,3\n", {}, 'overlaps: expected "merge", or faults of one node apart'),
        ("node,begin,end\na,1,5\n", {}, "columns.time: expected a column of log.csv"),
        ("node,start,end\n", {}, "trace: expected a row for each fault or event, found none"),
    ],
)
def test_a_trace_that_cannot_be_read_is_told_in_one_line(tmp_path, text, changes, line):
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(ScenarioError) as caught:
        fit_trace(path, MAPPING | changes)
    assert str(caught.value).startswith(f"{path}: {line}")


def test_a_fault_at_the_very_beginning_alone_tells_nothing(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("node,start,end\na,0,5\n")
    with pytest.raises(ValueError, match='expected a fault after the begin of the trace, found none of "log"'):
        fit_trace(path, MAPPING)
