"""`clustersim workshop`: three loaders side by side, and their picture."""

import json

import pytest

from clustersim.cli import picture, workshop


def test_the_three_loaders_side_by_side(clustersim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = clustersim("workshop")
    assert (code, err) == (0, "wrote workshop.png\n")
    rows = {line[:28].strip(): line[28:].split() for line in out.splitlines()[2:]}
    assert rows[""] == ["restore", "epoch", "reshuffle"]
    assert rows["extra views"][:2] == rows["missing views"][:2] == ["0", "80"]
    assert [rows[f"documents seen {often}"][1] for often in ("1 time", "2 times", "3 times")] == ["80"] * 3
    assert [rows[f"documents seen {often} times"] for often in (0, 4)] == [["0", "0", "0"], ["0", "0", "0"]]
    assert (tmp_path / "workshop.png").read_bytes().startswith(b"\x89PNG")


def test_json_is_one_object_and_leaves_no_file(clustersim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = clustersim("workshop", "--fail-step", 31, "--seed", 4, "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["seed"], told["fail_step"]) == (4, 31)
    assert told["loaders"]["epoch"]["documents_by_views"] == [0, 0, 240, 0, 0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fail_step", range(60))
def test_no_document_is_seen_more_often_than_the_table_has_rows_for(fail_step):
    from clustersim.study.workshop import play

    assert max(int(each.seen.max()) for each in play(fail_step)) <= workshop._MOST_VIEWS


def test_the_picture_where_it_is_asked_for(clustersim, tmp_path):
    code, _, _ = clustersim("workshop", "--json", "--out", tmp_path / "two.svg")
    assert code == 0
    assert "<svg" in (tmp_path / "two.svg").read_text()


@pytest.mark.parametrize("name", ["two.xyz", "no/such/directory.png"])
def test_a_picture_that_cannot_be_drawn_is_refused(name, clustersim, tmp_path):
    code, out, err = clustersim("workshop", "--out", tmp_path / name)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_without_matplotlib_a_note_says_what_to_install(clustersim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(picture, "find_spec", lambda name: None)
    code, out, err = clustersim("workshop")
    assert code == 0
    assert out
    assert err == "no picture: it takes matplotlib (pip install 'clustersim[figures]')\n"
    code, out, err = clustersim("workshop", "--out", "two.png")
    assert (code, out) == (2, "")
    assert "clustersim[figures]" in err


def test_a_step_outside_the_run_is_refused(clustersim):
    code, _, err = clustersim("workshop", "--fail-step", 60)
    assert code == 2
    assert err.count("\n") == 1
