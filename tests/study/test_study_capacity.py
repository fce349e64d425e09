"""Plans over the same failures: dates, costs, the closed form beside them, and what is refused."""

import math

import numpy as np
import pandas as pd
import pytest

from clustersim import ScenarioError, load_scenario
from clustersim.study.capacity import around, capacity, short_of_nodes
from clustersim.theory import machine_repair


def world(**changes):
    """Ten nodes that each fail every five days on average, and are repaired in six hours on average."""
    return load_scenario(
        {
            "run": {"steps": 40_000},
            "model": {"global_batch": 10, "step_time": "1 min"},
            "cluster": {"nodes": 10, "gpus_per_node": 1, "spares": 1, "repair_slots": 1},
            "failures": [
                {"cause": "wear", "rate": "0.2 per node-day", "repair": {"type": "exponential", "mean": "6 h"}},
                {"cause": "software", "rate": "1 per day", "scope": "job"},
            ],
            "checkpoint": {"every": "5 min"},
            "data": {"samples": "1 T"},
        },
        changes,
    )


def test_the_machine_repair_model_by_hand():
    # Two machines, one repairer, load 1/2: weights 1, 2 * 1/2, 1/2 * 1.
    assert machine_repair(2, 1, 0.5) == pytest.approx([0.4, 0.4, 0.2])
    # A slot for each: every node is down by itself, with probability load / (1 + load).
    assert machine_repair(3, 3, 0.25) == pytest.approx([math.comb(3, n) * 0.2**n * 0.8 ** (3 - n) for n in range(4)])


@pytest.mark.parametrize("load", [1e-9, 0.01, 100])
def test_thousands_of_nodes_stay_a_law(load):
    law = machine_repair(20_000, 3, load)
    assert math.fsum(law) == pytest.approx(1)
    assert min(law) >= 0


def test_the_wait_for_nodes_agrees_with_the_closed_form():
    """Without detection and start-up the job waits exactly while more nodes are down than there are spares."""
    found = capacity(world(), "1 y", spares=[0, 1, 3], repair_slots=[1, 2], replications=12, workers=1)
    runs = found.study.table
    shares = runs["time_waiting_for_nodes_h"] / runs["wall_h"]
    for row in found.table.to_dict("records"):
        own = shares[runs["point"] == row["point"]]
        assert abs(own.mean() - row["short_closed_form"]) < 3.5 * own.std() / math.sqrt(len(own)) + 1e-4
        assert row["short_closed_form"] > 0.001
    assert found.table["short_closed_form"].max() > 0.4


def test_more_spares_are_earlier_and_the_cheapest_that_is_in_time_is_recommended():
    found = capacity(
        world(), "35 d", spares=[0, 1, 2, 4, 8], repair_slots=[2], confidence=0.7, replications=20, workers=1
    )
    table = found.table.set_index("spares")
    assert table.loc[[0, 1, 2, 4], "p50_h"].is_monotonic_decreasing
    # With four the job hardly waits. With eight other nodes fail in it, as likely later ones as earlier ones.
    assert table.loc[8, "p50_h"] == pytest.approx(table.loc[4, "p50_h"], rel=0.001)
    assert table["on_time"].is_monotonic_increasing
    in_time = table[table["on_time_ci95_low"] >= 0.7]
    assert 0 < len(in_time) < 5
    assert found.recommended["spares"] == in_time["cost"].idxmin()
    assert not found.priced
    # Without prices a GPU costs 1 an hour, wherever it is.
    runs = found.study.table
    assert runs["cost"].tolist() == pytest.approx((runs["wall_h"] * (10 + runs["cluster.spares"])).tolist())


def test_spares_around_those_that_are_in_repair():
    """Half a node on average: none of them more than 0, 1, 3 and 5 for so much of the time, by a table of Poisson's."""
    world_of_ten = world(**{"cluster.spares": 0, "failures.0.ages": "in_job"})
    assert around(world_of_ten) == {"spares": [0, 1, 3, 5]}
    assert around(load_scenario(world_of_ten, {"cluster.spares": 2})) == {"spares": [0, 1, 2, 3, 5]}
    often = load_scenario(world_of_ten, {"failures.0.rate": "1 per node-day"})
    assert around(often)["repair_slots"] == [1, 2, 4]  # two and a half of ten are down
    found = capacity(world_of_ten, "60 d", replications=2, workers=1)
    assert found.table["spares"].tolist() == [0, 1, 3, 5]


def test_every_plan_meets_the_same_failures():
    """Failures that take no node strike all plans at the same instants, whatever spares and slots they have."""
    alone = {"failures.0.repair": None}
    found = capacity(world(**alone), "60 d", spares=[0, 3], repair_slots=[1, 4], replications=4, workers=1)
    finish = found.study.table.pivot(index="replication", columns="point", values="wall_h")
    assert finish.nunique().min() == 4
    assert (finish.nunique(axis=1) == 1).all()


def test_a_run_that_is_given_up_never_finished():
    found = capacity(world(**{"run.limit": "30 d"}), "30 d", spares=[0], repair_slots=[1], replications=5, workers=1)
    row = found.table.iloc[0]
    assert (row["unfinished"], row["on_time"], row["p50_h"]) == (5, 0, math.inf)
    assert found.recommended is None


def test_the_table_lies_beside_the_study(tmp_path):
    found = capacity(world(), "40 d", nodes=[10, 5], replications=2, workers=1, out=tmp_path)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "capacity.parquet"), found.table)
    assert found.table["nodes"].tolist() == [10, 5]


@pytest.mark.parametrize(
    "changes",
    [
        {"failures.0.law": {"type": "weibull", "shape": 0.7}},
        {"failures.0.repair": "6 h"},
        {"failures.0.ages": "training"},
        {"failures.0.kind": "hang", "failures.0.detection": "1 h"},
        {"failures.0.repair": {"type": "lognormal", "median": "4 h", "sigma": 1}},
        {"failures.1": {"cause": "rack", "rate": "1 per domain-year", "scope": "domain", "repair": "1 h"}}
        | {"cluster.nodes_per_domain": 2},
        {"cluster.lemons": {"share": 0.1, "times": 5}},
        {"recovery.policy": "wait"},
        {"failures.0.repair": None},
        {"failures.0.repair": "never", "cluster.repair_slots": None},
    ],
    ids=str,
)
def test_where_there_is_no_closed_form(changes):
    assert short_of_nodes(world()) > 0
    assert short_of_nodes(world(**changes)) is None


def test_with_a_slot_for_every_node_repairs_may_follow_any_law():
    mean = np.exp(0.5) * 4
    any_law = {"failures.0.repair": {"type": "lognormal", "median": "4 h", "sigma": 1}, "cluster.repair_slots": None}
    same = {"failures.0.repair": {"type": "exponential", "mean": f"{mean:.9f} h"}, "cluster.repair_slots": 11}
    assert short_of_nodes(world(**any_law)) == pytest.approx(short_of_nodes(world(**same)))


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"by": "60"}, 'by: expected a duration such as "10 min", found "60"'),
        ({"by": "0 d"}, "by: expected a date after 0 and by "),
        ({"by": "90 y"}, "by: expected a date after 0 and by "),
        ({"confidence": 90}, "confidence: expected a number between 0 and 1, found 90"),
    ],
)
def test_what_is_wrong_is_one_line(arguments, line):
    with pytest.raises(ValueError, match=r".") as refused:
        capacity(world(), **{"by": "60 d", "spares": [1], "workers": 1, **arguments})
    assert str(refused.value).startswith(line)


def test_a_run_that_ends_by_wall_time_has_no_date():
    with pytest.raises(ScenarioError, match=r"run.wall_time: expected an end after steps, .*, found \"10 d\""):
        capacity("small", "60 d", spares=[1], workers=1)
