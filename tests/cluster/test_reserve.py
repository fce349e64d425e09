"""Cold spares and borrowed nodes: who comes, when, and who goes back to where."""

from clustersim import load_scenario
from clustersim.training.compile import World

HOUR_NS = 3600 * 10**9
WEAR = {"cause": "wear", "ages": "in_job", "law": {"type": "empirical", "durations": ["10 h"]}}


def run(cause, hours, policy="spare", nodes=4, **cluster):
    scenario = load_scenario(
        {
            "name": "reserve",
            "run": {"wall_time": f"{hours} h"},
            "model": {"global_batch": 12, "step_time": "10 s"},
            "cluster": {"nodes": nodes, "gpus_per_node": 1, **cluster},
            "failures": [WEAR | cause],
            "checkpoint": {"every": "1 steps"},
            "recovery": {"policy": policy},
            "data": {"samples": "1 T"},
        }
    )
    world = World(scenario, 0, 0)
    return world.run(), world.cluster.pool.census()


def told(history, *kinds):
    return [(row.time_ns / HOUR_NS, row.kind, row.node) for row in history.happenings if row.kind in kinds]


def waits(history):
    return [
        (recovery.begin_ns / HOUR_NS, recovery.spent_ns("waiting_for_nodes") / HOUR_NS)
        for recovery in history.recoveries
    ]


COLD = {"nodes": 6, "start_up": "30 min"}
BORROWED = {"nodes": 9, "after": "2 h"}


def test_cold_spares_replace_what_the_spares_do_not_and_complete_them():
    """Four nodes fail at 10 h, one spare stands by: three cold ones are started for the job, and one as a spare."""
    history, places = run({"repair": "never"}, 12, spares=1, cold=COLD)
    assert told(history, "start") == [(10.5, "start", node) for node in (5, 6, 7, 8)]
    assert waits(history) == [(10, 0.5)]
    assert places == {"job": 4, "spare": 1, "repair": 4, "cold": 2, "starting": 0, "elsewhere": 0}


def test_spares_that_suffice_start_nothing():
    history, places = run({"repair": "never"}, 12, spares=4, cold=COLD, borrowed=BORROWED)
    assert told(history, "start", "borrowing") == []
    assert waits(history) == [(10, 0)]
    assert (places["cold"], places["elsewhere"]) == (6, 9)


def test_nodes_are_borrowed_after_a_while_when_cold_ones_are_too_few():
    """At 10 h four are missing and two are cold; with a spare it takes one less, and one to complete the spares."""
    cold = {"nodes": 2, "start_up": "30 min"}
    history, places = run({"repair": "1 d"}, 13, spares=0, cold=cold, borrowed=BORROWED)
    assert told(history, "start", "borrowing") == [
        (10.5, "start", 4),
        (10.5, "start", 5),
        (12, "borrowing", 6),
        (12, "borrowing", 7),
    ]
    assert waits(history) == [(10, 2)]
    assert (places["job"], places["elsewhere"]) == (4, 7)
    history, places = run({"repair": "1 d"}, 13, spares=1, cold=cold, borrowed=BORROWED)
    assert told(history, "borrowing") == [(12, "borrowing", 7), (12, "borrowing", 8)]
    assert waits(history) == [(10, 2)]
    assert (places["job"], places["spare"]) == (4, 1)


def test_nodes_that_are_no_longer_missed_are_not_borrowed():
    """All four are back from repair after an hour."""
    history, places = run({"repair": "1 h"}, 16, borrowed=BORROWED)
    assert told(history, "borrowing") == []
    assert waits(history) == [(10, 1)]
    assert places["elsewhere"] == 9


def test_a_repaired_node_becomes_a_cold_spare_where_the_others_are_complete():
    _, places = run({"repair": "3 h"}, 14, spares=4, cold=COLD)
    assert places == {"job": 4, "spare": 4, "repair": 0, "cold": 6, "starting": 0, "elsewhere": 0}


def test_a_repaired_node_that_the_job_waits_for_stays_on():
    """Back at 10.5 h, before the cold ones are up at 11 h."""
    history, places = run({"repair": "30 min"}, 14, cold={"nodes": 6, "start_up": "1 h"})
    assert waits(history) == [(10, 0.5)]
    assert places == {"job": 4, "spare": 4, "repair": 0, "cold": 2, "starting": 0, "elsewhere": 0}


def test_the_job_does_not_starve_while_nodes_are_on_their_way():
    history, _ = run({"repair": "never"}, 12, cold=COLD)
    assert (history.outcome, waits(history)) == ("done", [(10, 0.5)])
    history, _ = run({"repair": "never"}, 14, borrowed=BORROWED)
    assert (history.outcome, waits(history)) == ("done", [(10, 2)])
    history, _ = run({"repair": "never"}, 14, borrowed={"nodes": 3, "after": "2 h"})
    assert (history.outcome, history.wall_ns) == ("starved", 12 * HOUR_NS)


def test_a_job_that_shrinks_calls_too_and_grows_at_its_next_interruption():
    """At 10 h all fail, two spares carry on at half the degree; the cold ones serve at 20 h, when those two fail."""
    history, _ = run({"repair": "never"}, 22, policy="shrink", spares=2, cold=COLD)
    assert told(history, "start") == [(10.5, "start", node) for node in (6, 7, 8, 9)]
    assert [leg.data for leg in history.legs] == [4, 2, 4]


def test_what_breaks_elsewhere_is_no_failure_here():
    wall = WEAR | {"ages": "wall", "repair": "1 h"}
    history, places = run(wall, 10.5, borrowed={"nodes": 3, "after": "5 h"})
    assert [row.node for row in history.happenings] == [0, 1, 2, 3]
    assert places["elsewhere"] == 3


def test_a_cold_spare_that_breaks_while_it_starts_is_repaired():
    """All age by the wall; at 10 h all break, the cold ones too."""
    wall = WEAR | {"ages": "wall", "law": {"type": "empirical", "durations": ["10 h", "10.25 h", "10.5 h"]}}
    history, places = run(wall | {"repair": "20 h"}, 16, nodes=8, cold={"nodes": 12, "start_up": "25 min"})
    started = {row.node for row in history.happenings if row.kind == "start"}
    broken = {row.node for row in history.happenings if row.kind == "failure" and row.where == "starting"}
    assert broken
    assert not broken & started
    assert places["starting"] == 0
