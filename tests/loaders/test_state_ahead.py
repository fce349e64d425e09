"""A checkpoint that holds the loader's state of another step than its weights': so many batches twice, or never."""

import pytest

from clustersim import ScenarioError, load_scenario, simulate

N, B = 960, 24
EXACT = {"saves": "samples", "comes_back": "exact"}
LOADERS = [
    EXACT,
    {"saves": "batches", "comes_back": "exact", "last_batch": "short"},
    {"saves": "steps", "comes_back": "exact", "last_batch": "short"},
    {**EXACT, "partition": "strided", "on_layout_change": "keep"},
    {**EXACT, "partition": "shards", "on_layout_change": "keep"},
]
CRASHES = [13, 24]  # within an epoch; the checkpoints before them are those of steps 10 and 20


def crashed(ahead, loader, ends, every=5, crashes=CRASHES, **changed):
    order = "shard-shuffle" if loader.get("partition") == "shards" else "shuffle"
    return simulate(
        load_scenario(
            {
                "run": {"epochs": 2} if ends == "E" else {"steps": 35},
                "model": {"global_batch": B, "step_time": "1 s"},
                "cluster": {"nodes": 4, "gpus_per_node": 1},
                "failures": [{"cause": "crash", "at_steps": crashes}],
                "checkpoint": {"every": f"{every} steps"},
                "data": {"samples": N, "shards": 24, "order": order},
                "loader": {**loader, "state_ahead": ahead},
                **changed,
            }
        )
    )


def damage(run):
    figures = run.summary()
    return figures["extra_views_ideal"], figures["missing_views_ideal"], run.steps


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("ahead", [-4, -1, 1, 2])
def test_so_many_batches_a_restart_are_read_twice_or_never(loader, ahead):
    """To the ends of the epochs: |d| B views a restart, and the run is as many steps longer or shorter.

    Who saves the steps of the run is told them by the trainer: the second restart adds nothing to the first.
    """
    restarts = 1 if loader["saves"] == "steps" else len(CRASHES)
    views = abs(ahead) * B * restarts
    assert damage(crashed(ahead, loader, "E")) == (views * (ahead < 0), views * (ahead > 0), 80 - ahead * restarts)


@pytest.mark.parametrize("account", ["identity", "interval"])
@pytest.mark.parametrize("ahead", [-4, 2])
def test_in_a_budget_of_steps_others_are_pushed_out_or_make_up(account, ahead):
    run = crashed(ahead, EXACT, "T", run={"steps": 35, "account": account})
    views = abs(ahead) * B * len(CRASHES)
    assert damage(run) == (views, views, 35)


@pytest.mark.parametrize(("until", "ahead", "views"), [(120, -4, 144), (216, -4, 120), (120, 2, 96), (216, 2, 72)])
def test_batches_that_grow_are_as_large_as_those_of_the_steps_between(until, ahead, views):
    """Steps 0 to 9, or to 17, are of 12 samples: of the states of 4 steps before 10 and 20, or of 2 steps after."""
    ramp = {"global_batch": B, "step_time": "1 s", "batch_ramp": [{"until_samples": until, "global_batch": 12}]}
    assert damage(crashed(ahead, EXACT, "T", model=ramp)) == (views, views, 35)


def test_each_corpus_of_a_mixture_is_behind_by_its_share_of_so_many_steps():
    corpora = [{"name": "a", "samples": 6000, "weight": 3}, {"name": "b", "samples": 3600, "weight": 1}]
    run = crashed(-4, EXACT, "T", data={"corpora": corpora})
    figures = run.summary()
    assert (figures["extra_views.a"], figures["extra_views.b"]) == (2 * 4 * 18, 2 * 4 * 6)


@pytest.mark.parametrize("ahead", [-4, 2])
def test_survivors_in_place_know_where_they_are_whatever_a_checkpoint_holds(ahead):
    """One is lost in step 12, and another in the same step when they have regrouped: nobody comes back from a file."""
    lost = [{"cause": "lost", "at_times": ["12.5 s", "14.5 s"], "data": [3, 2]}]
    recovery = {"policy": "shrink", "in_place": True, "regroup": "1 s"}
    run = crashed(ahead, EXACT, "E", failures=lost, recovery=recovery)
    assert [(leg.start, leg.stop, leg.data) for leg in run.history.legs] == [(0, 12, 4), (12, 12, 3), (12, 80, 2)]
    assert damage(run) == (0, 0, 80)


def test_none_is_from_before_the_last_restart():
    """Saved at every step: what the first of them has is what the loader came back to, one batch behind the weights."""
    run = crashed(-4, EXACT, "E", every=1, crashes=[10, 11])
    # Step 10 was saved with the state of step 6, which step 11 still has: it is 4, and then 5 batches behind.
    assert damage(run) == (5 * B, 0, 85)


def test_survivors_in_place_come_back_from_no_checkpoint():
    recovery = {"policy": "shrink", "in_place": True}
    failures = [{"cause": "loss", "at_steps": [13, 24], "data": [3, 2]}]
    for loader in (EXACT, {**EXACT, "partition": "strided", "on_layout_change": "reshard"}):
        assert damage(crashed(-4, loader, "E", failures=failures, recovery=recovery)) == (0, 0, 80)


@pytest.mark.parametrize(
    ("loader", "error"),
    [
        ({"preset": "no-rewind", "state_ahead": 1}, r'expected saves = "samples" or .* beside 1, found "nothing"'),
        (
            {**EXACT, "comes_back": "continue", "state_ahead": 1},
            r'expected comes_back = "exact" or .*, found "continue"',
        ),
        ({**EXACT, "state_ahead": 10_001}, r"expected a whole number from -10000 to 10000, found 10001"),
        ({**EXACT, "state_ahead": 0.5}, r"expected a whole number, found 0\.5"),
    ],
)
def test_what_saves_no_state_has_none_of_another_step(loader, error):
    with pytest.raises(ScenarioError, match=r"loader\.state_ahead: " + error):
        crashed(loader["state_ahead"], loader, "E")


def test_poison_is_met_at_a_step_that_is_known():
    with pytest.raises(ScenarioError, match=r"loader\.state_ahead: expected 0 with \[poison\], .*, found 2"):
        crashed(2, EXACT, "T", poison={"samples": [5], "act": "skip-batch"})
