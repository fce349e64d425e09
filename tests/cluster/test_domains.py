"""A domain's nodes go together, at one instant, and come back when nothing holds them any longer."""

import numpy as np
import pytest

from clustersim import ScenarioError, load_scenario, simulate

SWITCH = {"cause": "switch", "scope": "domain", "law": {"type": "empirical", "durations": ["10 h"]}}


def machine(failures, **changes):
    base = {
        "name": "domains",
        "run": {"wall_time": "18 h"},
        "model": {"global_batch": 12, "step_time": "10 s"},
        "cluster": {"nodes": 6, "gpus_per_node": 1, "spares": 4, "nodes_per_domain": 4},
        "parallelism": {"data": 6},
        "failures": failures,
        "checkpoint": {"every": "1 steps"},
        "data": {"samples": "1 T"},
    }
    return load_scenario(base, {key.replace("__", "."): value for key, value in changes.items()})


def told(run):
    events = run.events
    return list(zip(events["time_h"].round(6), events["kind"], events["node"], events["where"], strict=True))


def test_all_domains_at_one_instant_are_one_interruption():
    """Domains 0 .. 3, 4 .. 7 (two of them spares) and 8 .. 9 fail after 10 h and are back after 2."""
    run = simulate(machine([SWITCH | {"repair": "2 h"}]))
    failures = [(10, "failure", 0, "job"), (10, "failure", 4, "job"), (10, "failure", 8, "spare")]
    assert told(run) == failures + [(12, "repair", node, "repair") for node in range(10)]
    assert run.summary()["interruptions"] == 1
    assert run.summary()["failures"] == 3
    assert run.time_h["waiting_for_nodes"] == 2


def test_a_domain_takes_one_repair_slot():
    run = simulate(machine([SWITCH | {"repair": "2 h"}], cluster__repair_slots=1))
    back = run.events[run.events["kind"] == "repair"].groupby("time_h")["node"].apply(list).to_dict()
    assert back == {12: [0, 1, 2, 3], 14: [4, 5, 6, 7], 16: [8, 9]}


def test_a_node_in_repair_is_back_when_its_domain_is_too():
    """Each node breaks after 9 h, for 2 h or for 5; its domain is out from 10 h to 13 h."""
    wear = {"cause": "wear", "law": {"type": "empirical", "durations": ["9 h"]}}
    for repair, back in (("2 h", 13), ("5 h", 14)):
        run = simulate(machine([wear | {"repair": repair}, SWITCH | {"repair": "3 h"}], run={"wall_time": "15 h"}))
        repaired = run.events[run.events["kind"] == "repair"]
        assert repaired["time_h"].tolist() == [back] * 10
        assert repaired["node"].tolist() == list(range(10))
        assert (run.events[run.events["kind"] == "failure"]["where"][10:] == "repair").all()


def test_a_domain_fails_again_on_time_while_other_repairs_hold_its_nodes():
    """It fails 2 h after each repair of 1 h, also of 9 h to 19 h, when all its nodes are in repairs of their own."""
    wear = {"cause": "wear", "law": {"type": "empirical", "durations": ["9 h"]}, "repair": "10 h"}
    switch = {"cause": "switch", "scope": "domain", "law": {"type": "empirical", "durations": ["2 h"]}, "repair": "1 h"}
    run = simulate(machine([wear, switch]))
    failures = run.events[(run.events["kind"] == "failure") & (run.events["cause"] == "switch")]
    assert sorted(set(failures["time_h"])) == [2, 5, 8, 11, 14, 17]


def test_a_domain_that_never_comes_back_keeps_the_nodes_that_were_in_repair():
    wear = {"cause": "wear", "law": {"type": "empirical", "durations": ["9 h"]}, "repair": "2 h"}
    run = simulate(machine([wear, SWITCH | {"repair": "never"}]))
    assert run.history.outcome == "starved"
    assert run.history.wall_ns == 10 * 3600 * 10**9


def test_a_switch_takes_all_its_racks():
    """Five racks of two nodes under switches of four: racks fail at 9 h for 3 h, switches at 10 h for 1 h or for 4."""
    rack = SWITCH | {"cause": "rack", "nodes_per_domain": 2, "law": {"type": "empirical", "durations": ["9 h"]}}
    for repair, back in (("1 h", 12), ("4 h", 14)):
        failures = [rack | {"repair": "3 h"}, SWITCH | {"repair": repair}]
        run = simulate(machine(failures, run={"wall_time": "15 h"}))
        struck = run.events[run.events["kind"] == "failure"].groupby("cause")["node"].apply(list).to_dict()
        assert struck == {"rack": [0, 2, 4, 6, 8], "switch": [0, 4, 8]}
        assert run.events[run.events["kind"] == "repair"]["time_h"].tolist() == [back] * 10


def test_a_switch_alone_takes_the_racks_that_are_whole():
    """Its two racks go in one repair and one slot, whatever the domains of other causes are."""
    switch = SWITCH | {"repair": "2 h", "nodes_per_domain": 4}
    run = simulate(machine([switch], cluster__nodes_per_domain=2, cluster__repair_slots=1))
    back = run.events[run.events["kind"] == "repair"].groupby("time_h")["node"].apply(list).to_dict()
    assert back == {12: [0, 1, 2, 3], 14: [4, 5, 6, 7], 16: [8, 9]}


def test_a_transient_failure_of_a_domain_takes_no_node():
    run = simulate(machine([SWITCH]))
    assert [kind for _, kind, _, _ in told(run)] == ["failure"] * 3
    assert run.summary()["interruptions"] == 1
    assert run.time_h["waiting_for_nodes"] == 0


def test_the_lives_of_nodes_go_on_through_the_failure_of_their_domain():
    """A life that ends while its domain is out ends unseen; every other is that of a world of sound switches."""
    wear = {"cause": "wear", "rate": "0.3 per node-day", "law": {"type": "weibull", "shape": 2}}
    long = {"run": {"wall_time": "9 d"}}
    alone = simulate(machine([wear], **long)).events
    switch = SWITCH | {"repair": "1 h", "law": {"type": "exponential"}, "rate": "1 per domain-day"}
    both = simulate(machine([wear, switch], **long)).events
    first = alone.drop_duplicates("node").set_index("node")["time_h"]
    worn = both[both["cause"] == "wear"].drop_duplicates("node").set_index("node")["time_h"]
    assert (worn >= first - 1e-9).all()
    assert np.isclose(worn, first).sum() > 6


def test_the_job_is_hit_by_the_domains_that_it_runs_on():
    scenario = machine([SWITCH | {"rate": "1 per 10 domain-days"}])
    assert scenario.sizes.failures_per_ns * 86_400 * 10**9 == pytest.approx(2 / 10)
    counted = machine([SWITCH | {"count": 8, "over": "40 d", "on_domains": 2}])
    assert counted.sizes.failures_per_ns == pytest.approx(scenario.sizes.failures_per_ns)
    racks = machine([SWITCH | {"rate": "1 per 10 domain-days", "nodes_per_domain": 2}])
    assert racks.sizes.failures_per_ns == pytest.approx(3 / 2 * scenario.sizes.failures_per_ns)


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"nodes_per_domain": 11}, "expected at most 10, the nodes and spares of the cluster, found 11"),
        ({"nodes_per_domain": 2, "scope": "node"}, 'expected scope = "domain" beside it, found "node"'),
    ],
)
def test_domains_of_its_own_that_a_cause_cannot_have(keys, line):
    with pytest.raises(ScenarioError) as refused:
        machine([SWITCH | keys])
    assert str(refused.value) == f"scenario: failures.0.nodes_per_domain: {line}"
