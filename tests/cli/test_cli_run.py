"""`clustersim run`: what is printed, in which bytes, and the exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import clustersim as cs
from clustersim.study.result import Result

KEYS = ["scenario", "seed", "replications", "summary", "time_h", "ledger", "provenance"]
SPREAD = ["mean", "ci95_low", "ci95_high", "p05", "p50", "p95"]


def run_python(*arguments, **environment):
    command = [sys.executable, "-m", "clustersim", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)


def test_json_of_one_replication_is_the_run(clustersim):
    code, out, err = clustersim("run", "small", "--set", "loader.preset=epoch", "--seed", "3", "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    run = cs.simulate(cs.load_scenario("small", {"loader.preset": "epoch"}), seed=3)
    assert list(result) == KEYS
    assert result["seed"] == 3
    assert result["summary"] == run.summary()
    assert result["time_h"] == run.time_h
    assert result["ledger"] == run.ledger.to_dict("records")
    assert result["provenance"]["digest"] == run.scenario.digest
    assert cs.load_scenario(result["provenance"]["scenario"]) == run.scenario


def test_json_of_several_replications_gives_each_figure_with_its_spread(clustersim):
    code, out, _ = clustersim("run", "small", "--set", "loader.preset=epoch", "--replications", "4", "--json")
    assert code == 0
    result = json.loads(out)
    runs = [cs.simulate(cs.load_scenario("small", {"loader.preset": "epoch"}), number) for number in range(4)]
    assert list(result) == KEYS
    assert list(result["summary"]["ettr"]) == SPREAD
    assert result["summary"]["ettr"]["mean"] == pytest.approx(sum(run.summary()["ettr"] for run in runs) / 4)
    assert list(result["time_h"]["useful"]) == SPREAD
    never = sum(int(run.ledger.query("planned == 2 and seen == 0")["samples"].sum()) for run in runs)
    rows = {(row["planned"], row["seen"]): row["samples"] for row in result["ledger"]}
    assert rows[2, 0] == never / 4
    assert sum(rows.values()) == pytest.approx(runs[0].scenario.sizes.samples)


def test_a_figure_that_the_scenario_does_not_give_is_null_in_both_forms(clustersim):
    for replications in (1, 2):
        _, out, _ = clustersim("run", "workshop", "--replications", replications, "--json")
        assert json.loads(out)["summary"]["feed_bytes_per_s"] is None


def test_the_same_bytes_whatever_the_hash_seed():
    command = ["run", "small", "--set", "loader.preset=reshuffle", "--replications", "2", "--json"]
    first, second = (run_python(*command, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert first.returncode == 0
    assert first.stdout == second.stdout


def test_people_get_the_answer_first(clustersim):
    code, out, err = clustersim("run", "workshop", "--set", "loader.preset=epoch")
    assert (code, err) == (0, "")
    answer = out.splitlines()[2]
    assert answer == (
        "The final model saw 80 views more than planned, 16.7 % of the plan, and missed as many; "
        "0 planned samples it never saw."
    )
    assert out.splitlines()[3].endswith(": 1 interruption, 7 steps rolled back.")
    assert "      2     3       80  33.3 %  1 more" in out


def test_a_sound_loader_is_told_in_words(clustersim):
    _, out, _ = clustersim("run", "workshop")
    assert "saw exactly what it would have seen without failures" in out


def test_several_replications_are_told_with_their_intervals(clustersim):
    _, out, _ = clustersim("run", "small", "--replications", "3")
    assert "In brackets: 95 % intervals of the means." in out
    assert "95 % interval of it" in out


def test_the_rarer_rows_of_a_long_ledger_are_counted(clustersim):
    _, out, _ = clustersim("run", "small", "--set", "loader.preset=epoch", "--json")
    ledger = json.loads(out)["ledger"]
    _, page, _ = clustersim("run", "small", "--set", "loader.preset=epoch")
    assert len(ledger) > 12
    assert f"{len(ledger) - 12} rarer rows with " in page


def test_what_a_scenario_says_is_no_markup(clustersim):
    _, out, _ = clustersim("run", "workshop", "--set", 'name="[bold]a [/] :smile:"')
    assert out.startswith("[bold]a [/] :smile: (seed 0, 1 replication)\n")


def test_a_starved_job_exits_1_and_says_when_and_why(clustersim, starving):
    code, out, err = clustersim("run", starving, "--json")
    assert code == 1
    assert err.count("\n") == 1
    assert err.startswith("starved after ")
    assert "0 of the 1 nodes" in err
    assert json.loads(out)["summary"]["wall_h"] > 0


def test_a_run_that_did_not_finish_says_so_first(clustersim, starving):
    _, out, err = clustersim("run", starving)
    answer, saw = out.splitlines()[2:4]
    assert answer == f"The run {err.strip()}."
    assert answer.startswith("The run starved after ")
    assert saw.startswith("Until then the final model saw ")


def test_of_several_it_says_how_many_did_not_finish_first(clustersim, starving):
    _, out, err = clustersim("run", starving, "--replications", "3")
    answer, saw = out.splitlines()[2:4]
    assert answer == f"{err.strip()}."
    assert answer.startswith("3 of 3 replications did not finish; ")
    assert saw.startswith("As far as each came, the final model saw ")


def test_a_run_without_progress_exits_1_at_its_limit(clustersim, stuck):
    code, _, err = clustersim("run", stuck)
    assert code == 1
    assert err == "was given up after 2 h: it was not done by then\n"


def test_several_replications_say_how_many_did_not_finish(clustersim, starving):
    code, _, err = clustersim("run", starving, "--replications", "3", "--json")
    assert code == 1
    assert err.startswith("3 of 3 replications did not finish; replication 0 starved after ")


def test_a_reader_that_goes_away_is_no_error():
    command = f"{sys.executable} -m clustersim run llama3-405b --set loader.preset=epoch --json"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -1"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "{\n", "")


def test_what_packers_lost_comes_first(clustersim, tmp_path):
    case = Path(__file__).parents[2] / "scenarios" / "cases" / "12-document-in-flight-by-tokens.toml"
    code, printed, _ = clustersim("run", case, "--out", tmp_path / "out")
    assert code == 0
    assert printed.splitlines()[2].startswith("Packers lost 3.23 M tokens of documents at restarts")
    assert "0 documents seen in part, 4,608 never." in " ".join(printed.split())
    carries = pd.read_parquet(tmp_path / "out" / "carries")
    assert carries["lost_tokens"].tolist() == [512 * 700] * 9


def test_what_is_not_known_of_rates_is_told_apart(clustersim, tmp_path):
    wear = '[{cause="wear",count=8,over="27 d",on_nodes=64,uncertain=true}]'
    words = ("run", "small", "--set", f"failures={wear}", "--set", "run.wall_time=10 d", "--replications", "12")
    code, out, _ = clustersim(*words, "--out", tmp_path / "stored")
    assert code == 0
    head, *rows = out[out.index("Half of the 95 % interval") :].splitlines()
    assert head.split("  ")[-2:] == ["by simulation", "by uncertain rates"]
    assert any(row.startswith("interruptions ") for row in rows)
    stored = Result.load(tmp_path / "stored")
    _, told, _ = clustersim(*words, "--json")
    assert json.loads(told)["ci95_half"]["interruptions"] == stored.splits["interruptions"]._asdict()
    assert "Half of the" not in clustersim("run", "small", "--set", "run.wall_time=1 d", "--replications", "12")[1]
