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
