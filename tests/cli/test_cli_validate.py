"""`clustersim validate`: a row a published figure, and exit code 1 where one is off."""

import json

import pytest

from clustersim.cli.validate import HEADS
from clustersim.study import validate as module
from clustersim.study.validate_rows import ROWS

ASKED = ("validate", "--quick", "--workers", 1)


def test_a_row_has_what_was_published_and_what_decided(clustersim):
    code, printed, err = clustersim(*ASKED, "--only", "V11,V7")
    lines = printed.splitlines()
    assert (code, err) == (0, "")
    assert lines[0] == "4 published figures: 1 pass, 3 not run"
    assert lines[2].split() == " ".join(HEADS).split()
    assert lines[3].startswith("V7")
    assert lines[3].endswith("not run")
    assert lines[6].split()[:4] == ["V11", "ETTR", ">", "0.9"]
    assert lines[6].endswith("≥ 1.83  pass")
    assert lines[8] == "V7, not run: needs the trace infinitehbd-faults.json, which does not come with clustersim"


def test_json_has_null_where_nothing_was_run(clustersim):
    code, printed, _ = clustersim(*ASKED, "--only", "V7,V11", "--json")
    rows = json.loads(printed)["rows"]
    assert code == 0
    assert [row["verdict"] for row in rows] == ["not run"] * 3 + ["pass"]
    assert (rows[0]["ours"], rows[0]["published"]) == (None, "2.32")
    assert rows[3]["statistic"] > rows[3]["bound"]


def test_a_figure_that_is_off_is_named(clustersim, monkeypatch):
    (check,) = (row for row in ROWS if row.name == "V11")
    wrong = check._replace(points=(check.points[0]._replace(values={"checkpoint.every": "30 min"}),))
    monkeypatch.setattr(module, "ROWS", (wrong,))
    code, printed, err = clustersim(*ASKED)
    assert (code, err) == (1, "1 figure off: V11 ETTR\n")
    assert printed.startswith("1 published figure: 1 fail\n")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--only", "V3,V20"), 'clustersim: --only: expected rows of V1, V2, V3, V4, V5, V6, V7, V11, found "V20"'),
        (("--only", "V7", "--traces", "nowhere"), "failures.0.trace: expected a readable file"),
        (("--out", __file__), "clustersim: --out: expected a directory that can be made"),
        (("--traces", ""), "clustersim: --traces: expected a directory's name"),
    ],
)
def test_what_is_wrong_is_one_line(clustersim, arguments, line):
    code, printed, err = clustersim(*ASKED, *arguments)
    assert (code, printed) == (2, "")
    assert line in err
    assert err.count("\n") == 1
