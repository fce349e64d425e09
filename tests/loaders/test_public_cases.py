"""Loaders in public trouble reports: the sound value, and the damage that was done."""

import pytest

from clustersim import load_scenario, simulate


def case(steps_an_epoch, epochs, fail_at, checkpoint, loader, batch=4, **run):
    return load_scenario(
        {
            "name": "a public case",
            "run": run or {"epochs": epochs},
            "model": {"global_batch": batch, "step_time": "1 s"},
            "cluster": {"nodes": 4, "gpus_per_node": 1},
            "failures": [{"cause": "scripted", "at_steps": [fail_at], "data": [loader.pop("ranks_after", 4)]}],
            "checkpoint": {"every": f"{checkpoint} steps"},
            "data": {"samples": steps_an_epoch * batch},
            "loader": loader,
        }
    )


SOUND = {"saves": "samples", "comes_back": "exact"}


@pytest.mark.parametrize(("epoch", "batch"), [(60, 4), (12, 7)])
def test_a_finished_loader_trains_nothing_after_a_checkpoint_at_the_end_of_an_epoch(epoch, batch):
    """60 of 120 steps and a success (verl-project/verl#5725)."""
    sound = simulate(case(epoch, 2, epoch + 3, epoch // 4, {**SOUND}, batch))
    assert (sound.steps, sound.account.extra, sound.account.missing) == (2 * epoch, 0, 0)
    fault = simulate(case(epoch, 2, epoch + 1, epoch // 4, {**SOUND, "epoch_edge": "finished"}, batch))
    assert (fault.steps, fault.history.outcome) == (epoch, "done")
    assert (fault.account.extra, fault.account.missing) == (0, epoch * batch)
    inside = simulate(case(epoch, 2, epoch // 2 + 1, epoch // 4, {**SOUND, "epoch_edge": "finished"}, batch))
    assert (inside.account.extra, inside.account.missing) == (0, 0)


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_a_trainer_that_goes_on_with_the_next_epoch_skips_the_rest_of_one(share):
    """Stopped at 20 %: 80 % of the epoch are skipped (Lightning-AI/pytorch-lightning#5325)."""
    steps = int(100 * share)
    run = simulate(case(100, 3, steps + 1, steps, {"saves": "samples", "comes_back": "next-epoch"}))
    assert (run.account.extra, run.account.missing) == (0, round((1 - share) * 400))
    assert run.steps == 200 + steps


def test_a_trainer_that_restarts_the_epoch_repeats_what_was_read_of_it():
    """Saved at 40 %, killed, restarted at 0 % (Lightning-AI/pytorch-lightning#1182)."""
    run = simulate(case(100, 3, 45, 40, {"preset": "epoch"}))
    assert (run.account.extra, run.account.missing) == (160, 0)


@pytest.mark.parametrize(("edge", "extra"), [("new", 0), ("old", 400)])
def test_a_checkpoint_at_the_end_of_an_epoch_that_belongs_to_the_old_one_repeats_all_of_it(edge, extra):
    """Lightning-AI/pytorch-lightning#850."""
    run = simulate(case(100, 3, 104, 50, {"preset": "epoch", "epoch_edge": edge}))
    assert (run.account.extra, run.account.missing) == (extra, 0)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_a_loader_that_refuses_other_ranks_ends_the_run_with_all_counts_until_then(ranks):
    """Shrinking from 4 ranks (pytorch/torchtitan#811)."""
    loader = {**SOUND, "on_layout_change": "refuse"}
    run = simulate(case(100, 3, 57, 10, {**loader, "ranks_after": ranks}, steps=300))
    assert run.history.outcome == "refused"
    assert run.history.reason == f"the loader was saved by 4 ranks and refuses to come back on {ranks}"
    assert (run.steps, run.account.extra, run.account.missing, run.account.views) == (50, 0, 0, 200)
    assert simulate(case(100, 3, 57, 10, {**loader}, steps=300)).history.outcome == "done"
    reshard = simulate(case(100, 3, 57, 10, {**SOUND, "ranks_after": ranks}, steps=300))
    assert (reshard.steps, reshard.account.extra, reshard.account.missing) == (300, 0, 0)
