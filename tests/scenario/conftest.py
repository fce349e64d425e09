import copy

import pytest

_BASE = {
    "name": "base",
    "run": {"wall_time": "10 d"},
    "model": {"global_batch": 64, "sequence_length": 1024, "step_time": "10 s"},
    "cluster": {"nodes": 16, "spares": 2, "gpus_per_node": 8},
    "parallelism": {"tensor": 4, "pipeline": 4, "data": 8},
    "failures": [
        {"cause": "GPU", "count": 20, "over": "10 d", "on_nodes": 16, "repair": {"type": "exponential", "mean": "2 h"}},
        {"cause": "software", "rate": "1 per day", "scope": "job"},
        {"cause": "drill", "at_steps": [5, 9], "data": [8, 7]},
    ],
    "checkpoint": {"every": "30 min", "stall": "5 s", "write": "1 min"},
    "recovery": {"start_up": "5 min", "load": {"type": "weibull", "shape": 2, "scale": "1 min"}},
    "data": {"documents": "2 M", "tokens_per_document": 700, "packing": "concat", "shards": 100},
    "loader": {"preset": "restore"},
}


@pytest.fixture
def document():
    return copy.deepcopy(_BASE)
