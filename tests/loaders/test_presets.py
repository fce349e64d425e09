"""Presets against what the libraries did when they were crashed and restarted.

960 samples, global batch 24, 2 epochs, 4 ranks; the loop runs to the end of its epochs. Extra and missing views.
"""

import pytest

from clustersim import load_scenario, simulate
from clustersim.scenario import presets

# The checkpoints that are restarted from, and the ranks after each; an epoch ends with step 40.
HISTORIES = {
    "same": ([20], [4]),
    "epoch 2": ([60], [4]),
    "twice": ([10, 30], [4, 4]),
    "4 to 3": ([20], [3]),
    "4 to 2": ([20], [2]),
    "edge": ([40], [4]),
}
SOUND = dict.fromkeys(HISTORIES, (0, 0))
REFUSES = {**SOUND, "4 to 3": "refused", "4 to 2": "refused"}
RESTARTS = {**dict.fromkeys(HISTORIES, (480, 0)), "twice": (720, 0), "edge": (960, 0)}
MEASURED = {
    "torch-distributed-restart": RESTARTS,
    "torch-distributed-skip": SOUND,
    "torch-distributed-no-epoch": {**RESTARTS, "epoch 2": (1440, 0)},
    "accelerate-skip": SOUND,
    "accelerate-no-skip": RESTARTS,
    "lightning-stateful": {**SOUND, "edge": (0, 960)},
    "megatron": SOUND,
    "mosaicml-streaming": SOUND,
    "grain-elastic": SOUND,
    "grain-dataloader": REFUSES,
    "lhotse-dynamic": REFUSES,
    "energon": REFUSES,
    "horovod-elastic": SOUND,
    "webdataset-no-state": RESTARTS,
}
PLAIN = ["restore", "epoch", "reshuffle", "restart-run", "no-rewind"]
AT_RANDOM = [
    "torch-new-permutation",
    "accelerate-1.10-skip",
]  # test_measured_rules.py holds their laws to the measured means


def crashed(preset, history):
    checkpoints, ranks = HISTORIES[history]
    return simulate(
        load_scenario(
            {
                "run": {"epochs": 2},
                "model": {"global_batch": 24, "step_time": "1 s"},
                "cluster": {"nodes": 4, "gpus_per_node": 1},
                "failures": [{"cause": "crash", "at_steps": [c + 3 for c in checkpoints], "data": ranks}],
                "checkpoint": {"every": "5 steps"},
                "data": {"samples": 960},
                "loader": {"preset": preset},
            }
        )
    )


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("preset", MEASURED)
def test_what_the_library_did(preset, history):
    run, measured = crashed(preset, history), MEASURED[preset][history]
    if measured == "refused":
        assert run.history.outcome == "refused"
        assert run.steps == 20
    else:
        assert run.history.outcome == "done"
        assert (run.account.extra, run.account.missing) == measured


def test_every_preset_is_tested_and_explains_itself():
    assert sorted(presets()) == sorted([*MEASURED, *PLAIN, *AT_RANDOM])
    for name, about in presets().items():
        first, _, rest = about.partition("\n")
        assert first.endswith(".")
        assert "Saves:" in rest
        assert ("Measured:" in rest) == (name not in PLAIN)
