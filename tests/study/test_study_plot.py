"""A study in a notebook: figures by plotly that are its table, and a table of its own; one line without plotly."""

import re

import pytest

import clustersim as cs
import clustersim.study.plot as plot_module
from clustersim.study.intervals import of_study

EVERY = ["5 min", "20 min", "30 min", "1 h"]


@pytest.fixture(scope="module")
def study():
    points = {"checkpoint.every": EVERY, "loader.preset": ["restore", "epoch"]}
    return cs.sweep({"name": "<b>small</b>", **SMALL}, points, replications=3, workers=1)


SMALL = {
    "run": {"steps": 2000},
    "model": {"global_batch": 8, "step_time": "1 min"},
    "cluster": {"nodes": 4, "gpus_per_node": 1},
    "failures": [{"cause": "GPU", "rate": "1 per node-day"}],
    "checkpoint": {"every": "10 min", "stall": "10 s"},
    "data": {"documents": 5000},
    "cost": {"gpu_hour": 2.0},
}


def test_damage_is_the_mean_of_each_point(study):
    missing, extra = study.plot.damage().data
    means = study.table.groupby("point")[["extra_views", "missing_views"]].mean()
    assert list(extra.x) == means["extra_views"].tolist()[::-1]
    assert list(missing.x) == means["missing_views"].tolist()[::-1]
    assert extra.y[-1] == "every 5 min, preset restore"


def test_time_is_the_share_of_each_bucket(study):
    bars = {bar.name: bar for bar in study.plot.time().data}
    useful = study.table.groupby("point")["time_useful_h"].mean() / study.table.groupby("point")["wall_h"].mean()
    assert list(bars["useful"].x) == pytest.approx((100 * useful).tolist()[::-1])
    assert sum(sum(bar.x) for bar in bars.values()) == pytest.approx(100 * len(study.points))


def test_a_figure_has_room_for_the_first_points(study, monkeypatch):
    monkeypatch.setattr(plot_module, "MOST_POINTS", 3)
    assert [len(bar.x) for bar in study.plot.damage().data] == [3, 3]
    assert {len(bar.x) for bar in study.plot.time().data} == {3}


def test_intervals_are_those_of_the_fit(study):
    drawn, found = study.plot.intervals(), of_study(study)
    assert list(drawn.data[0].y) == (100 * found.table["ettr"]).tolist()
    assert {shape.x0 for shape in drawn.layout.shapes if shape.type == "line"} >= {found.best.best_s / 60}


def test_capacity_is_the_chance_and_the_cost_of_each_point(study):
    plans, recommended = study.plot.capacity("2 d", confidence=0.2).data
    early = study.table["wall_h"] <= 48
    chances = 100 * early.groupby(study.table["point"]).mean()
    assert len(recommended.x) == 1
    assert sorted([*plans.y, *recommended.y]) == pytest.approx(sorted(chances))


def test_what_a_study_has_not_is_one_line(study):
    other = cs.sweep("workshop", {"loader.preset": ["restore", "epoch"]}, replications=2, workers=1)
    with pytest.raises(ValueError, match=r"over checkpoint\.every and loader\.preset, found other keys"):
        other.plot.intervals()
    with pytest.raises(ValueError, match="expected runs with a cost"):
        other.plot.capacity("1 d")
    with pytest.raises(ValueError, match=r'^by: expected a duration such as "10 min", found "x"$'):
        study.plot.capacity("x")


def test_without_plotly_it_says_which_extra(study, monkeypatch):
    monkeypatch.setattr(plot_module, "find_spec", lambda name: None)
    fresh = cs.Study(study.manifest, study.table, study.ledger, study.points)
    with pytest.raises(ImportError, match=r"take plotly \(pip install 'clustersim\[report\]'\)"):
        fresh.plot  # noqa: B018


def test_a_notebook_shows_a_row_a_point(study):
    shown = study._repr_html_()
    assert shown.startswith("<p>&lt;b&gt;small&lt;/b&gt;: 8 points, 24 runs, seed 0</p>")
    rows = [re.findall("<td>(.*?)</td>", row) for row in shown.split("<tr")[2:]]
    assert [row[1] for row in rows if row] == [every for every in EVERY for _ in range(2)]
    mean = study.table.groupby("point")["ettr"].mean()[0]
    assert rows[0][-5].startswith(f"{mean:,.6g} ± ")


def test_a_notebook_shows_the_figures_of_a_run():
    run = cs.simulate({"name": "<b>small</b>", **SMALL}, replication=2)
    shown = run._repr_html_()
    assert shown.startswith("<p>&lt;b&gt;small&lt;/b&gt;: replication 2, seed 0, done</p>")
    assert f"<th>planned_views</th>\n      <td>{run.summary()['planned_views']:,}</td>" in shown
    assert "feed_bytes_per_s" not in shown  # the scenario does not say it
