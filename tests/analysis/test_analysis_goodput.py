"""Where the time went, on tables small enough to work out by hand, and on a stored run and study."""

import pandas as pd
import pytest

from analysis import goodput
from analysis.goodput import Stored
from clustersim import simulate, sweep
from clustersim.cli.main import main as clustersim
from clustersim.training.buckets import BUCKETS

INDEX = pd.MultiIndex.from_tuples([(0, 0), (0, 1), (1, 0)], names=["point", "replication"])


@pytest.fixture
def stored():
    """Two points; the first of two runs of 10 h and 20 h."""
    hours = pd.DataFrame(
        {
            "useful": [5.0, 12.0, 8.0],
            "slow_nodes": [1.0, 2.0, 0.0],  # a bucket of which this analysis knows nothing
            "wasted_progress": [1.0, 2.0, 1.0],
            "save_stall": [0.0, 0.0, 0.0],
            "load": [3.0, 4.0, 1.0],
        },
        index=INDEX,
    )
    return Stored(hours, 4 * hours, "by hand", ["a=1", "a=2 $"])


def test_buckets_by_hand(stored):
    found = goodput.buckets(stored).set_index(["point", "bucket"])
    assert list(found.loc[0].index) == ["useful", "slow_nodes", "wasted_progress", "load"]
    assert found.loc[(0, "useful"), ["hours", "share"]].tolist() == pytest.approx([8.5, 0.55])
    # Student's t of one degree of freedom; the standard error of 0.5 and 0.6 is 0.05.
    assert found.loc[(0, "useful"), "share_ci95_high"] == pytest.approx(0.55 + 12.7062 * 0.05, rel=1e-5)
    assert found.loc[(1, "load"), "share"] == 0.1
    assert found.groupby(level="point")["share"].sum().tolist() == pytest.approx([1, 1])


def test_what_differs_by_the_rounding_of_sums_alone_has_no_interval(stored):
    hours = stored.hours.assign(useful=[7.0, 7.0 * (1 + 1e-15), 8.0])
    rows = goodput._printed(stored._replace(hours=hours, node_hours=None)).splitlines()
    assert [row.split()[-1] for row in rows if row.split()[:2] == ["a=1", "useful"]][-1] == "7"
    assert any("±" in row for row in rows)


def test_kinds_of_goodput_by_hand(stored):
    found = goodput.goodput(stored).set_index(["point", "goodput"])["share"]
    assert found[0].to_dict() == pytest.approx(
        {"useful (ETTR)": 0.55, "kept steps": 0.65, "training": 0.75, "useful node-hours": 0.55}
    )
    assert found[1].to_dict() == pytest.approx(
        {"useful (ETTR)": 0.8, "kept steps": 0.8, "training": 0.9, "useful node-hours": 0.8}
    )


def test_the_buckets_that_it_knows_are_those_that_runs_have():
    assert {*goodput.STOPPED, *goodput.LOST_WORK, "save_stall", "useful"} <= set(BUCKETS)


def test_bars_are_stacked_to_the_whole(stored):
    whole, lost = goodput.figure(stored, "by $ hand").axes
    ends = [max(bar.get_x() + bar.get_width() for bar in bars) for bars in zip(*whole.containers, strict=True)]
    assert ends == pytest.approx([100, 100])
    assert len(lost.containers) == len(whole.containers) - 1
    # One bucket has one colour in both.
    assert lost.containers[0][0].get_facecolor() == whole.containers[1][0].get_facecolor()
    assert [label.get_text() for label in whole.get_yticklabels()] == ["a=1", r"a=2 \$"]


def test_a_stored_run_is_the_runs_own_time(tmp_path, capsys):
    assert clustersim(["run", "small", "--replications", "2", "--out", str(tmp_path)]) == 0
    stored = goodput.load(tmp_path)
    runs = [simulate("small", replication) for replication in (0, 1)]
    for row, run in zip(stored.hours.to_dict("records"), runs, strict=True):
        assert row == run.time_h
    found = goodput.goodput(stored).set_index("goodput")["share"]
    assert found["useful (ETTR)"] == pytest.approx(sum(run.summary()["ettr"] for run in runs) / 2)
    assert stored.node_hours.sum(axis=1).tolist() == pytest.approx([24 * run.node_days for run in runs])
    capsys.readouterr()
    assert goodput.main([str(tmp_path)]) == 0
    assert "waiting for nodes" in capsys.readouterr().out
    assert (tmp_path / "goodput.png").read_bytes().startswith(b"\x89PNG")


def test_a_stored_study_has_a_bar_a_point(tmp_path, capsys):
    study = sweep("small", {"checkpoint.every": ["5 min", "1 h"]}, 2, workers=1, out=tmp_path)
    stored = goodput.load(tmp_path)
    assert stored.points == ["every 5 min", "every 1 h"]
    assert stored.hours.sum(axis=1).tolist() == pytest.approx(study.table["wall_h"].tolist())
    picture = tmp_path / "bars.svg"
    assert goodput.main([str(tmp_path), "--picture", str(picture)]) == 0
    assert "every 1 h" in capsys.readouterr().out
    assert "<svg" in picture.read_text()


def test_what_cannot_be_read_is_one_line(tmp_path, capsys):
    expected = f"{tmp_path}: expected what `clustersim run --out` left, found"
    assert goodput.main([str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"{expected} no {tmp_path / 'run.json'}\n"
    (tmp_path / "run.json").write_text('{"scenario": ')
    assert goodput.main([str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"{expected} {tmp_path / 'run.json'}, which is damaged\n"
