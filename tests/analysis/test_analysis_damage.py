"""The analysis of stored damage, on tables small enough to work out by hand, and on a stored run."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import analysis.spread
from analysis import damage
from analysis.damage import Stored
from analysis.rates import projected, rate
from clustersim import load_scenario, load_study, replicate, sweep
from clustersim.cli.main import main as clustersim


@pytest.fixture
def stored():
    """Three replications: two restarts, one, none."""
    restarts = pd.DataFrame(
        {
            "replication": [1, 0, 0],
            "restart": [1, 2, 1],
            "cause": ["GPU", "host", "GPU"],
            "interrupted_h": [50.0, 30.0, 10.0],
            "discarded_views": [5, 7, 9],
            "extra_views": [12, 60, 100],
            "missing_views": [12, 50, 80],
        }
    )
    summary = pd.DataFrame(
        {
            "replication": [0, 1, 2],
            "wall_h": [100.0, 100.0, 80.0],
            "interruptions": [3, 1, 0],
            "node_days": [400.0, 400.0, 320.0],
            "extra_views": [60, 12, 0],
            "missing_views": [50, 12, 0],
            "discarded_views": [16, 5, 0],
        }
    )
    return Stored(restarts, summary)


def test_each_restart_is_charged_with_what_it_added(stored):
    restarts = damage.per_restart(stored)
    assert restarts["extra_views"].tolist() == [100, -40, 12]
    assert restarts["missing_views"].tolist() == [80, -30, 12]
    assert restarts["until_h"].tolist() == [30, 100, 100]


def test_damage_accumulates_as_legs_end(stored):
    frame = damage.accumulated(stored, points=101).set_index("time_h")
    assert frame.loc[29, "extra_views_mean"] == 0
    assert frame.loc[30, "extra_views_mean"] == pytest.approx(100 / 3)
    assert frame.loc[30, "extra_views_p95"] == pytest.approx(90)
    assert frame.loc[99, "missing_views_mean"] == pytest.approx(80 / 3)
    assert frame.loc[100, "extra_views_mean"] == pytest.approx((60 + 12) / 3)


def test_rates_are_ratios_of_sums(stored):
    rates = rate(stored.summary.assign(point=0)).set_index(["views", "per"])
    assert rates.loc[("extra_views", "interruption"), "rate"] == 72 / 4
    assert rates.loc[("missing_views", "1,000 node-days"), "rate"] == pytest.approx(62 / 1.12)
    assert rates.loc[("extra_views", "interruption"), "ci95_low"] < 18


def test_the_interval_of_a_rate_covers_it_nineteen_times_in_twenty():
    rng = np.random.default_rng(3)
    studies, covered = 1000, 0
    for _ in range(studies):
        interruptions = rng.poisson(50, size=30)
        views = rng.poisson(20 * interruptions)
        counts = dict.fromkeys(("extra_views", "missing_views", "discarded_views"), views)
        row = rate(pd.DataFrame({"point": 0, "interruptions": interruptions, "node_days": 1.0, **counts})).iloc[0]
        covered += row["ci95_low"] <= 20 <= row["ci95_high"]
    assert abs(covered / studies - 0.95) < 3 * (0.95 * 0.05 / studies) ** 0.5


def test_a_longer_run_comes_to_what_was_projected():
    """Of a loader that never goes back, over failures that are as frequent late as early; and only then."""
    steady = load_scenario("small", {"failures.1.law": {"type": "exponential"}, "loader.preset": "no-rewind"})
    short = replicate(steady, 15, workers=1).table
    long = replicate(load_scenario(steady, {"run.wall_time": "20 d"}), 15, seed=1, workers=1).table
    told = projected(short, 20).set_index("views")
    for name in ("extra_views", "discarded_views"):
        found = analysis.spread.mean(long[name].to_numpy(float))
        errors = [(each[-1] - each[-2]) / 2 / 1.96 for each in (tuple(found), tuple(told.loc[name]))]
        assert abs(found.figure - told.loc[name, "expected"]) < 3 * np.hypot(*errors)
    assert told.loc["extra_views", "days"] == 20


def test_the_points_of_a_study_have_rates_of_their_own(tmp_path, capsys):
    sweep("small", {"loader.preset": ["restore", "epoch"]}, 3, workers=1, out=tmp_path)
    assert damage.main([str(tmp_path), "--days", "30"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    rows = [line.split() for line in printed.out.splitlines()]
    assert ["preset", "restore", "extra_views", "30", "0", "0", "0"] in rows
    study = load_study(tmp_path).table.query("point == 1")
    whole = 30 * study["extra_views"].sum() / (study["wall_h"].sum() / 24)
    assert ["preset", "epoch", "extra_views", "30", f"{whole:,.0f}"] in [row[:5] for row in rows]


def test_causes_are_means_of_a_run(stored):
    causes = damage.by_cause(stored).set_index("cause")
    assert causes.index.tolist() == ["GPU", "host"]
    assert causes.loc["GPU"].tolist()[:4] == pytest.approx([2 / 3, 112 / 3, 92 / 3, 14 / 3])
    added = damage.per_restart(stored).query("cause == 'GPU'").groupby("replication")["extra_views"].sum()
    runs = added.reindex(stored.summary["replication"], fill_value=0)
    interval = stats.t.interval(0.95, len(runs) - 1, loc=runs.mean(), scale=stats.sem(runs))
    assert causes.loc["GPU", ["extra_views_ci95_low", "extra_views_ci95_high"]].tolist() == pytest.approx(interval)


def test_shards_are_means_of_a_run_and_the_most_damaged_come_first(tmp_path, capsys):
    out = tmp_path / "out"
    shards = ["--set", "data.order=shard-shuffle", "--set", "data.shards=24", "--set", "loader.preset=no-rewind"]
    assert clustersim(["run", "workshop", *shards, "--replications", "3", "--out", str(out)]) == 0
    stored, runs = pd.read_parquet(out / "shards"), pd.read_parquet(out / "summary")
    found = damage.by_shard(stored)
    assert len(found) == 24
    assert found["extra"].sum() == pytest.approx(runs["extra_views"].mean())
    assert found["missing"].sum() == pytest.approx(runs["missing_views"].mean())
    assert (found["extra"] + found["missing"]).is_monotonic_decreasing
    worst = stored[stored["shard"] == found.loc[0, "shard"]]
    assert found.loc[0, "missing"] == pytest.approx(worst["missing"].mean())
    capsys.readouterr()
    assert damage.main([str(out)]) == 0
    assert sum(line.split()[:2] == [str(found.loc[0, "shard"]), "10"] for line in capsys.readouterr().out.splitlines())


def test_a_stored_run_adds_up(tmp_path, capsys):
    out = tmp_path / "small"
    arguments = ["run", "small", "--set", "loader.preset=reshuffle", "--replications", "4", "--out", str(out), "--json"]
    assert clustersim(arguments) == 0
    result = json.loads(capsys.readouterr().out)
    stored = damage.load(out)
    mean = result["summary"]["extra_views"]["mean"]
    assert damage.per_restart(stored)["extra_views"].sum() / 4 == pytest.approx(mean)
    assert damage.by_cause(stored)["extra_views"].sum() == pytest.approx(mean)
    assert damage.accumulated(stored)["extra_views_mean"].iloc[-1] == pytest.approx(mean)
    assert damage.main([str(out)]) == 0
    printed = capsys.readouterr()
    assert printed.err == f"wrote {out / 'damage.png'}\n"
    assert "software" in printed.out
    assert (out / "damage.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_without_restarts_is_drawn_too(tmp_path, capsys):
    out = tmp_path / "small"
    assert clustersim(["run", "small", "--set", "failures=[]", "--out", str(out)]) == 0
    assert damage.main([str(out), "--out", str(tmp_path / "none.svg")]) == 0
    assert "<svg" in (tmp_path / "none.svg").read_text()


def test_what_cannot_be_read_or_written_is_one_line(tmp_path, capsys):
    assert damage.main([str(tmp_path / "nowhere")]) == 2
    assert clustersim(["run", "small", "--json", "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    assert damage.main([str(tmp_path), "--out", str(tmp_path / "picture.xyz")]) == 2
    assert damage.main([str(tmp_path), "--out", str(tmp_path / "no" / "such.png")]) == 2
    assert capsys.readouterr().err.count("\n") == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_tables_that_cannot_be_printed_are_one_line(tmp_path):
    assert clustersim(["run", "small", "--json", "--out", str(tmp_path)]) == 0
    command = [sys.executable, "-m", "analysis.damage", str(tmp_path)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:] == ["the tables could not be printed (No space left on device)"]


def test_both_kinds_are_drawn_where_they_differ(stored):
    over_time, each, causes = damage.figure(stored, "title").axes
    assert [line.get_label() for line in over_time.lines] == ["extra views", "missing views"]
    assert [len(line.get_xdata()) for line in each.lines] == [3, 3]
    assert [label.get_text() for label in causes.get_yticklabels()] == ["GPU (0.667)", "host (0.333)"]


def test_causes_beyond_the_twelfth_share_a_bar(stored):
    names = [f"cause {number}" for number in range(20)]
    restarts = pd.concat([stored.damage.iloc[[0]]] * 20).assign(restart=range(1, 21), cause=names)
    causes = damage.figure(Stored(restarts, stored.summary), "title").axes[2]
    labels = [label.get_text() for label in causes.get_yticklabels()]
    assert len(labels) == 12
    assert labels[-1] == "9 other causes (3)"


def test_points_are_of_as_many_replications_as_leave_them_apart(stored, monkeypatch):
    monkeypatch.setattr(damage, "_MOST_POINTS", 2)
    each = damage.figure(stored, "title").axes[1]
    assert each.get_title() == "Added by each restart (1 replication)"
    assert len(each.lines[0].get_xdata()) == 2
    monkeypatch.setattr(damage, "_MOST_POINTS", 1)
    assert len(damage.figure(stored, "title").axes[1].lines[0].get_xdata()) == 2
