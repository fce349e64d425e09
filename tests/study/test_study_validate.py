"""The published figures: how a row is decided, what is run, and that a wrong figure would be seen."""

import json
import math

import numpy as np
import pandas as pd
import pytest

import clustersim.study.work as work_module
from clustersim import ScenarioError, load_scenario, load_study, simulate
from clustersim.scenario.load import SHIPPED
from clustersim.study import validate as module
from clustersim.study.store import DirectoryRefused
from clustersim.study.validate import decide, rows_of, runs_of, validate
from clustersim.study.validate_replay import replayed
from clustersim.study.validate_rows import ROWS, Target

TEN = np.arange(10.0)  # mean 4.5, standard error 0.957


@pytest.mark.parametrize(
    ("expected", "error", "decides", "statistic", "verdict"),
    [
        (4.5 - 2.8, 0, "z", 2.925, "pass"),
        (4.5 - 2.9, 0, "z", 3.029, "fail"),
        (4.5 + 2.9, 0, "z", -3.029, "fail"),
        (4.5 + 2.9, 0.957427, "z", -2.142, "pass"),  # both errors count
        (2.8, 0, "at least", 1.776, "fail"),  # t(9) has its 95 % quantile at 1.833
        (2.7, 0, "at least", 1.880, "pass"),
        (9.0, 0, "at least", -4.700, "fail"),
    ],
)
def test_a_mean_is_decided_by_its_error(expected, error, decides, statistic, verdict):
    told = decide(Target("", "", "", expected, error, decides), TEN)
    assert (told["ours"], told["error"]) == (4.5, pytest.approx(0.957427, abs=1e-6))
    assert told["statistic"] == pytest.approx(statistic, abs=1e-3)
    assert told["verdict"] == verdict


@pytest.mark.parametrize(("ours", "verdict"), [(2.3249, "pass"), (2.3251, "fail"), (2.3149, "fail")])
def test_what_is_not_random_agrees_in_every_printed_digit(ours, verdict):
    assert decide(Target("", "", "2.32", 2.32, decides="digits"), np.array([ours]))["verdict"] == verdict


def test_a_row_that_is_run(tmp_path):
    told = []
    table = validate(["V11"], quick=True, workers=1, out=tmp_path / "out", progress=told.append)
    row = table.iloc[0]
    assert (row["row"], row["verdict"], row["replications"]) == ("V11", "pass", 10)
    study = load_study(tmp_path / "out" / "V11").table
    assert row["ours"] == study["ettr"].mean()
    assert row["error"] == pytest.approx(study["ettr"].std() / math.sqrt(10))
    assert told[-1] == runs_of(["V11"], quick=True) == 10
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out" / "validation.parquet"), table)
    with pytest.raises(DirectoryRefused, match="a new or an empty directory"):
        validate(["V11"], quick=True, workers=1, out=tmp_path / "out")


def test_what_was_interrupted_goes_on_and_repeats_nothing(tmp_path, monkeypatch):
    names, out, simulated = ["V2", "V11"], tmp_path / "cut", []

    def counted(scenario, replication, seed):
        if len(simulated) == 25:  # of 2 points and 1, 10 replications each
            raise KeyboardInterrupt
        simulated.append((scenario.digest, replication))
        return simulate(scenario, replication, seed)

    with monkeypatch.context() as patched:
        patched.setattr(work_module, "simulate", counted)
        with pytest.raises(KeyboardInterrupt):
            validate(names, quick=True, workers=1, out=out)
        simulated.append(("interrupted", 0))
        table = validate(names, quick=True, workers=1, out=out, resume=True)
    assert len(simulated) == len(set(simulated)) == 31
    pd.testing.assert_frame_equal(table, validate(names, quick=True, workers=1))
    (out / "notes.txt").touch()
    with pytest.raises(DirectoryRefused, match=r"a directory of validations, found .* with notes\.txt"):
        validate(names, quick=True, workers=1, out=out, resume=True)


def test_a_simulator_that_is_off_fails(monkeypatch):
    """Llama 3 at an interval of 30 min has an ETTR of 0.86."""
    (check,) = rows_of(["V11"])
    slow = check._replace(points=(check.points[0]._replace(values={"checkpoint.every": "30 min"}),))
    monkeypatch.setattr(module, "ROWS", (slow,))
    assert validate(quick=True, workers=1)["verdict"].tolist() == ["fail"]


def test_runs_that_do_not_finish_fail(monkeypatch):
    """Ten runs that are given up after the 54 days that they would take without a failure."""
    (check,) = rows_of(["V11"])
    values = {"run.wall_time": None, "run.steps": 700_000, "run.limit": "54 d"}
    endless = check._replace(points=(check.points[0]._replace(values=values),))
    monkeypatch.setattr(module, "ROWS", (endless,))
    row = validate(quick=True, workers=1).iloc[0]
    assert (row["verdict"], row["reason"]) == ("fail", "10 of 10 runs did not finish")


def test_rows_that_are_not_run_say_why():
    table = validate(["V7"], workers=1)
    assert table["verdict"].tolist() == ["not run"] * 3
    assert set(table["reason"]) == {"needs the trace infinitehbd-faults.json, which does not come with clustersim"}
    assert table["ours"].isna().all()
    assert runs_of(["V7"]) == 0


def test_steps_that_are_discarded_in_place_are_counted():
    """1,100 kills at even times in 6,249 steps begun: 82.4 % are committed."""
    row = validate(["V6"], quick=True, workers=1).iloc[0]
    assert row["ours"] == pytest.approx(1 - 1100 / 6249, abs=1e-4)
    assert row["verdict"] == "pass"


def test_an_unknown_row_or_trace_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r'^expected rows of V1, V2, .*, V11, found "V12"$'):
        validate(["V12"])
    with pytest.raises(ScenarioError, match=r"failures\.0\.trace: expected a readable file"):
        validate(["V7"], traces=tmp_path)


def test_every_scenario_is_used_and_every_row_has_one():
    used = {row.scenario: row for row in ROWS}
    assert sorted(used) == sorted(path.stem for path in (SHIPPED / "validation").glob("*.toml"))
    for row in used.values():
        for point in row.points:
            if row.trace is None:
                load_scenario(SHIPPED / "validation" / f"{row.scenario}.toml", point.values)


def trace_of(tmp_path, faults):
    """Faults (node, start, end, level) of a small trace in the manner of InfiniteHBD; days."""
    events = []
    for node, start, end, level in faults:
        for at, kind in ((start, "fault_start"), (end, "fault_end")):
            events.append({"node_id": node, "event_time": at, "event_type": kind, "fault_type": {"Level": level}})
    path = tmp_path / "infinitehbd-faults.json"
    path.write_text(json.dumps(sorted(events, key=lambda event: event["event_time"])))
    return path


def test_what_a_replayed_trace_comes_to(tmp_path):
    """One node down for 174 of 348 days, twenty more for 3 of them, one that is out at the very end not counted."""
    faults = [("a", 10, 184, "Hardware Failure"), ("a", 348.5, 349, "Software Failure")]
    faults += [(f"n{i}", 100, 103, "Other Failure") for i in range(18)]
    path = trace_of(tmp_path, faults)
    scenario = load_scenario(SHIPPED / "validation" / "infinitehbd.toml", {"failures.0.trace": str(path)})
    row = replayed(scenario).iloc[0]
    assert row["down_mean_percent"] == pytest.approx(100 * (174 + 18 * 3) / 348 / 400)
    assert row["down_p99_percent"] == pytest.approx(100 * 1 / 400)  # 19 are down for 3 days, 0.86 % of the time
    assert row["hardware_percent"] == pytest.approx(5)
    table = validate(["V7"], traces=tmp_path)
    assert table["verdict"].tolist() == ["fail"] * 3


@pytest.mark.slow
def test_all_rows_pass():
    assert not (validate()["verdict"] == "fail").any()
