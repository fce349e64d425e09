"""Sweeps: the rows are those of single runs, whoever computes them, and points are compared over the same failures."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import clustersim.study.work as work_module
from clustersim import ScenarioError, load_scenario, replicate, simulate, sweep
from clustersim.study.rule import Rule

INTERVALS = {"checkpoint.every": ["5 min", "10 min"]}
PASSIVE = ["restore", "epoch", "reshuffle", "restart-run", "no-rewind"]


def same(first, second):
    pd.testing.assert_frame_equal(first.table, second.table)
    pd.testing.assert_frame_equal(first.ledger, second.ledger)
    pd.testing.assert_frame_equal(first.points, second.points)


def test_every_row_is_that_of_a_single_run():
    study = sweep("small", {**INTERVALS, "loader.preset": ["epoch", "reshuffle"]}, 3, seed=5, workers=1)
    assert len(study.table) == 12
    for row in study.table.to_dict("records"):
        values = {key: row[key] for key in ("checkpoint.every", "loader.preset")}
        run = simulate(load_scenario("small", values), row["replication"], 5)
        assert {name: row[name] for name in run.summary()} == run.summary()
        assert {bucket: row[f"time_{bucket}_h"] for bucket in run.time_h} == run.time_h
        own = study.ledger.query(f"point == {row['point']} and replication == {row['replication']}")
        assert own[list(run.ledger)].to_numpy().tolist() == run.ledger.to_numpy().tolist()
        assert (row["outcome"], row["exact"], row["seed"]) == ("done", run.exact, 5)
    assert study.table["checkpoint.every_s"].unique().tolist() == [300.0, 600.0]


def test_replicate_is_a_sweep_of_one_point():
    study = replicate("small", 4, workers=1)
    assert study.points["replications"].tolist() == [4]
    same(study, sweep("small", {}, 4, workers=1))


@pytest.mark.parametrize("ending", [{}, {"run.wall_time": None, "run.steps": 20_000}])
def test_passive_loaders_share_a_history_and_count_as_if_each_had_its_own(monkeypatch, ending):
    scenario = load_scenario("small", {"recovery.policy": "shrink", **ending})
    clocks = []
    monkeypatch.setattr(work_module, "simulate", lambda *of: clocks.append(of) or simulate(*of))
    study = sweep(scenario, {"loader.preset": PASSIVE}, 2, workers=1)
    assert set(study.points["history"]) == {0}
    assert len(clocks) == 2
    for row in study.table.to_dict("records"):
        run = simulate(load_scenario(scenario, {"loader.preset": row["loader.preset"]}), row["replication"])
        assert {name: row[name] for name in run.summary()} == run.summary()


def test_loaders_that_act_on_time_have_histories_of_their_own():
    scenario = load_scenario("small", {"run.wall_time": None, "run.epochs": 1})
    study = sweep(scenario, {"loader.preset": ["restore", "epoch"]}, 1, workers=1)
    assert study.points["history"].tolist() == [0, 1]


def test_points_that_differ_in_time_share_nothing():
    study = sweep("small", {**INTERVALS, "data.shards": [10, 20]}, 1, workers=1)
    assert study.points["history"].tolist() == [0, 0, 2, 2]


def test_paired_differences_are_students_interval_and_narrower_than_independent_runs():
    study = sweep("small", INTERVALS, 40, workers=1)
    row = study.compare({"checkpoint.every": "5 min"}, 1, "ettr").iloc[0]
    first, second = (study.table.loc[study.table["point"] == point, "ettr"].to_numpy() for point in (0, 1))
    low, high = stats.t.interval(0.95, 39, loc=(second - first).mean(), scale=stats.sem(second - first))
    assert (row["ci95_low"], row["ci95_high"]) == pytest.approx((low, high))
    welch = stats.ttest_ind(second, first, equal_var=False).confidence_interval()
    assert row["times_narrower"] == pytest.approx((welch.high - welch.low) / (high - low))
    assert row["times_narrower"] >= 3
    with pytest.raises(ValueError, match="which 0 do"):
        study.compare({"checkpoint.every": "7 min"}, 1)
    with pytest.raises(ValueError, match="no point 2: they are numbered 0 to 1"):
        study.compare(0, 2)


def test_the_summary_is_the_interval_of_each_point():
    study = sweep("small", INTERVALS, 12, workers=1)
    row = study.summary("ettr").set_index("point").loc[1]
    values = study.table.loc[study.table["point"] == 1, "ettr"]
    low, high = stats.t.interval(0.95, 11, loc=values.mean(), scale=stats.sem(values))
    assert (row["mean"], row["ci95_low"], row["ci95_high"]) == pytest.approx((values.mean(), low, high))


def test_points_stop_at_the_first_look_at_which_they_are_narrow_enough():
    until = {"figure": "rolled_back_steps", "absolute": 300, "max": 60}
    study = sweep("small", {"checkpoint.every": ["5 min", "4 h"]}, until=until, workers=1)
    looks = list(Rule(60, "rolled_back_steps", None, 300.0).looks())
    assert looks == [20, 30, 45, 60]
    for point in study.points.itertuples():
        values = study.table.loc[study.table["point"] == point.point, "rolled_back_steps"].to_numpy()

        def half(count, values=values):
            return stats.sem(values[:count]) * stats.t.ppf(0.975, count - 1)

        narrow = [look for look in looks if look <= len(values) and half(look) <= 300]
        assert len(values) == (narrow[0] if narrow else 60)
        assert point.converged == bool(narrow)
    assert study.points["replications"].nunique() == 2


def test_what_does_not_vary_is_narrow_at_the_first_look():
    until = {"figure": "extra_views", "relative": 0.01}
    study = sweep("small", {"loader.preset": ["restore", "epoch"]}, until={**until, "max": 25}, workers=1)
    assert study.points["converged"].tolist() == [True, False]
    assert study.points["replications"].tolist() == [20, 25]


def test_figures_that_no_run_has_are_refused_with_the_nearest():
    with pytest.raises(ValueError, match='found "etr"; did you mean "ettr"'):
        sweep("small", [{}], until={"figure": "etr", "relative": 0.01}, workers=1)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({}, "expected replications, or until, found neither"),
        ({"replications": 0}, "replications: expected at least 1 replications, found 0"),
        ({"until": {"figure": "ettr"}}, "until: expected one of relative, absolute, found neither"),
        ({"until": {"figure": "ettr", "relative": -1}}, "until: expected a width above 0, found -1"),
        ({"until": {"figure": "ettr", "rel": 1}}, 'until: expected the keys .*, found "rel"'),
        ({"replications": 2, "engine": "ray"}, "engine: expected one of local, dask, found 'ray'"),
        ({"replications": 2, "scheduler": "tcp://x"}, "scheduler: expected engine dask"),
    ],
)
def test_wrong_arguments_are_one_line(arguments, line):
    with pytest.raises(ValueError, match=line):
        sweep("small", INTERVALS, **arguments)


def test_a_point_that_is_no_scenario_is_refused_before_anything_runs(monkeypatch):
    monkeypatch.setattr(work_module, "simulate", None)
    with pytest.raises(ScenarioError, match=r"checkpoint\.every"):
        sweep("small", {"checkpoint.every": ["5 min", "5 parsecs"]}, 1, workers=1)


def test_progress_counts_up_to_all_rows():
    told = []
    sweep("small", INTERVALS, 5, workers=1, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 10
    told.clear()
    sweep("small", [{}], until={"figure": "steps", "absolute": 1e9, "max": 100}, workers=1, progress=told.append)
    assert told[-1] == 100


def test_rows_of_points_that_differ_in_columns_make_one_table_in_any_order():
    from clustersim.study.gathered import Gathered

    def row(point, replication, **figures):
        head = {"point": point, "replication": replication, "seed": 0, "outcome": "done", "reason": "", "exact": "x"}
        return {**head, **figures, "ledger": {"planned": [1], "seen": [1], "samples": [5]}}

    rows = [row(0, 0, b=1, a=2), row(0, 1, b=1, a=None), row(1, 0, a=2.5, b=2, c=3)]
    tables = []
    for order in ([0, 1, 2], [2, 0, 1]):
        gathered = Gathered()
        for index in order:
            gathered.add([rows[index]])
            gathered.table()  # packs what is there
        again = Gathered()
        again.load(gathered.table(), gathered.ledger())
        tables += [gathered.table(), again.table()]
    for table in tables:
        pd.testing.assert_frame_equal(table, tables[0])
    assert list(tables[0].columns[-3:]) == ["a", "b", "c"]
    assert np.isnan(tables[0]["a"][1])
