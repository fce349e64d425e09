"""A loader that does not come back ends the run at that restart, with all counts until then."""

import pytest

from clustersim import ScenarioError, load_scenario, simulate


@pytest.mark.parametrize("last_batch", ["span", "short"])
@pytest.mark.parametrize(
    ("crash", "outcome", "steps"),
    [(23, "refused", 20), (3, "done", 60)],  # no checkpoint holds step 3: the run begins anew, and nothing is refused
)
def test_a_loader_that_never_comes_back(last_batch, crash, outcome, steps):
    run = simulate(
        load_scenario(
            {
                "run": {"steps": 60},
                "model": {"global_batch": 24, "step_time": "1 s"},
                "cluster": {"nodes": 4, "gpus_per_node": 1},
                "failures": [{"cause": "crash", "at_steps": [crash]}],
                "checkpoint": {"every": "5 steps"},
                "data": {"samples": 960},
                "loader": {"saves": "samples", "comes_back": "refuse", "last_batch": last_batch},
            }
        )
    )
    assert (run.history.outcome, run.steps) == (outcome, steps)
    assert run.history.reason == ("the loader cannot come back from what it saves" if outcome == "refused" else "")
    assert run.account.views == steps * 24


def test_parts_that_stay_dealt_are_no_position_that_other_ranks_divide():
    scenario = {
        "run": {"steps": 60},
        "model": {"global_batch": 24, "step_time": "1 s"},
        "cluster": {"nodes": 4, "gpus_per_node": 1},
        "checkpoint": {"every": "5 steps"},
        "data": {"samples": 960},
        "loader": {"partition": "strided", "dealt_to": "first-ranks"},
    }
    line = r'loader\.dealt_to: expected on_layout_change = "keep" beside "first-ranks", found "reshard"'
    with pytest.raises(ScenarioError, match=line):
        load_scenario(scenario)
    with pytest.raises(ScenarioError, match=r'loader\.dealt_to: expected partition = .*, found "queue"'):
        load_scenario(scenario, {"loader.partition": "queue", "loader.on_layout_change": "keep", "data.shards": 24})
    changes = {"loader.partition": "shards", "loader.on_layout_change": "keep", "data.order": "with-replacement"}
    with pytest.raises(ScenarioError, match=r"data\.order: expected an order that deals out each shard once .*, found"):
        load_scenario(scenario, {**changes, "data.shards": 24})
