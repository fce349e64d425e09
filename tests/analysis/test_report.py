"""What a page is made of: keys as --set spells them, downloads that are the tables, figures that are their numbers."""

import base64
from io import BytesIO

import numpy as np
import pandas as pd
import pytest

from analysis import plots, report


def test_a_scenario_is_listed_by_the_keys_that_set_takes():
    scenario = {"name": "x", "run": {"seed": 0}, "failures": [{"cause": "GPU", "law": {"shape": 0.7}}], "tags": [1, 2]}
    assert report.flat(scenario) == [
        ("name", "x"),
        ("run.seed", "0"),
        ("failures.0.cause", "GPU"),
        ("failures.0.law.shape", "0.7"),
        ("tags", "[1, 2]"),
    ]


def test_a_download_is_the_table():
    table = pd.DataFrame({"cause": ["GPU", 'a "b", c'], "hours": [0.1, 1e300]})
    found = report.download("time", table)
    head, data = found.link.split(",")
    assert (found.name, found.rows, found.columns, head) == ("time", 2, 2, "data:text/csv;charset=utf-8;base64")
    pd.testing.assert_frame_equal(pd.read_csv(BytesIO(base64.b64decode(data))), table, check_dtype=False)


def test_a_long_table_is_named_only():
    found = report.download("checkpoints", pd.DataFrame({"step": np.arange(10**6)}))
    assert (found.rows, found.link) == (10**6, "")


def test_the_damage_of_each_point_is_drawn_with_its_interval():
    views = {"extra_views": [5.0, 7.0], "missing_views": [1.0, 2.0]}
    ends = {f"{name}_ci95_{end}": np.array(values) + by for name, values in views.items() for end, by in ENDS}
    drawn = plots.damage(pd.DataFrame({"label": ["a<b", "c"], **views, **ends}))
    missing, extra = drawn.data
    assert (extra.name, list(extra.x), list(extra.y)) == ("extra", [7, 5], ["c", "a&lt;b"])
    assert (missing.name, list(missing.x)) == ("missing", [2, 1])
    assert list(extra.error_x.array) == [2, 2]
    assert list(extra.error_x.arrayminus) == [1, 1]


ENDS = (("low", -1), ("high", 2))


def test_a_tornado_is_drawn_from_one_end_of_a_range_to_the_other():
    ends = {"low": ["1 h", "1 s"], "high": ["2 h", "9 s"], "at_low": [0.9, 0.8], "at_high": [0.7, 0.82]}
    rows = pd.DataFrame({"key": ["a<b", "c"], **ends, "swing_ci95_low": [-0.3, 0.0], "swing_ci95_high": [-0.1, 0.04]})
    low, high, swings = plots.tornado(rows, "share (%)", 100).data
    assert (low.name, list(low.y)) == ("low end of the range", ["c: 1 s .. 9 s", "a&lt;b: 1 h .. 2 h"])
    assert list(low.base + low.x) == pytest.approx([80, 90])
    assert list(high.base + high.x) == list(swings.x) == pytest.approx([82, 70])
    assert list(low.base) == list(high.base) == pytest.approx([81, 80])
    assert list(swings.error_x.array) == pytest.approx([2, 10])


def test_time_is_drawn_in_shares_of_each_row():
    drawn = plots.time(
        pd.DataFrame({"useful": [3.0, 8.0], "load": [1.0, 2.0], "idle": [0.0, 0.0], "label": ["a", "b"]})
    )
    assert [(bar.name, list(bar.x)) for bar in drawn.data] == [("useful", [80, 75]), ("load", [20, 25])]


def test_the_ledger_is_drawn_by_surplus():
    rows = pd.DataFrame({"planned": [2, 2, 3, 1], "seen": [2, 1, 2, 3], "samples": [10, 3, 4, 5]})
    (bars,) = plots.ledger(rows).data
    assert dict(zip(bars.x, bars.y, strict=True)) == {"-1": 7, "as planned": 10, "+2": 5}


@pytest.mark.parametrize(("replications", "names"), [(1, 2), (2, 4)])
def test_damage_over_time_has_a_band_where_there_are_several(replications, names):
    columns = {f"{kind}_{part}": [0.0, 1.0] for kind in plots.KINDS for part in ("mean", "p05", "p95")}
    drawn = plots.damage_over_time(pd.DataFrame({"time_h": [0.0, 48.0], **columns}), replications)
    assert len(drawn.data) == names
    assert list(drawn.data[-1].x) == [0, 2]


def test_intervals_are_drawn_in_minutes_with_the_best_and_the_formulas():
    ettr = {"ettr": [0.8, 0.9], "ettr_ci95_low": [0.7, 0.8], "ettr_ci95_high": [0.9, 1.0]}
    epoch = {"damage_epoch": [0.1, 0.2], "damage_epoch_ci95_low": [0.08, 0.2], "damage_epoch_ci95_high": [0.12, 0.2]}
    restore = {f"damage_restore{end}": [0, 0] for end in ("", "_ci95_low", "_ci95_high")}
    table = pd.DataFrame({"interval_s": [60.0, 600.0], **ettr, **epoch, **restore})
    drawn = plots.intervals(table, (300.0, 240.0, 360.0), {"Young": 180.0})
    assert [(line.name, list(line.x)) for line in drawn.data] == [
        (name, [1, 10]) for name in ("useful share", "epoch", "restore")
    ]
    assert list(drawn.data[1].y) == [10, 20]
    assert list(drawn.data[1].error_y.array) == pytest.approx([2, 0])
    lines = {shape.x0 for shape in drawn.layout.shapes if shape.type == "line"}
    assert lines == {5, 3}
    assert {(shape.x0, shape.x1) for shape in drawn.layout.shapes if shape.type == "rect"} == {(4, 6)}
    places = {note.text: 10**note.x for note in drawn.layout.annotations}
    assert places == pytest.approx({"best": 5, "Young": 3})
