"""More kinds of trouble for any numbers: shards and ranks that do not fit, orders, draws, whose state, and the cure."""

import math
import re
import shlex
import statistics
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loaders.test_public_case_kinds import CASES, case, damage, some

from clustersim import load_scenario, simulate
from clustersim.scenario import ScenarioError, parse_override


@some
@given(st.integers(2, 9), st.integers(1, 8), st.integers(1, 9))
def test_fewer_shards_than_ranks(ranks, shards, rows):
    """No step is possible, so it is refused; where the ranks read rows each has its share."""
    sizes = {"cluster__nodes": ranks, "model__global_batch": ranks, "data__samples": rows * ranks}
    shards = min(shards, ranks - 1)
    with pytest.raises(ScenarioError, match=rf"data\.shards: expected at least {ranks}\b"):
        case("05*", **sizes, data__shards=shards)
    assert damage(case("05*", **sizes, data__shards=shards, loader__partition="strided")) == (0, 0)


@some
@given(st.integers(2, 6), st.integers(1, 20), st.integers(1, 30))
def test_one_ranks_state_for_all(ranks, batch, checkpoint):
    """Ranks that take less a step than rank 0 come back too far: what lies between is never seen."""
    batch += ranks
    least, longer = divmod(batch, ranks)
    most = least + (longer > 0)
    sizes = {
        "cluster__nodes": ranks,
        "model__global_batch": batch,
        "data__samples": 40 * most * ranks,
        "checkpoint__every": f"{checkpoint} steps",
        "failures__0__at_steps": [checkpoint],
    }
    read, back, planned = checkpoint * least, checkpoint * most, 40 * least
    run = case("10*", **sizes)
    never = (ranks - longer) * max(0, min(back, planned) - read) if longer else 0
    assert (run.summary()["never_seen_samples"], run.steps) == (never, 40)
    assert case("10*", **sizes, loader__state_of="each").account.extra == 0


@some
@given(st.integers(1, 99), st.integers(1, 64), st.floats(0.1, 4))
def test_a_budget_in_tokens_of_any_number_of_epochs(steps, batch, epochs):
    """The budget of T tokens takes T / (B x length) steps, rounded up, however many epochs that is."""
    sizes = {"model__global_batch": batch, "data__samples": steps * batch}
    assert case("19-epoch-not-in-the-budget", **sizes).steps == steps
    tokens = round(epochs * steps * batch * 2048)
    run = case("19-epoch-not-in-the-budget", **sizes, run__epochs=None, run__tokens=f"{tokens}")
    assert run.steps == -(-tokens // (batch * 2048))


@pytest.mark.parametrize(("size", "share"), [(1000, 0.1), (400, 0.5), (2000, 0.7)])
def test_an_epoch_that_is_not_in_the_seed(size, share):
    """N p (1 - p) are seen twice and as many never in the mean; in epoch 0 nothing."""
    name, steps, at = "19-epoch-not-in-the-seed", size // 10, round(share * size / 10)
    sizes = {"data__samples": size, "checkpoint__every": f"{math.gcd(at, steps)} steps"}
    runs = [case(name, **sizes, run__seed=seed, failures__0__at_steps=[steps + at]) for seed in range(25)]
    extra = [damage(run)[0] for run in runs]
    assert extra == [damage(run)[1] for run in runs]
    off = statistics.mean(extra) - size * share * (1 - share)
    assert abs(off) < 4 * statistics.stdev(extra) / 5
    assert damage(case(name, **sizes, failures__0__at_steps=[at])) == (0, 0)


@pytest.mark.parametrize(("shards", "rows", "epochs"), [(14, 10, 1), (40, 3, 2), (200, 2, 1)])
def test_shards_drawn_with_replacement(shards, rows, epochs):
    """n (1 - 1/n)^(E n) shards are never drawn in E epochs of n; without replacement none."""
    sizes = {"data__samples": shards * rows, "data__shards": shards, "model__global_batch": rows, "run__epochs": epochs}
    name = "21-shards-drawn-with-replacement"
    tables = [case(name, **sizes, run__seed=seed).account.table for seed in range(40)]
    unseen = [int(table.samples[table.seen == 0].sum()) for table in tables]
    off = statistics.mean(unseen) - rows * shards * (1 - 1 / shards) ** (epochs * shards)
    assert abs(off) < 4 * statistics.stdev(unseen) / 40**0.5
    assert damage(case(name, **sizes, data__order="shard-shuffle")) == (0, 0)


@some
@given(st.integers(1, 16), st.integers(0, 40), st.integers(1, 30), st.integers(1, 400), st.integers(1, 300))
def test_a_buffer_larger_than_the_shards_of_a_reader(ranks, more, rows, buffer, done):
    """It holds min(n - y, B) of the n samples of its reader, and the reader with the fewest left ends the epoch."""
    shards = ranks + more
    held = [rows * (shards // ranks + (rank < shards % ranks)) for rank in range(ranks)]
    done = min(done, min(held))
    steps = done + min(n - min(n, done + buffer) for n in held)
    run = case(
        "21-buffer*",
        cluster__nodes=ranks,
        model__global_batch=ranks,
        data__samples=shards * rows,
        data__shards=shards,
        loader__buffer=buffer,
        checkpoint__every=f"{done} steps",
        failures__0__at_steps=[done],
    )
    if done == min(held):  # at the epoch's end nobody comes back into it
        steps = done
    assert (run.steps, damage(run)) == (steps, (0, shards * rows - steps * ranks))


def sound_loaders():
    """The files whose loader does no harm once a key of it is changed, and that change."""
    found = []
    for path in sorted(CASES.glob("*.toml")):
        for words, claimed in re.findall(r"^# Sound((?: --set .+?)+): (.+)$", path.read_text("utf-8"), re.MULTILINE):
            changes = dict(parse_override(word) for word in shlex.split(words) if word != "--set")
            has_crashes = "at_steps" in path.read_text("utf-8")
            if "extra 0, missing 0" in claimed and has_crashes and any(key.startswith("loader.") for key in changes):
                found.append(pytest.param(path, changes, id=path.stem))
    return found


@pytest.mark.parametrize(("path", "changes"), sound_loaders())
def test_a_sound_loader_is_sound_wherever_it_crashes(path, changes):
    random = Random(path.stem)
    at_steps = load_scenario(path, changes).failures[0].at_steps
    steps = simulate(load_scenario(path, changes)).steps
    for _ in range(5):
        crash = random.randrange(max([0, *at_steps[:-1]]) + 1, steps)
        every = {"failures.0.at_steps": [*at_steps[:-1], crash], "checkpoint.every": f"{random.randint(1, 9)} steps"}
        assert damage(simulate(load_scenario(path, {**changes, **every}))) == (0, 0), every
