"""`clustersim loaders`: one row a preset, and one line for what is wrong."""

import json

import pandas as pd

from clustersim import load_study
from clustersim.cli.words import count
from clustersim.study.league import league

ASKED = ("loaders", "workshop", "--workers", 1, "--replications", 2)
SKIPPING = ("--set", "data.skip=[[480, 488]]")  # beyond the run's end; parts have no position to skip


def test_it_prints_a_row_a_preset_and_why_some_are_not_run(clustersim):
    code, printed, err = clustersim(*ASKED, *SKIPPING, "--presets", "epoch, restore,datasets-3.6")
    lines = printed.splitlines()
    assert (code, err) == (0, "")
    assert lines[0] == "The workshop: 240 documents, 60 steps, one failure (seed 0, 2 presets, 2 replications each)"
    assert lines[2] == "1 of 2 presets did no damage; the most by epoch: 80 extra and 80 missing views."
    assert [line.split() for line in lines[5:7]] == [
        ["restore", "shuffle", "0", "0", "0", "100", "%", "0", "0", "exact", "exact"],
        ["epoch", "shuffle", "80", "80", "0", "66.7", "%", "80", "80", "repeats", "repeats"],
    ]
    assert lines[-2] == "1 preset not run:"
    assert lines[-1].startswith('datasets-3.6: workshop.toml: loader: expected last_batch = "span"')


def test_the_answer_has_the_interval_of_the_most_damage(clustersim):
    code, printed, _ = clustersim("loaders", "small", *ASKED[2:], "--presets", "restore,epoch", "--json")
    assert code == 0
    row = json.loads(printed)["presets"][-1]
    half = (row["extra_views_ci95_high"] - row["extra_views_ci95_low"]) / 2
    assert half > 0
    _, printed, _ = clustersim("loaders", "small", *ASKED[2:], "--presets", "restore,epoch")
    views = f"{count(row['extra_views'])} ± {count(half)}"
    assert printed.splitlines()[2].endswith(f"the most by epoch: {views} extra and {views} missing views.")


def test_shards_that_a_preset_was_given_are_told(clustersim):
    code, printed, _ = clustersim(*ASKED, "--presets", "restore,datasets-3.6")
    assert code == 0
    restore, datasets = printed.splitlines()[5:7]
    assert restore.startswith("restore       shuffle                      0 ")
    assert datasets.startswith("datasets-3.6  shard-shuffle, 4 shards      0 ")


def test_where_a_store_is_named_coming_back_takes_time(clustersim):
    crash = ("--set", "run.epochs=", "--set", "run.steps=500", "--set", 'failures=[{cause="crash",at_steps=[400]}]')
    options = ("--workers", 1, "--replications", 1, "--presets", "restore,torch-distributed-skip")
    code, printed, _ = clustersim("loaders", "images", *crash, *options)
    lines = printed.splitlines()
    assert code == 0
    assert lines[4].endswith("missing a failure   resume  4 to 3 ranks  2 to 4 ranks")
    assert lines[-1] == "Resume: how long the loader takes to come back, mean of a restart."
    assert "resume" not in clustersim(*ASKED, "--presets", "epoch")[1]


def test_json_is_the_table(clustersim):
    code, printed, _ = clustersim(*ASKED, *SKIPPING, "--presets", "epoch,datasets-3.6", "--json")
    epoch, refused = json.loads(printed)["presets"]
    assert code == 0
    assert (epoch["preset"], epoch["extra_views"], epoch["degree_2_to_4"]) == ("epoch", 80, "repeats")
    assert (refused["preset"], refused["extra_views"]) == ("datasets-3.6", None)


def test_it_stores_the_study_and_the_league(clustersim, tmp_path):
    out = tmp_path / "league"
    assert clustersim(*ASKED, "--presets", "epoch,restore", "--out", out)[0] == 0
    expected = league("workshop", ["epoch", "restore"], 2, workers=1)
    pd.testing.assert_frame_equal(pd.read_parquet(out / "league.parquet"), expected.table)
    pd.testing.assert_frame_equal(load_study(out).table, expected.study.table)
    assert clustersim(*ASKED, "--presets", "epoch,restore", "--out", out)[0] == 2
    assert clustersim(*ASKED, "--presets", "epoch,restore", "--out", out, "--resume")[0] == 0
    assert (out / "loaders.png").exists()
    code, _, err = clustersim(*ASKED, "--presets", "epoch", "--out", out)
    assert code == 2
    assert "--out" in err


def test_a_wrong_preset_is_one_line(clustersim):
    code, printed, err = clustersim(*ASKED, "--presets", "epoc")
    assert (code, printed) == (2, "")
    assert err == (
        'workshop.toml: loader.preset: expected a preset that `clustersim presets` lists, found "epoc"; '
        'did you mean "epoch"?\n'
    )


def test_runs_that_do_not_finish_are_told(clustersim, starving):
    code, printed, err = clustersim("loaders", starving, "--workers", 1, "--replications", 2, "--presets", "restore")
    assert code == 1
    assert printed
    assert err == "1 preset did not always finish; the first, restore: 2 of 2 runs\n"
