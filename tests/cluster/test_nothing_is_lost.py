"""No wake-up is missed, no slot of the repair shop leaks, and no node is forgotten, whatever overtakes what."""

from collections import Counter

import pytest

from clustersim import load_scenario
from clustersim.training.compile import World

HOUR_NS = 3600 * 10**9


def run(failures, hours=40, nodes=1, recovery=None, **cluster):
    scenario = load_scenario(
        {
            "name": "nothing is lost",
            "run": {"wall_time": f"{hours} h"},
            "model": {"global_batch": 60, "step_time": "1 min"},
            "cluster": {"nodes": nodes, "gpus_per_node": 1, **cluster},
            "failures": failures,
            "checkpoint": {"every": "1 steps"},
            "recovery": recovery or {},
            "data": {"samples": "1 T"},
        }
    )
    world = World(scenario, 0, 0)
    return world.run(), world.cluster


def fails_at(hours, cause="wear", **keys):
    return {"cause": cause, "law": {"type": "empirical", "durations": [f"{hours} h"]}, **keys}


@pytest.mark.parametrize(("repair_h", "waits_h"), [(2, 0), (5, 0), (7, 2)])
def test_a_node_that_is_back_before_the_job_waits_for_it_is_found(repair_h, waits_h):
    """The job notices after 5 h and waits from then on; nobody listened when the node came back earlier."""
    history, _ = run([fails_at(20, detection="5 h", repair=f"{repair_h} h")])
    assert history.recoveries[0].spent_ns("waiting_for_nodes") == waits_h * HOUR_NS
    assert [leg.begin_ns / HOUR_NS for leg in history.legs] == [0, 25 + waits_h]


def test_a_node_that_is_back_while_the_job_starts_serves_after_the_next_failure():
    """All fail at 20 h; two are back at 22 h and begin to start; the others at 24 h, half an hour before a failure."""
    again = {"cause": "again", "at_times": ["24.5 h"]}
    shrinking = {"policy": "shrink", "start_up": "3 h"}
    history, _ = run([fails_at(20, repair="2 h"), again], recovery=shrinking, nodes=4, repair_slots=2)
    assert [(leg.begin_ns / HOUR_NS, leg.data) for leg in history.legs] == [(0, 4), (27.5, 4)]


@pytest.mark.parametrize(
    ("cause", "done"),
    [
        ({"repair": "1 h"}, [11, 12, 13, 14, 15, 22, 23, 24, 25, 26]),
        # A node that needs a second, manual repair queues again behind all others.
        (
            {"repair": "30 min", "escalates": 1, "manual_repair": "30 min"},
            [13, 13.5, 14, 14.5, 15, 24, 25.5, 26.5, 27.5, 28],
        ),
    ],
)
def test_every_slot_is_free_again(cause, done):
    """Twenty nodes fail at 10 h, and 10 h after they are mended: four slots are never idle while a node waits."""
    history, cluster = run([fails_at(10, **cause)], hours=31, nodes=20, repair_slots=4)
    back = Counter(row.time_ns / HOUR_NS for row in history.happenings if row.kind == "repair")
    assert back == dict.fromkeys(done, 4)
    assert cluster.pool.census()["repair"] == cluster.returning == 0


def test_outages_last_from_the_failure_until_the_node_is_back_or_the_run_over():
    """Two slots: two nodes are out for an hour, two for two; at 21 h the first two break anew, and the run ends."""
    history, _ = run([fails_at(10, repair="1 h")], hours=21.5, nodes=4, repair_slots=2)
    hours = [
        (outage.node, outage.cause, outage.begin_ns / HOUR_NS, outage.end_ns / HOUR_NS) for outage in history.outages
    ]
    assert hours == [
        *((node, "wear", 10, 11) for node in (0, 1)),
        *((node, "wear", 10, 12) for node in (2, 3)),
        *((node, "wear", 21, 21.5) for node in (0, 1)),
    ]


def test_a_node_whose_domain_fails_too_is_out_once():
    switch = fails_at(10.5, "switch", scope="domain", repair="3 h")
    history, _ = run([fails_at(10, repair="1 h"), switch], hours=20, nodes=2, nodes_per_domain=2)
    assert [(outage.cause, outage.begin_ns / HOUR_NS, outage.end_ns / HOUR_NS) for outage in history.outages] == [
        ("wear", 10, 13.5),
        ("wear", 10, 13.5),
    ]
