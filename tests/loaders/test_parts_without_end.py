"""Parts that repeat in themselves: so many epochs, or without end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustersim import ScenarioError, load_scenario, simulate
from clustersim.data.corpus import Corpus
from clustersim.data.orders import order_of
from clustersim.loaders.listed import Shares

N, B = 960, 24
KEPT = {"saves": "samples", "comes_back": "exact", "on_layout_change": "keep"}


def stated(steps, crashes, order="shuffle", **loader):
    """A run of so many steps on 4 ranks; `crashes`: the ranks after the crash at each step."""
    return load_scenario(
        {
            "run": {"steps": steps},
            "model": {"global_batch": B, "step_time": "1 s"},
            "cluster": {"nodes": 4, "gpus_per_node": 1},
            "failures": [{"cause": "crash", "at_steps": list(crashes), "data": list(crashes.values())}]
            if crashes
            else [],
            "checkpoint": {"every": "5 steps"},
            "data": {"samples": N, "shards": 24, "order": order},
            "loader": {**KEPT, **loader},
        }
    )


def crashed(*args, **loader):
    """The run of what is `stated`."""
    return simulate(stated(*args, **loader))


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


@pytest.mark.parametrize("repeats", [2, 3, 0])
@pytest.mark.parametrize(("order", "partition"), [("shuffle", "strided"), ("shard-shuffle", "shards")])
@pytest.mark.parametrize("same", [True, False])
def test_a_part_that_repeats_with_one_seed_is_read_alike_each_time(order, partition, repeats, same):
    """Every epoch of 40 steps is the first one again, if the seed knows of no other epoch."""
    keys = {"order_epoch": "same"} if same else {}
    run = crashed(80, {48: 4}, order, partition=partition, repeats=repeats, **keys)
    assert all(np.array_equal(run.batch(step), run.batch(step + 40)) for step in range(40)) == same
    assert (run.account.extra, run.account.missing, run.identical_steps) == (0, 0, 80)


@given(
    st.integers(1, 60), st.lists(st.integers(1, 6), min_size=1, max_size=4), st.integers(0, 200),
    st.tuples(st.integers(0, 70), st.integers(0, 70)),
)  # fmt: skip
def test_a_share_of_the_input_is_what_lies_in_the_slices_of_its_batches(size, batches, origin, places):
    order = order_of("shuffle", Corpus(size, 1), 0, 0)
    shares = Shares(order, 0, 2, origin, np.array(batches))
    keeps = np.repeat(np.arange(len(batches)), batches)  # of each place in a batch of all
    samples = order.samples_at(0, 2, np.arange(size))
    for reader, length in enumerate(shares.lengths.tolist()):
        own = [x for place, x in enumerate(samples.tolist(), origin) if keeps[place % sum(batches)] == reader]
        assert length == len(own)
        assert shares.read(reader, *sorted(places)).tolist() == own[slice(*sorted(places))]


SHUFFLED = {"buffer": 16, "buffer_saved": True}
GONE_THROUGH = [
    ("sequential", {"partition": "filtered", "buffer_kind": "lazy", **SHUFFLED}),
    ("shuffle", {"partition": "filtered"}),
    ("shuffle", {"partition": "slices", "missing_state": "rank-0"}),
    ("shuffle", {"partition": "strided", "last_batch": "short", **SHUFFLED}),
    ("shuffle", {"partition": "contiguous", "buffer": 16}),
    ("shard-shuffle", {"partition": "shards"}),
    ("shard-shuffle", {"partition": "shards", "readers_per_rank": 2, "buffer_kind": "half-flush", **SHUFFLED}),
    ("shard-shuffle", {"partition": "contiguous-shards", "buffer_kind": "window", "buffer": 10}),
]


@pytest.mark.parametrize(("order", "loader"), GONE_THROUGH)
def test_parts_without_end_are_parts_that_hold_more_than_the_run_reads(order, loader):
    """They are dealt out as they are come to, and read as parts whose epochs were all there from the start."""
    crashes = {33: 3, 71: 2, 118: 4}
    endless, held = (crashed(150, crashes, order, **loader, repeats=repeats) for repeats in (0, 20))
    assert endless.digests == held.digests
    assert endless.steps == endless.planned_steps == 150
    batches = [(endless.batch(step).tolist(), held.batch(step).tolist()) for step in range(150)]
    assert all(ours == theirs for ours, theirs in batches)
    assert endless.identical_steps == held.identical_steps


@pytest.mark.parametrize(("order", "loader"), GONE_THROUGH)
def test_a_sample_is_found_each_time_that_a_part_yields_it(order, loader):
    run = crashed(150, {33: 4}, order, **loader, repeats=0)
    batches = np.concatenate([run.batch(step) for step in range(150)])
    for sample in (0, 5, 500):
        story = run.sample(sample)
        kept = story[story["fate"] == "kept"]
        assert len(kept) == run.counts.seen[sample] == (batches == sample).sum() > 2
        assert all(sample in run.batch(step) for step in kept["step"])


@pytest.mark.parametrize(
    ("loader", "expected"),
    [
        ({"partition": "filtered"}, "at most 9.6e+06 samples in the run, which are gone through one by one"),
        ({"partition": "shards", "interleave": 2}, "at least 1 with loader.interleave, if no run.epochs says when"),
    ],
)
def test_what_cannot_be_gone_through_is_refused(loader, expected):
    with pytest.raises(ScenarioError, match=f"loader.repeats: expected {expected}".replace("+", r"\+")):
        stated(50_000_000, {}, "shard-shuffle", **loader, repeats=0)
