"""`clustersim check` and `clustersim schema`."""

import json
from pathlib import Path

import pytest

from clustersim import load_scenario
from clustersim.forecast import forecast
from clustersim.scenario import json_schema


def test_a_sound_scenario_is_told(clustersim):
    code, out, err = clustersim("check", "llama3-405b")
    assert (code, err) == (0, "")
    assert out.startswith("Llama 3 405B, 54 days on 16,384 H100s: the scenario is sound.\n")
    assert "8.63 a day from 19 causes, one every 2.78 h" in out
    assert "Warning" not in out


def test_tiers_and_survivors_are_told(clustersim):
    cases = Path(__file__).parents[2] / "scenarios" / "cases"
    _, out, _ = clustersim("check", cases / "27-bad-local-checkpoint.toml")
    told = "every 10 steps to peer memory, which survives failures that take no node, the newest alone is kept"
    assert f"{told}, 100 % show 3 steps later that they are bad; a bad one is tried 1,000 times" in " ".join(
        out.split()
    )
    _, out, _ = clustersim("check", cases / "25-survivors-go-on-in-place.toml")
    assert "the survivors go on in place" in out


def test_what_becomes_of_checkpoints_and_rewinds_are_told(clustersim):
    keys = (
        "checkpoint.keep=3",
        "checkpoint.corrupt_at_load=0.05",
        "rewinds=[{at_step=90,back=1},{at_step=95,back=20}]",
    )
    _, out, _ = clustersim("check", "small", *(word for key in keys for word in ("--set", key)))
    told = " ".join(out.split())
    assert "durable 60 s later, the newest 3 are kept, 5.0 % cannot be read; a bad one is tried 1 time, then" in told
    assert "rewinds 1 step back after step 90; 20 steps back after step 95 reading" in told
    _, out, _ = clustersim("check", "small")
    assert not {"kept", "tried", "rewinds"} & set(out.split())


@pytest.mark.parametrize(
    ("retirement", "given_up"),
    [
        ('{failures=3,within="7 d"}', "3 failures within 7 d"),
        ('{score=2.5,half_life="7 d"}', "at a score of 2.5, which halves in 7 d"),
    ],
)
def test_the_machine_and_what_breaks_it_are_told(clustersim, retirement, given_up):
    keys = {
        "cluster.cold": '{nodes=1,start_up="5 min"}',
        "cluster.borrowed": '{nodes=6,after="2 h"}',
        "cluster.lemons": "{share=0.1,times=5}",
        "cluster.retirement": retirement,
        "failures": '[{cause="wear",count=8,over="27 d",on_nodes=64,uncertain=true}]',
    }
    _, out, _ = clustersim("check", "small", *(word for key in keys for word in ("--set", f"{key}={keys[key]}")))
    told = " ".join(out.split())
    assert (
        "2 spares, 1 cold spare, 6 nodes to borrow, 4 repair slots; 16 replicas; 10.0 % of the nodes are lemons" in told
    )
    assert (
        f"which fail 5 times as often; a node is given up {'' if 'score' in retirement else 'after '}{given_up}" in told
    )
    assert "at full layout; wear: a rate of which 8 failures tell" in told


def test_a_trace_is_told(clustersim):
    case = Path(__file__).parents[2] / "scenarios" / "cases" / "26-one-spare-two-losses.toml"
    assert "failures    loss: 2 faults of a trace\n" in clustersim("check", case)[1]
    _, out, _ = clustersim("check", case, "--set", "failures.0.at_end=repeat")
    assert "failures    loss: 2 faults of a trace, again every 30 d\n" in out


def test_json_is_the_forecast(clustersim):
    _, out, _ = clustersim("check", "small", "--json")
    told, expected = json.loads(out), forecast(load_scenario("small"))
    assert told["ettr_first_order"] == expected.ettr_first_order
    assert told["causes"][1]["cause"] == "host"
    assert told["warnings"] == []


def test_warnings_come_first(clustersim):
    _, out, _ = clustersim("check", "small", "--set", "cluster.repair_slots=1", "--set", "failures.1.repair=20 d")
    assert out.splitlines()[2].startswith("Warning: repairs pile up: ")


def test_resolved_reads_back_as_the_same_scenario(clustersim):
    _, out, _ = clustersim("check", "small", "--set", "loader.preset=epoch", "--resolved")
    assert load_scenario(json.loads(out)) == load_scenario("small", {"loader.preset": "epoch"})


def test_a_wrong_scenario_is_one_line(clustersim):
    code, out, err = clustersim("check", "small", "--set", "checkpoint.every=20")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_schema_is_the_shipped_one(clustersim):
    code, out, _ = clustersim("schema")
    assert code == 0
    assert json.loads(out) == json_schema()
