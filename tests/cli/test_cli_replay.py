"""`clustersim replay`: one sentence, one row a loader, what was assumed, and one line for what is wrong."""

import json

import pandas as pd
import pytest


@pytest.fixture
def restarts(tmp_path):
    path = tmp_path / "restarts.csv"
    path.write_text("step_reached,step_restarted_from,data\n47,40,\n")
    return path


def test_the_workshops_crash_under_the_scenarios_own_loader(clustersim, restarts):
    code, printed, err = clustersim("replay", restarts, "workshop", "--set", "loader.preset=epoch")
    lines = printed.splitlines()
    assert (code, err) == (0, "")
    assert lines[0].startswith("1 restart of a real run, as ")
    assert lines[2] == "The final model had 80 extra and 80 missing views."
    assert lines[5].split()[:5] == ["epoch", "shuffle", "80", "80", "0"]
    assert "- All legs ran on " in printed


def test_what_a_policy_takes_out_is_missing_and_said(clustersim, restarts):
    poison = ("--set", "failures=", "--set", 'poison={samples=[77], act="quarantine"}')
    code, printed, _ = clustersim("replay", restarts, "workshop", *poison)
    assert code == 0
    assert "The final model had 0 extra and 2 missing views." in printed
    assert "- What the policy for the scenario's poison takes out of the steps was not trained on." in printed
    assert "poison" not in clustersim("replay", restarts, "workshop")[1]


def test_every_preset_as_json_and_stored(clustersim, restarts, tmp_path):
    out = tmp_path / "replayed"
    skipping = ("--set", "data.skip=[[480, 488]]")  # which parts of an epoch cannot
    code, printed, _ = clustersim(
        "replay", restarts, "workshop", "--loader", "all", *skipping, "--replications", 2, "--json", "--out", out
    )
    told = json.loads(printed)
    rows = {row["preset"]: row for row in told["loaders"]}
    assert (code, told["restarts"]) == (0, 1)
    assert rows["restart-run"]["extra_views"] > rows["restore"]["extra_views"] == 0
    assert rows["datasets-3.6"]["extra_views"] is None
    assert pd.read_parquet(out / "replay.parquet")["preset"].tolist() == list(rows)
    assert clustersim("replay", restarts, "workshop", "--out", out)[0] == 2
    alone = tmp_path / "alone"
    assert clustersim("replay", restarts, "workshop", "--loader", "epoch", "--out", alone)[0] == 0
    assert pd.read_parquet(alone / "damage.parquet")["extra_views"].tolist() == [80]


def test_a_loader_that_does_not_come_back_is_exit_code_1(clustersim, restarts):
    restarts.write_text(restarts.read_text().replace("40,", "40,1"))
    code, printed, err = clustersim("replay", restarts, "workshop", "--loader", "energon, epoch", "--replications", 1)
    assert code == 1
    assert "The least damage by epoch" in printed
    assert err.startswith("1 loader did not come back; the first, energon: ")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ("--loader", "epock"),
            'workshop.toml: loader.preset: expected a preset that `clustersim presets` lists, found "epock"',
        ),
        (("--replications", "0"), 'clustersim: --replications: expected a whole number of at least 1, found "0"'),
    ],
)
def test_what_is_wrong_is_one_line(clustersim, restarts, words, line):
    code, printed, err = clustersim("replay", restarts, "workshop", *words)
    assert (code, printed) == (2, "")
    assert err.startswith(line)
    assert err.count("\n") == 1
