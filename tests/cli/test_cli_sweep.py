"""`clustersim sweep`: points from options, one line for what is wrong, and nothing finished is lost."""

import json
import os

import pandas as pd
import pytest

import clustersim.study.work as work_module
from clustersim import load_study, simulate, sweep
from clustersim.study.engines import EngineError

INTERVALS = ("--vary", "checkpoint.every=5 min,10 min")


@pytest.fixture
def out(tmp_path):
    return tmp_path / "study"


@pytest.fixture
def swept(clustersim, out):
    """Runs a sweep of the small scenario in this process alone."""

    def call(*options):
        return clustersim("sweep", "small", "--workers", 1, "--out", out, *options)

    return call


def test_it_stores_what_the_library_sweeps(swept, out):
    code, printed, err = swept(*INTERVALS, "--vary", "loader.preset=restore,epoch", "--replications", 3)
    assert (code, err) == (0, "")
    assert "unknown of the rate" not in printed
    vary = {"checkpoint.every": ["5 min", "10 min"], "loader.preset": ["restore", "epoch"]}
    pd.testing.assert_frame_equal(load_study(out).table, sweep("small", vary, 3, workers=1).table)
    lines = printed.splitlines()
    assert lines[0] == "Sixteen nodes, ten days (seed 0, 4 points, 12 runs)"
    assert lines[2].startswith("Most useful share of time: ")
    assert lines[2].endswith(
        " at checkpoint.every = 10 min, loader.preset = restore (as good, within 95 % intervals: 1 other point). "
        "Least damage: 0 % of the planned views (extra and missing together) at checkpoint.every = 5 min, "
        "loader.preset = restore (as good, within 95 % intervals: 1 other point)."
    )
    assert lines[5].split()[:5] == ["0", "5", "min", "restore", "3"]
    assert lines[-1] == "2 points recounted over the history of another that differs in loader or data."


def test_json_has_every_figure_of_every_point(swept, out):
    code, printed, _ = swept(*INTERVALS, "--replications", 3, "--json")
    told = json.loads(printed)
    study = load_study(out)
    assert code == 0
    assert [point["values"] for point in told["points"]] == [
        {"checkpoint.every": "5 min"},
        {"checkpoint.every": "10 min"},
    ]
    means = study.table.groupby("point")["ettr"].mean()
    assert [point["summary"]["ettr"]["mean"] for point in told["points"]] == pytest.approx(means.tolist())
    assert told["provenance"] == study.manifest
    assert told["points"][0]["converged"] is None


@pytest.mark.parametrize(
    ("options", "values"),
    [
        (("--vary", "cluster.spares=1,2", "--vary", "run.seed=3,4", "--zip"), [[1, 3], [2, 4]]),
        (("--vary", 'failures.2.rate="1 per day","2 per day"'), [["1 per day"], ["2 per day"]]),
        (
            ("--vary", 'recovery.start_up={type="exponential", mean="1 h"},5 min'),
            [[{"type": "exponential", "mean": "1 h"}], ["5 min"]],
        ),
        (("--vary", "cluster.repair_slots=4,"), [[4], [None]]),
    ],
)
def test_values_are_read_as_set_reads_them(swept, options, values):
    code, printed, _ = swept(*options, "--replications", 1, "--json")
    assert code == 0
    assert [list(point["values"].values()) for point in json.loads(printed)["points"]] == values


@pytest.mark.parametrize(("design", "points"), [("lhs", 4), ("sobol", 4), ("saltelli", 16)])
def test_designs_draw_from_ranges(swept, out, design, points):
    ranges = ("--range", "checkpoint.every=10 min..1 h", "--range", "cluster.spares=0..3")
    code, _, _ = swept("--design", design, "--points", 4, *ranges, "--replications", 1)
    assert code == 0
    table = load_study(out).points
    assert len(table) == points
    assert table["checkpoint.every_s"].between(600, 3600).all()
    assert set(table["cluster.spares"]) <= {0, 1, 2, 3}


def test_what_no_replication_narrows_is_told(swept):
    wear = '{cause="wear",count=3,over="54 d",on_nodes=16,uncertain=true}'
    told = "More replications narrow the intervals, and not what is unknown of the rate of wear: `clustersim run`"
    assert told in " ".join(swept(*INTERVALS, "--set", f"failures=[{wear}]", "--replications", 2)[1].split())


def test_until_tells_which_points_are_narrow_enough(swept):
    code, printed, _ = swept("--vary", "loader.preset=restore,epoch", "--until", "extra_views=1%", "--replications", 25)
    assert code == 0
    rows = [line.split() for line in printed.splitlines()[5:7]]
    assert [row[1:4] for row in rows] == [["restore", "20", "yes"], ["epoch", "25", "no"]]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--vary", "checkpoint.every"), '--vary: expected key=v1,v2, found "checkpoint.every"'),
        (
            ("--range", "a=1..2"),
            "--design: expected one of lhs, sobol, saltelli for --range and --points, found nothing",
        ),
        (("--design", "lhc"), '--design: expected one of lhs, sobol, saltelli, found "lhc"'),
        (("--design", "lhs"), "--points: expected the number of points of the design, found nothing"),
        (
            ("--design", "sobol", "--points", 12, "--range", "cluster.spares=0..3"),
            "--range: expected a power of two of points, found 12",
        ),
        (
            ("--design", "lhs", "--points", 2, "--range", "cluster.spares=3"),
            '--range: expected cluster.spares=a..b, found "cluster.spares=3"'.replace('"cluster.spares=3"', '"3"'),
        ),
        (
            ("--vary", "a=1,2", "--vary", "b=1", "--zip"),
            "--vary: b: expected 2 values, as many as of a, found 1",
        ),
        (
            ("--until", "ettr"),
            '--until: expected FIGURE=WIDTH such as "ettr=1%", "ettr=0.01" or "wall_h=2 absolute", found "ettr"',
        ),
        (("--until", "etr=1%"), '--until: expected a figure of the runs, found "etr"; did you mean "ettr"?'),
        (("--engine", "ray"), "--engine: expected one of local, dask, found 'ray'"),
        (
            ("--engine", "dask", "--scheduler", "tcp://x"),
            "--scheduler: expected engine dask and the scheduler's own workers, found workers beside it",
        ),
    ],
)
def test_wrong_options_are_one_line(swept, options, line):
    assert swept(*options) == (2, "", f"clustersim: {line}\n")


def test_a_wrong_point_is_one_line_and_makes_no_directory(swept, out):
    code, printed, err = swept("--vary", "checkpoint.every=5 min,5 parsecs")
    assert (code, printed) == (2, "")
    assert err.startswith("small.toml: checkpoint.every: expected")
    assert not out.exists()


def test_a_study_is_refused_or_gone_on_with(swept, out):
    assert swept(*INTERVALS, "--replications", 2)[0] == 0
    code, _, err = swept(*INTERVALS, "--replications", 2)
    assert (code, err) == (2, f'clustersim: --out: expected a new or an empty directory, found a study in "{out}"\n')
    assert swept(*INTERVALS, "--replications", 5, "--resume")[0] == 0
    assert load_study(out).points["replications"].tolist() == [5, 5]
    code, _, err = swept("--vary", "checkpoint.every=5 min,15 min", "--resume")
    assert code == 2
    differs = 'with design.points.1.checkpoint.every = "10 min", found "15 min"'
    assert err == f'clustersim: --out: expected the study that "{out}" holds, {differs}\n'


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (KeyboardInterrupt(), "stopped by Ctrl-C"),
        (EngineError("the scheduler is lost"), "the scheduler is lost"),
        (OSError(28, "No space left on device", "rows.jsonl"), "could not write: No space left on device (rows.jsonl)"),
    ],
)
def test_whatever_stops_it_leaves_what_is_finished(swept, out, monkeypatch, error, told):
    seen = []

    def stops(scenario, replication, seed):
        seen.append(replication)
        if len(seen) == 4:
            raise error
        return simulate(scenario, replication, seed)

    with monkeypatch.context() as patched:
        patched.setattr(work_module, "simulate", stops)
        code, printed, err = swept(*INTERVALS, "--replications", 5)
    assert (code, printed) == (1, "")
    assert err == f"{told}; 3 of 10 runs are kept, --resume goes on with them\n"
    assert len(load_study(out).table) == 3
    assert swept(*INTERVALS, "--replications", 5, "--resume")[0] == 0
    assert len(load_study(out).table) == 10


def test_runs_that_do_not_finish_are_told_and_kept(clustersim, starving, out):
    code, printed, err = clustersim(
        "sweep",
        starving,
        "--vary",
        "checkpoint.every=10 steps,20 steps",
        "--replications",
        2,
        "--workers",
        1,
        "--out",
        out,
    )
    assert code == 1
    assert printed
    assert err.startswith("4 of 4 runs did not finish; the first, point 0, replication 0: starved (")
    assert set(load_study(out).table["outcome"]) == {"starved"}
    assert ".lock" in os.listdir(out)
