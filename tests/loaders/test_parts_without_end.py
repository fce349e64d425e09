"""Parts that repeat in themselves: so many epochs, or without end."""

import pytest

from clustersim import load_scenario, simulate

N, B = 960, 24
KEPT = {"saves": "samples", "comes_back": "exact", "on_layout_change": "keep"}


def crashed(steps, crashes, order="shuffle", **loader):
    """A run of so many steps on 4 ranks; `crashes`: the ranks after the crash at each step."""
    return simulate(
        load_scenario(
            {
                "run": {"steps": steps},
                "model": {"global_batch": B, "step_time": "1 s"},
                "cluster": {"nodes": 4, "gpus_per_node": 1},
                "failures": [{"cause": "crash", "at_steps": list(crashes), "data": list(crashes.values())}],
                "checkpoint": {"every": "5 steps"},
                "data": {"samples": N, "shards": 24, "order": order},
                "loader": {**KEPT, **loader},
            }
        )
    )


@pytest.mark.parametrize("workers", [1, 2, 3, 4])
def test_what_is_beyond_no_end_begins_no_epoch_again(workers):
    """The parts of several workers have no end together either."""
    run = crashed(100, {48: 4}, partition="strided", repeats=0, readers_per_rank=workers, past_end="restart-epoch")
    assert (run.account.extra, run.account.missing, run.identical_steps) == (0, 0, 100)


@pytest.mark.parametrize("epochs", [2, 3, 5])
def test_the_plan_of_a_budget_of_steps_ends_with_it(epochs):
    """However many epochs a part holds beyond the run's last step, they are not planned."""
    run = crashed(60, {48: 4}, partition="strided", repeats=epochs)
    assert (run.planned_steps, run.account.extra, run.account.missing) == (60, 0, 0)
