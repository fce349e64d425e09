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
        ('{failures=3,within="7 d"}', "after 3 failures within 7 d, for good"),
        (
            '{score=2.5,half_life="7 d",replaced="5 d"}',
            "at a score of 2.5, which halves in 7 d, and replaced after 5 d",
        ),
    ],
)
def test_the_machine_is_told(clustersim, retirement, given_up):
    keys = {
        "cluster.cold": '{nodes=1,start_up={type="exponential",mean="5 min"}}',
        "cluster.borrowed": '{nodes=6,after="2 h"}',
        "cluster.lemons": "{share=0.1,times=5,cured_by_repair=true}",
        "cluster.nodes_per_domain": "4",
        "cluster.retirement": retirement,
    }
    assert (
        "2 spares, 1 cold spare up after 5 min on average, 6 nodes to borrow after 2 h, 4 repair slots, domains of 4 "
        "nodes; 16 replicas; 10.0 % of the nodes are lemons, which fail 5 times as often, until they are repaired; a "
        f"node is given up {given_up} step"
    ) in told(clustersim, **keys)


def told(clustersim, **keys):
    """The page of `small` with some keys, as one line."""
    _, out, _ = clustersim("check", "small", *(word for key in keys for word in ("--set", f"{key}={keys[key]}")))
    return " ".join(out.split())


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        ("", None),
        ('law={type="weibull",shape=0.7}', "Weibull lives of shape 0.7"),
        ('law={type="lognormal",sigma=2}', "lognormal lives of sigma 2"),
        ('law={type="empirical",durations=["3 d","9 d"]}', "2 lives seen"),
        ('ages="training"', "ages while the job trains alone"),
        (
            'steps={by="age",at=["1 d","9 d"],times=[0.5,0.1]}',
            "0.5 times the rate from 24 h of age on, 0.1 times the rate",
        ),
        ('kind="hang",detection="10 min"', "hangs for 10 min"),
        ('kind="hang",detection="never"', "hangs for good"),
        ('kind="silent",detection={type="exponential",mean="3 h"}', "corrupts the weights, which is seen after 3 h on"),
        ('kind="false-alarm"', "a false alarm"),
        ('kind="slow",slows=1.5,detection="1 h"', "slow 0.112 times a day, 1.5 x a step, found after 60 min"),
        ('repair="1 h",transient=0.25,renews="all"', "25.0 % take no node, a repair renews all causes"),
        ('repair="1 h",misdiagnosis=0.1,recurs="2 h"', "in 10.0 % another node is taken out, what is not mended fails"),
        ('repair="1 h",repair_starts="detection"', "repair starts at the detection"),
        (
            'repair="1 h",escalates=0.2,manual_repair="2 d",repair_fails=0.1,manual_fails=0.05',
            "20.0 % of the repairs go on by hand for 2 d, 10.0 % of the repairs mend nothing, 5.0 % of those by hand",
        ),
    ],
)
def test_what_is_peculiar_to_a_cause_is_told(clustersim, cause, words):
    """Causes that are alike are told together, plain crashes not at all."""
    causes = ",".join(f'{{cause="{name}",rate="7 per 1000 node-days",{cause}}}' for name in ("one", "two"))
    page = told(clustersim, failures=f"[{causes}]".replace(",}", "}"))
    if words is None:
        assert "one every 4.46 d, at full layout checkpoint" in page
    else:
        assert (f" one: {words}" if "slow" in cause else f"; one, two: {words}") in page


def test_domains_and_uncertain_rates_are_told(clustersim):
    switch = '{cause="switch",scope="domain",rate="1 per domain-year"}'
    row = '{cause="row",scope="domain",nodes_per_domain=8,rate="1 per domain-year"}'
    wear = '{cause="wear",count=8,over="27 d",on_nodes=64,uncertain=true}'
    page = told(clustersim, failures=f"[{switch},{row},{wear}]", **{"cluster.nodes_per_domain": 4})
    domains = "switch: takes whole domains; row: takes 8 nodes that are a domain"
    assert f"; {domains}; wear: a rate of which 8 failures tell checkpoint" in page


def test_how_a_smaller_job_goes_on_is_told(clustersim):
    at_once = {"recovery.policy": "shrink", "recovery.grow_back": "at-once", "parallelism.uneven": "refuse"}
    whole = "goes on with the replicas that remain, at least 8, and only divisors of 512; restarts at once for nodes"
    assert whole in told(clustersim, **at_once, **{"parallelism.min_data": 8})
    in_place = {"recovery.policy": "shrink", "recovery.in_place": "true", "recovery.batch": "shrinks"}
    in_place |= {"recovery.regroup": "7 s", "recovery.rejoin": '{type="exponential",mean="40 s"}'}
    page = told(clustersim, **in_place, **{"loader.preset": "torchdata-map", "loader.rank_batch": "constant"})
    goes_on = (
        "the survivors go on in place, at least 12; each replica keeps its part of the batch; others join when they"
    )
    costs = "are back; a failure costs the step in flight and 7 s to regroup, one that joins heals for 40 s on average"
    assert f"{goes_on} {costs}; a restart, where too few are left, takes 11.6 min on average" in page
    assert "first order" not in page


def test_saves_that_meet_and_the_end_are_told(clustersim):
    keys = {"checkpoint.write": "40 min", "checkpoint.final_checkpoint": "false", "checkpoint.keep": 3}
    lost = "what is not when the time is up is lost, the newest 3 are kept"
    assert f"durable 40 min later, one that falls due meanwhile waits, {lost}" in told(clustersim, **keys)
    keys["checkpoint.when_busy"] = "skip"
    assert "durable 40 min later, one that falls due meanwhile is left out" in told(clustersim, **keys)
    tiers = '[{name="memory",every="5 steps",survives="domain",copies=3}]'
    page = told(clustersim, **{"checkpoint.when_busy": "skip", "checkpoint.tiers": tiers})
    assert "every 5 steps to memory, which survives the loss of 2 domains" in page


def test_positions_that_are_passed_over_are_told(clustersim):
    assert "comes back: exact; 30 positions are passed over" in told(clustersim, **{"data.skip": "[[10,20],[40,60]]"})


def test_of_a_buffer_that_no_reader_fills_it_is_told_what_is_held(clustersim):
    """24 shards of 10 documents over four readers: six shards each; one of 60 is filled."""
    shards = ("--set", "data.order=shard-shuffle", "--set", "data.shards=24")
    loader = ("--set", 'loader={{preset="torchdata-iterable-buffer", buffer={}}}')
    told = [
        " ".join(clustersim("check", "workshop", *shards, loader[0], loader[1].format(size))[1].split())
        for size in (1000, 60)
    ]
    assert "buffer 1000, of which a reader fills 60 at most," in told[0]
    assert "buffer 60, on_layout_change" in told[1]


def test_a_trace_is_told(clustersim):
    case = Path(__file__).parents[2] / "scenarios" / "cases" / "26-one-spare-two-losses.toml"
    assert "failures    loss: 2 faults of a trace\n" in clustersim("check", case)[1]
    _, out, _ = clustersim("check", case, "--set", "failures.0.at_end=repeat")
    assert "failures    loss: 2 faults of a trace, again every 30 d\n" in out


def test_when_scripted_and_traced_crashes_are_noticed_is_told(clustersim):
    scripted = (
        '[{cause="drill",at_steps=[47],detection="30 s"},{cause="link",at_times=["1 d"],kind="hang",detection="1 h"}]'
    )
    assert "2 scripted; drill: noticed after 30 s; link: hangs for 60 min checkpoint" in told(
        clustersim, failures=scripted
    )
    case = Path(__file__).parents[2] / "scenarios" / "cases" / "26-one-spare-two-losses.toml"
    _, out, _ = clustersim("check", case, "--set", "failures.0.detection=20 s")
    assert "failures    loss: 2 faults of a trace; loss: noticed after 20 s\n" in out


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
