"""`clustersim poison`: a row a way to come back."""

import json

from clustersim.study.poison import hunts

ASKED = ("poison", "workshop", "--replications", 20)


def test_a_row_a_way(clustersim):
    code, printed, err = clustersim(*ASKED)
    lines = printed.splitlines()
    assert (code, err) == (0, "")
    assert lines[0].endswith(": one epoch, 20 orders for each way to come back")
    assert [line.split("  ")[0] for line in lines[3:6]] == [
        "to its place", "in a new order of the epoch", "in a new order of the rest",
    ]  # fmt: skip


def test_json_is_the_table(clustersim):
    code, printed, _ = clustersim(*ASKED, "--json")
    assert code == 0
    found = hunts("workshop", 20).to_dict("records")
    assert json.loads(printed)["ways"][0] == found[0]
    assert json.loads(printed)["ways"][2]["crashes_expected"] is None


def test_samples_without_a_step_are_refused(clustersim):
    arguments = ("--set", "data.order=with-replacement", "--set", "loader.preset=webdataset-resampled")
    code, printed, err = clustersim("poison", "workshop", "--set", "data.shards=24", *arguments)
    assert (code, printed, err.count("\n")) == (2, "", 1)
    assert "with-replacement" in err


def test_a_run_says_how_often_it_crashed_and_whether_anything_was_done(clustersim):
    changes = ("--set", "failures=", "--set", "poison={samples=[77], retries=2}")
    sentences = {
        "restore": "Poison crashed it 6 times, at 2 steps, and 2 times often enough at one of them",
        "reshuffle": "Poison crashed it 8 times, at 8 steps, and 0 times often enough at one of them",
    }
    where = {"restore": "each time", "reshuffle": "at another step after each restart"}
    for preset, sentence in sentences.items():
        code, printed, _ = clustersim("run", "workshop", *changes, "--set", f"loader.preset={preset}")
        assert code == 0
        assert sentence in " ".join(printed.split())
        assert f"one of them crashes a step {where[preset]}; after 2 retries" in " ".join(printed.split())
