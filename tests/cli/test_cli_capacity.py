"""`clustersim capacity`: one sentence, one row a plan, and one line for what is wrong."""

import json

import pytest

import clustersim.study.work as work_module
from clustersim.simulation import simulate

ASKED = (
    "capacity",
    "small",
    "--set",
    "run.wall_time=",
    "--set",
    "run.steps=30000",
    "--workers",
    1,
    "--replications",
    6,
)


def test_it_answers_in_a_sentence_and_a_row_a_plan(clustersim):
    code, printed, err = clustersim(
        *ASKED, "--by", "9 d", "--spares", "0,4", "--repair-slots", "1, 4", "--confidence", ".5"
    )
    lines = printed.splitlines()
    assert (code, err) == (0, "")
    assert lines[0] == "Sixteen nodes, ten days (seed 0, 4 plans, 6 replications each)"
    assert lines[2].startswith("Cheapest plan that finishes by 9 d with 50.0 % confidence: ")
    assert lines[4].split()[:4] == ["spares", "slots", "by", "9"]
    assert [line.split()[:2] for line in lines[5:9]] == [["0", "1"], ["0", "4"], ["4", "1"], ["4", "4"]]
    assert sum(line.endswith("recommended") for line in lines) == 1


def test_a_study_that_was_stopped_goes_on_and_is_asked_of_another_date(clustersim, tmp_path, monkeypatch):
    plans = (*ASKED, "--spares", "0,4", "--json", "--out", tmp_path / "plans", "--by")
    left = iter([None, None, None, KeyboardInterrupt()])

    def stops(*arguments):
        if error := next(left, None):
            raise error
        return simulate(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(work_module, "simulate", stops)
        stopped = clustersim(*plans, "9 d")
    assert stopped == (1, "", "stopped by Ctrl-C; 3 of 12 runs are kept, --resume goes on with them\n")
    assert clustersim(*plans, "9 d")[0] == 2
    gone_on = json.loads(clustersim(*plans, "9 d", "--resume")[1])
    whole = json.loads(clustersim(*plans[:-3], "--by", "9 d")[1])
    assert gone_on["plans"] == whole["plans"]
    later = json.loads(clustersim(*plans, "40 d", "--resume")[1])
    assert [plan["on_time"] for plan in later["plans"]] == [1, 1]


def test_no_plan_is_sure(clustersim):
    _, printed, _ = clustersim(*ASKED, "--by", "9 d", "--spares", "4")
    assert printed.splitlines()[2].startswith("No plan is sure to finish by 9 d with 90.0 % confidence; nearest: ")
    assert "recommended" not in printed
    assert (
        clustersim(*ASKED, "--by", "7 d", "--spares", "4")[1].splitlines()[2] == "No run of any plan finished by 7 d."
    )


def test_json_has_null_for_a_date_that_was_not_seen_and_the_picture_lies_in_the_directory(clustersim, tmp_path):
    limit = ("--set", "run.limit=8 d", "--by", "8 d", "--spares", "0", "--repair-slots", 1, "--json")
    code, printed, _ = clustersim(*ASKED, *limit, "--out", tmp_path / "plans")
    told = json.loads(printed)
    assert (code, told["recommended"], told["priced"]) == (0, None, False)
    assert told["plans"][0]["p95_h"] is None
    assert told["plans"][0]["short_closed_form"] is None
    assert (tmp_path / "plans" / "capacity.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--by", "9 d", "--spares", ""), '--spares: expected a whole number of at least 0, found ""'),
        (("--by", "9 d", "--resume"), "--resume: expected a directory that holds the study (out), found none"),
        (("--by", "9 d", "--spares", "1,two"), '--spares: expected a whole number of at least 0, found "two"'),
        (("--by", "9 d", "--repair-slots", "0"), '--repair-slots: expected a whole number of at least 1, found "0"'),
        (("--by", "nine", "--spares", "1"), '--by: expected a duration such as "10 min", found "nine"'),
        (
            ("--by", "9 d", "--spares", "1", "--confidence", "x"),
            '--confidence: expected a number between 0 and 1, found "x"',
        ),
        (
            ("--by", "9 d", "--spares", "1", "--confidence", "1"),
            "--confidence: expected a number between 0 and 1, found 1",
        ),
    ],
)
def test_what_is_wrong_is_one_line(clustersim, words, line):
    assert clustersim(*ASKED, *words) == (2, "", f"clustersim: {line}\n")
