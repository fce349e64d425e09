"""Buffers that are lost: what is read of the parts behind them, sample by sample and by intervals."""

from unittest.mock import Mock

import numpy as np
import pytest

from clustersim import ScenarioError, load_scenario, simulate
from clustersim.loaders import holes, readers
from clustersim.loaders.buffers import Buffer


def run(account, seed=0, at=(22,), data=3, every=20, **overrides):
    """960 samples in 24 shards, 24 a step, twice: configuration A; four ranks until the first crash, then `data`."""
    return simulate(
        load_scenario(
            {
                "run": {"epochs": 2, "account": account},
                "model": {"global_batch": 24, "step_time": "1 s"},
                "cluster": {"nodes": 4, "gpus_per_node": 1},
                "failures": [{"cause": "crash", "at_steps": list(at), "data": [data] * len(at)}],
                "checkpoint": {"every": f"{every} steps"},
                "data": {"samples": 960, "shards": 24, "order": "shard-shuffle"},
                "loader": {"preset": "torchdata-iterable-buffer", "buffer": 64},
            },
            overrides,
        ),
        seed=seed,
    )


@pytest.mark.parametrize("data", [4, 3, 2])
@pytest.mark.parametrize("at", [(22,), (22, 41, 63), (3, 9, 12, 30, 31, 70)])
@pytest.mark.parametrize(
    "loader",
    [
        {},
        {"loader.buffer_kind": "half-flush"},
        {"loader.buffer_kind": "chunk", "loader.buffer": 7},
        {"loader.readers_per_rank": 2},
        {"loader.comes_back": "restart-epoch"},
        {"loader.buffer_seed": "fresh"},
        {"data.order": "sequential", "loader.partition": "contiguous"},
    ],
)
def test_small_runs_are_counted_alike_to_the_sample(loader, at, data):
    by_sample, by_interval = (run(account, 0, at, data, 5, **loader) for account in ("identity", "interval"))
    assert by_interval.exact == "identity"
    assert by_interval.shards.equals(by_sample.shards)
    assert by_interval.damage.equals(by_sample.damage)
    assert by_interval.account_ideal.table[2].tolist() == by_sample.account_ideal.table[2].tolist()


def test_the_flows_before_each_of_many_restarts_are_not_counted_anew(monkeypatch):
    counted = Mock(wraps=readers.reads_behind)
    monkeypatch.setattr(readers, "reads_behind", counted)
    assert len(run("interval", at=tuple(range(10, 32, 3)), every=1).damage) == 8
    assert counted.call_count == 1


def test_what_is_lost_crowds_where_the_buffers_had_pulled_to():
    extras = [run("interval", seed).account_ideal.extra for seed in range(100)]
    assert abs(np.mean(extras) - 52) < 5


STEPS = {"run.epochs": None, "data.samples": 9600}
CASES = {
    "fewer ranks": ({"at": (22,)}, {}),
    "ends within an epoch": ({"at": (52, 240), "data": 4, "every": 50}, {**STEPS, "run.steps": 300}),
    "fewer ranks within an epoch": ({"at": (52, 240), "data": 3, "every": 50}, {**STEPS, "run.steps": 330}),
    "half flushed": (
        {"at": (52, 240), "data": 4, "every": 50},
        {**STEPS, "run.steps": 300, "loader.buffer_kind": "half-flush"},
    ),
    "uniform": (
        {"at": (52, 240), "data": 4, "every": 50},
        {**STEPS, "run.steps": 430, "data.order": "shuffle", "loader.partition": "contiguous"},
    ),
    "many restarts": ({"at": tuple(range(10, 560, 18)), "data": 4, "every": 3}, {**STEPS, "run.steps": 560}),
}


# With 0 flows that follow each other are one stretch, which is for sixteen thousand readers and hundreds of restarts:
# where other ranks read on in the same epoch, few and long ones are not alike enough for it.
@pytest.mark.parametrize(
    ("case", "windows"),
    [*((case, 2**18) for case in CASES), *((case, 0) for case in CASES if case != "fewer ranks within an epoch")],
)
def test_large_runs_have_the_same_means(case, windows, monkeypatch):
    legs, overrides = CASES[case]
    figures = {}
    monkeypatch.setattr(holes, "_MOST_PLAYED", 0)
    monkeypatch.setattr(holes, "_MOST_WINDOWS", windows)
    for account in ("identity", "interval"):
        runs = [run(account, seed, **legs, **overrides) for seed in range(30)]
        figures[account] = np.array([(each.account.extra, each.account.missing) for each in runs], float)
        assert len({each.account.views for each in runs}) == 1
    a, b = figures["identity"], figures["interval"]
    error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / 30) + 0.5
    assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) < 4 * error).all()


# Of each case the most by which a row may be off, as in a shard that several flows have crossed all samples are taken
# for alike, and a buffer of 64 is no small part of it.
ROWS = {"classic": ({}, 0.06), "workers": ({"loader.readers_per_rank": 2}, 0.06)}
ROWS["half flushed"] = {"loader.buffer_kind": "half-flush"}, 0.13


@pytest.mark.parametrize("case", ROWS)
def test_damage_after_each_of_many_restarts_is_that_of_the_samples(case, monkeypatch):
    """Four to eight readers, 31 restarts in two epochs, which the lineage begins sooner than the plan."""
    overrides, bound = ROWS[case]
    monkeypatch.setattr(holes, "_MOST_PLAYED", 0)
    monkeypatch.setattr(holes, "_MOST_WINDOWS", 0)
    by_fronts, rows = Mock(wraps=holes.damage_by_fronts), {}
    monkeypatch.setattr(holes, "damage_by_fronts", by_fronts)
    for account in ("identity", "interval"):
        legs = {"at": tuple(range(10, 560, 18)), "data": 4, "every": 3}
        tables = [run(account, seed, **legs, **STEPS, **{"run.steps": 560}, **overrides).damage for seed in range(10)]
        rows[account] = np.array([(table.extra_views, table.missing_views) for table in tables], float)
    assert by_fronts.call_count == 10
    true, told = rows["identity"], rows["interval"]
    assert true.shape == (10, 2, 31)
    error = np.sqrt((true.var(axis=0) + told.var(axis=0)) / 10)
    off = np.abs(true.mean(axis=0) - told.mean(axis=0))
    assert (off < 4 * error + bound * true.mean(axis=0)).all()


def test_on_the_same_ranks_the_loss_is_exact_at_any_size(monkeypatch):
    monkeypatch.setattr(holes, "_MOST_PLAYED", 0)
    lost = run("interval", at=(22, 41), data=4)
    assert (lost.account.extra, lost.account.missing) == (0, 4 * 64 * 2)
    lost = run("interval", at=(22, 41), data=4, **{"loader.buffer_kind": "half-flush"})
    # Filled up by 32 until 20 steps of 6 were out, 160 of 240 were pulled; the other 80 last for 14 steps, and 6 steps
    # into the next epoch 96 are pulled.
    assert lost.account.missing == 4 * (160 - 120) + 4 * (96 - 36)


@pytest.mark.parametrize("kind", ["classic", "half-flush"])
@pytest.mark.parametrize("yielded", [5, 40, 333])
@pytest.mark.parametrize("size", [1, 2, 15, 16])
def test_the_ages_of_what_a_buffer_holds_are_those_of_its_play(kind, size, yielded):
    buffer, tiers = Buffer(size, kind), 5
    source = np.arange(3000)
    pulled = int(buffer.pulled(np.array(yielded), np.array(0)))
    bounds, shares = buffer.ages(np.array([yielded]), tiers)
    found = []
    for seed in range(600):
        held = buffer.play(source[:0], source, yielded, np.random.default_rng(seed))[1]
        assert len(held) == pulled - yielded
        found.append(-np.diff((pulled - held[:, None] > bounds[:, 0]).sum(axis=0)))
    found = np.array(found)
    expected = shares[:, 0] * (pulled - yielded)
    error = np.sqrt(found.var(axis=0) / len(found)) + 1e-3
    assert (np.abs(found.mean(axis=0) - expected) < 4.5 * error).all()


LARGE = {"data.samples": 10**9, "data.shards": 2000, "model.global_batch": 24_000, "loader.buffer": 1000}


def test_at_any_size_views_are_conserved_and_each_buffer_is_lost_once():
    steps = {"run.epochs": None, "run.steps": 2000, **LARGE}
    lost = run("auto", at=(22, 410, 1300), data=4, **steps)
    assert (lost.account.planned_views, lost.account.views) == (48 * 10**6, 48 * 10**6)
    # What the lost buffers held lies within the plan, and as much is read beyond it. At the end the buffers have pulled
    # 3,000 samples farther: what they still hold from before then, at an age a > 3,000 with the chance e^(-a / 1000),
    # is missing where the plan's own do not hold it, which they do with e^(-(a - 3,000) / 1000).
    expected = 3 * 4 * 1000 + 4 * 1000 * np.exp(-3) / 2
    assert lost.account.extra == lost.account.missing
    assert abs(lost.account.extra - expected) < 4 * 10
    assert int(lost.shards.samples.sum()) == 10**9
    assert len(lost.damage) == 3


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("loader.buffer_saved", True),
        ("loader.buffer_kind", "window"),
        ("loader.repeats", 2),
        ("data.order", "with-replacement"),
    ],
)
def test_buffers_that_are_counted_one_by_one_are_refused_where_they_are_too_many(key, value):
    said = key.removeprefix("loader.")
    with pytest.raises(ScenarioError, match=f"at most 10 M samples, which are counted one by one with .*{said} = "):
        run("auto", **LARGE, **{key: value})
