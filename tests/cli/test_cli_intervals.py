"""`clustersim intervals`: one sentence, one row an interval, and one line for what is wrong."""

import json

import pandas as pd

from clustersim import load_study
from clustersim.study.intervals import intervals

ASKED = ("intervals", "small", "--workers", 1, "--replications", 3)
EVERY = ("--every", "5 min,20 min, 30 min,1 h", "--loaders", "restore,epoch")


def test_it_answers_in_a_sentence_and_a_row_an_interval(clustersim):
    code, printed, err = clustersim(*ASKED, *EVERY)
    lines = printed.splitlines()
    assert (code, err) == (0, "")
    assert lines[0] == "Sixteen nodes, ten days (seed 0, 4 intervals, 3 replications each)"
    assert lines[2].startswith("Best interval by simulation: ")
    assert "; Young's " in lines[2]
    assert "; Daly's " in lines[2]
    assert [line[:6].strip() for line in lines[5:9]] == ["5 min", "20 min", "30 min", "1 h"]


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


def test_what_is_wrong_is_one_line(clustersim, starving):
    code, printed, err = clustersim(*ASKED, "--every", "5 min,1 h")
    assert (code, printed) == (2, "")
    assert err == (
        "clustersim: --every: expected at least 4 intervals of different lengths, no shorter than a write (60 s), "
        "found 5 min, 1 h\n"
    )
    assert clustersim(*ASKED, "--every", "5 parsecs,1 h,2 h")[0] == 2
    assert clustersim("intervals", "workshop")[0] == 2
