"""Restarts from a file: what they are read as, what they assume, and what is refused with its row."""

import pandas as pd
import pytest

from clustersim import ScenarioError, load_scenario, replay, simulate
from clustersim.figures import data_figures
from clustersim.study.replay import run_of
from clustersim.study.restarts import read_restarts

JOB = {
    "run": {"steps": 100},
    "model": {"global_batch": 12, "step_time": "10 s"},
    "cluster": {"nodes": 4, "gpus_per_node": 1},
    "failures": [{"cause": "crash", "at_steps": [25, 47, 90], "data": [3, 2, 4]}],
    "checkpoint": {"every": "10 steps", "write": "95 s"},
    "data": {"samples": 500, "shards": 10},
}
LOADERS = ("epoch", "reshuffle", "no-rewind", "torchdata-map", "torch-dataloader-sampler-state", "megatron")


@pytest.fixture
def file(tmp_path):
    def write(text, encoding="utf-8"):
        path = tmp_path / "restarts.csv"
        path.write_bytes(text.encode(encoding))
        return path

    return write


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("end", [{"steps": 100}, {"epochs": 3}, {"wall_time": "20 min"}], ids=str)
def test_the_restarts_of_a_simulated_run_give_its_ledger(file, loader, end):
    run = simulate(load_scenario({**JOB, "run": end, "loader": {"preset": loader}}))
    rows = run.damage.rename(columns={"data_after": "data"})
    rows = rows[["step_reached", "step_restarted_from", "data", "interrupted_h", "restarted_h"]]
    text = rows.to_csv(index=False) + (f"{run.steps},,,," if "wall_time" in end else "")
    again = run_of(read_restarts(file(text)), run.scenario)
    pd.testing.assert_frame_equal(again.ledger, run.ledger)
    assert data_figures(again) == data_figures(run)
    told = [name for name in run.damage if name != "cause"]
    pd.testing.assert_frame_equal(again.damage[told], run.damage[told])


def test_a_loader_of_one_preset_and_of_all(file):
    restarts = file("step_reached,step_restarted_from\n47,40\n\n")
    own = replay(restarts, "workshop", replications=3)
    assert own.table["preset"].tolist() == [""]
    assert own.table.loc[0, "extra_views"] == 0
    assert own.damage[["restart", "step_reached", "step_restarted_from", "extra_views"]].to_numpy().tolist() == [
        [1, 47, 40, 0]
    ]
    every = replay(restarts, "workshop", None, replications=2).table.set_index("preset")
    assert every.loc["epoch", ["extra_views", "missing_views"]].tolist() == [80, 80]
    assert every.loc["restore", "refused"] == ""
    assert (every["refused"] == "").all()
    assert (every.loc["epoch", "shards_given"], every.loc["datasets-3.6", "shards_given"]) == (0, 4)
    skipping = load_scenario("workshop", {"data.skip": [[480, 488]]})
    every = replay(restarts, skipping, ["epoch", "datasets-3.6"], replications=2).table.set_index("preset")
    assert every.loc["epoch", "extra_views"] == 80
    assert every.loc["datasets-3.6", "refused"].startswith('workshop.toml: loader: expected last_batch = "span"')


def test_a_loader_that_refuses_says_why_and_keeps_what_it_read(file):
    found = replay(file("step_reached,step_restarted_from,data\n25,20,3\n50,40,4\n"), JOB, ["energon"], 2)
    assert found.table.loc[0, "unfinished"] == 2
    assert found.table.loc[0, "stopped"].startswith("the loader was saved by 4 ranks and refuses to come back on 3")
    assert len(found.damage) == 0


def test_what_is_assumed_is_said(file):
    def said(text, **run):
        return replay(file(text), {**JOB, **({"run": run} if run else {})}, replications=1).assumed

    short = said("step_reached,step_restarted_from\n25,20\n")
    assert short[0] == "Steps count from 0: at row 1 the first 25 were done, and the batch of step 25 had been read."
    assert "All legs ran on 4 replicas." in short
    assert "After the last restart the run went on to its end, step 100." in short
    told = said("step_reached,step_restarted_from,data\n25,20,3\n60,,\n", wall_time="1 d")
    assert "The first leg ran on 4 replicas, and where a row has none the number stayed." in told
    assert "The run ended at step 60." in told
    assert "After the last restart the run went on to the end of epoch 2." in said(
        "step_reached,step_restarted_from\n25,20\n", epochs=2
    )
    corpora = [{"name": name, "samples": 300, "weight": weight} for name, weight in (("web", 3), ("code", 1))]
    mixed = load_scenario({**JOB, "run": {"epochs": 1}, "data": {"corpora": corpora}})
    named = load_scenario(mixed, {"run.epochs_of": "code"})
    ends = [replay(file(HEAD + "9,5\n"), each, replications=1).assumed[-2] for each in (mixed, named)]
    assert [end.partition("end of ")[2] for end in ends] == [
        "epoch 1 of the corpus that came to it first.",
        "epoch 1 of code.",
    ]


def test_a_run_of_epochs_that_is_left_is_held_to_what_it_did(file):
    run = run_of(
        read_restarts(file("step_reached,step_restarted_from\n25,20\n60,\n")),
        load_scenario(JOB, {"run.steps": None, "run.epochs": 3}),
    )
    assert (run.steps, run.planned_steps, run.history.outcome) == (60, 60, "limit")


HEAD = "step_reached,step_restarted_from\n"
WITH_DATA, WITH_TIMES = HEAD.replace("\n", ",data\n"), HEAD.replace("\n", ",interrupted_h,restarted_h\n")
STEPS = "expected a whole number from 0 to 1000000000000"
FROM, REACHED = "step_restarted_from", "step_reached"
WRONG = [
    (HEAD + "25,20\n30,31\n", f"row 2, {FROM}: expected a step of at most 30, which the run had reached, found 31"),
    (HEAD + "25,20\n19,10\n", f"row 2, {REACHED}: expected a step of at least 20, from which the leg began, found 19"),
    (HEAD + "25,\n30,20\n", f"row 1, {FROM}: expected a step; it may be empty in the last row, found nothing"),
    (HEAD + "25,20\n101,100\n", f"row 2, {REACHED}: expected at most 100, the steps of the run, found 101"),
    (HEAD + "25,20\n30\n", "row 2: expected 2 values, as the heading has, found 1"),
    (HEAD + "25,20,3\n", "row 1: expected 2 values, as the heading has, found 3"),
    (HEAD + "25,2O\n", f'row 1, {FROM}: {STEPS}, found "2O"'),
    (HEAD + "-1,0\n", f'row 1, {REACHED}: {STEPS}, found "-1"'),
    (HEAD + ",0\n", f"row 1, {REACHED}: {STEPS}, found nothing"),
    (HEAD + "9" * 30 + ",0\n", f'row 1, {REACHED}: {STEPS}, found "999'),
    (HEAD + '"25,20\n', "expected a CSV file of restarts, found an error (unexpected end of data)"),
    (HEAD, "expected a row for each restart, found none"),
    ("", f"expected a column {REACHED}, found nothing"),
    ("step_reached\n25\n", f"expected a column {FROM}, found {REACHED}"),
    (
        "step_reached,step_restartet_from\n25,20\n",
        f'column 2: expected a known column, found "step_restartet_from"; did you mean "{FROM}"?',
    ),
    (WITH_DATA.replace("\n", ",data\n") + "1,1,1,1\n", 'column 4: expected each column once, found "data" again'),
    (WITH_DATA + "25,20,5\n", "row 1, data: expected replicas that parallelism allows (from 1 to 4), found 5"),
    (WITH_DATA + "25,20,0\n", 'row 1, data: expected a whole number from 1 to 1000000000000, found "0"'),
    (WITH_TIMES + "25,20,soon,\n", 'row 1, interrupted_h: expected hours since the start, found "soon"'),
    (WITH_TIMES + "25,20,nan,\n", 'row 1, interrupted_h: expected hours since the start, found "nan"'),
    (
        WITH_TIMES + "25,20,3,3.5\n30,20,3.2,4\n",
        "row 2, interrupted_h: expected a time after 3.5 h (row 1), found 3.2",
    ),
]


@pytest.mark.parametrize(("text", "line"), WRONG, ids=[line[:50] for _, line in WRONG])
def test_what_cannot_have_happened_is_refused_with_its_row(file, text, line):
    path = file(text)
    with pytest.raises(ScenarioError) as refused:
        replay(path, JOB, replications=1)
    assert str(refused.value).startswith(f"{path}: {line}")
    assert "\n" not in str(refused.value)


def test_replicas_that_the_batch_does_not_allow(file):
    path = file(HEAD.replace("\n", ",data\n") + "25,20,3\n")
    uneven = {
        **JOB,
        "model": {"global_batch": 16, "step_time": "1 s"},
        "parallelism": {"uneven": "refuse"},
        "failures": [],
    }
    with pytest.raises(ScenarioError, match=r"row 1, data: expected .* \(from 1 to 4, divisors of 16\), found 3"):
        replay(path, uneven)


def test_a_file_that_is_no_text_or_is_not_there(file, tmp_path):
    with pytest.raises(ScenarioError, match=r"expected text in UTF-8, found another byte at 0$"):
        replay(file("ÿþ\x00", "latin-1"), JOB)
    with pytest.raises(
        ScenarioError, match=r"none.csv: expected a CSV file of restarts, found an error \(No such file"
    ):
        replay(tmp_path / "none.csv", JOB)


def test_by_wall_time_the_file_has_to_say_the_end(file):
    with pytest.raises(
        ScenarioError, match=r"row 1: expected a last row with the step that the run came to, .*, found a restart"
    ):
        replay(file(HEAD + "25,20\n"), {**JOB, "run": {"wall_time": "1 d"}})


def test_other_orders_are_other_replications_and_the_seed_is_theirs(file):
    restarts = file(HEAD + "25,20\n47,40\n")
    a, b, c = (replay(restarts, JOB, ["reshuffle"], 4, seed=seed).table for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(a, b)
    assert a.loc[0, "extra_views"] != c.loc[0, "extra_views"]
    assert a.loc[0, "extra_views_ci95_low"] < a.loc[0, "extra_views"]
