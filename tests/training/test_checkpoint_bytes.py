"""Saves and loads whose time follows from the size of a checkpoint, on the nodes that the job has."""

import pytest

from clustersim import load_scenario, simulate


def job(**checkpoint):
    """A step takes 10 s with 4 replicas of one node; 400 MB a checkpoint; 3 replicas from step 25 on."""
    return load_scenario(
        {
            "run": {"steps": 100},
            "model": {"global_batch": 12, "step_time": "10 s"},
            "cluster": {"nodes": 4, "gpus_per_node": 1},
            "failures": [{"cause": "scripted", "at_steps": [25], "data": [3]}],
            "checkpoint": {"every": "10 steps", "bytes_per_parameter": "4 B", "parameters": "100 M", **checkpoint},
            "data": {"samples": 5000},
        }
    )


def test_fewer_nodes_write_longer():
    run = simulate(job(write_bandwidth="10 MB/s"))
    durable_s = [leg.timetable.durable_at(0, 0) / 1e9 for leg in run.history.legs]
    assert durable_s[0] == 100 + 10  # 4 nodes at 10 MB/s
    assert durable_s[1] == pytest.approx(10 * 40 / 3 + 40 / 3)
    times_h = run.checkpoints["durable_h"].tolist()
    assert times_h[0] == 110 / 3600
    assert run.checkpoints["step"].tolist()[:3] == [10, 20, 30]


@pytest.mark.parametrize(
    ("keys", "seconds"),
    [
        ({"read_bandwidth": "10 MB/s"}, 40),  # each of 3 nodes reads the 400 MB of its replica
        ({"read_bandwidth": "10 MB/s", "read_cap": "20 MB/s"}, 60),
        ({"read_bandwidth": "10 MB/s", "read_by": "job"}, 40 / 3),
        ({"read_cap": "20 MB/s", "read_by": "job"}, 20),
    ],
)
def test_loads_by_replica_or_by_job(keys, seconds):
    assert simulate(job(**keys)).time_ns["load"] == round(seconds * 1e9)
