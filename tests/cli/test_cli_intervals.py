"""`clustersim intervals`: one sentence, one row an interval, and one line for what is wrong."""

import json

import pandas as pd

from clustersim import load_study
from clustersim.cli.intervals import answer
from clustersim.study.intervals import Best, Intervals, intervals

ASKED = ("intervals", "small", "--workers", 1, "--replications", 3)
EVERY = ("--every", "5 min,20 min, 30 min,1 h", "--loaders", "restore,epoch")


def test_it_answers_in_a_sentence_and_a_row_an_interval(clustersim):
    code, printed, err = clustersim(*ASKED, *EVERY)
    lines = printed.splitlines()
    assert (code, err) == (0, "")
    assert lines[0] == "Sixteen nodes, ten days (seed 0, 4 intervals, 3 replications each)"
    assert lines[2].startswith("Best interval by simulation: ")
    assert all(f"{whose} 14." in lines[2] for whose in ("Young's", "Daly's"))
    assert [line[:6].strip() for line in lines[5:9]] == ["5 min", "20 min", "30 min", "1 h"]


def test_the_sentence_says_by_how_much_the_formulas_differ_and_how_sure_that_is():
    table = pd.DataFrame({"interval_s": [60.0, 6000.0]})
    found = Intervals(table, Best(600, 540, 660), 750, 640, 7200, 7200, 640, None)
    assert answer(found) == (
        "Best interval by simulation: 10 min (95 %: 9 min to 11 min); it is 20.0 % shorter than Young's 12.5 min "
        "(95 %: 12.0 % to 28.0 %); Daly's 10.7 min agrees (15.6 % shorter to 3.1 % longer)."
    )
    apart = found._replace(daly_s=480, mtbf_s=7200, met_mtbf_s=10_800, daly_met_s=588, young_s=None)
    assert answer(apart).partition("; ")[2] == (
        "it is 25.0 % longer than Daly's 8 min (95 %: 12.5 % to 37.5 %). The runs were interrupted every 3 h, where "
        "the formulas take 2 h; by that Daly's 9.8 min agrees (8.2 % shorter to 12.2 % longer)."
    )
    assert ", the shortest that was tried; " in answer(found._replace(best=Best(60, 60, 70)))


def test_json_and_the_stored_study_are_the_table(clustersim, tmp_path):
    out = tmp_path / "study"
    code, printed, _ = clustersim(*ASKED, *EVERY, "--out", out, "--json")
    expected = intervals("small", ["5 min", "20 min", "30 min", "1 h"], ["restore", "epoch"], 3, workers=1)
    told = json.loads(printed)
    assert code == 0
    assert told["intervals"] == expected.table.to_dict("records")
    assert told["best_s"] == expected.best.best_s
    pd.testing.assert_frame_equal(pd.read_parquet(out / "intervals.parquet"), expected.table)
    pd.testing.assert_frame_equal(load_study(out).table, expected.study.table)
    assert json.loads((out / "intervals.json").read_text()) == expected.marks
    assert (out / "intervals.png").exists()
    assert clustersim(*ASKED, *EVERY, "--out", out, "--json")[0] == 2
    assert clustersim(*ASKED, *EVERY, "--out", out, "--json", "--resume")[:2] == (0, printed)


def test_what_is_wrong_is_one_line(clustersim, starving):
    code, printed, err = clustersim(*ASKED, "--every", "5 min,1 h")
    assert (code, printed) == (2, "")
    assert err == (
        "clustersim: --every: expected at least 4 intervals of different lengths, no shorter than a write (60 s), "
        "found 5 min, 1 h\n"
    )
    assert clustersim(*ASKED, "--every", "5 parsecs,1 h,2 h")[0] == 2
    assert clustersim("intervals", "workshop")[0] == 2
