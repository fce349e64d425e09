"""A sample of runs and their digests, wherever they are computed. `python tests/digests.py` prints those of today."""

from __future__ import annotations

from typing import Any

SAMPLE: dict[str, tuple[str, dict[str, Any], int]] = {
    "as shipped": ("small", {}, 0),
    "another seed": ("small", {"run.seed": 2**63 - 1}, 17),
    "epochs begin again": ("small", {"loader.preset": "epoch"}, 3),
    "shards in a new order": ("small", {"loader.preset": "reshuffle", "data.order": "shard-shuffle"}, 3),
    "replicas leave and come back": (
        "small",
        {"recovery.policy": "shrink", "recovery.grow_back": "at-once", "cluster.spares": 0, "run.account": "interval"},
        1,
    ),
    "the record of death": (
        "small",
        {"poison": {"samples": [4, 400]}, "data.documents": 50_000, "data.shards": 40, "run.wall_time": "12 h"},
        0,
    ),
    "466 restarts, from intervals": ("llama3-405b", {"loader.preset": "reshuffle"}, 0),
    "the unseen remainder": ("llama3-405b", {"loader.preset": "unseen-remainder"}, 5),
    "by hand": ("workshop", {"loader.preset": "reshuffle"}, 0),
    "a buffer that is lost": ("scenarios/cases/04-shuffle-buffer-not-saved.toml", {}, 2),
    "in place": ("scenarios/cases/25-survivors-go-on-in-place.toml", {}, 0),
    "bad checkpoints": ("scenarios/cases/27-bad-local-checkpoint.toml", {}, 1),
    "a trace": ("scenarios/cases/26-one-spare-two-losses.toml", {"run.limit": "30 d"}, 0),
}
"""scenario, overrides, replication by what the run shows."""


def digests_of(name: str) -> tuple[str, str]:
    """The first 16 digits of the digests of a run's history and ledger."""
    from pathlib import Path

    from clustersim import load_scenario, simulate

    scenario, overrides, replication = SAMPLE[name]
    shipped = Path(__file__).parents[1] / scenario
    run = simulate(load_scenario(shipped if shipped.exists() else scenario, overrides), replication)
    return run.digests["history"][:16], run.digests["ledger"][:16]


if __name__ == "__main__":
    import json

    print(json.dumps({name: digests_of(name) for name in SAMPLE}, indent=4))
