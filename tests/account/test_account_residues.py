"""Reads of every n-th offset: counted by sample, and told by plain reads of the same law."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustersim import load_scenario, simulate
from clustersim.account import Draws, count, count_identity, damage, damage_identity
from clustersim.account.residues import plain

COLUMNS = ("family", "epoch", "epochs", "start", "stop", "step", "lead", "per_step", "modulus", "low", "high", "every")
LENGTHS = (5, 1, 17, 0, 9, 30)


def draws_of(rows):
    """Rows (epoch, start, stop, modulus, low, high) as draws of 10 offsets a step."""
    full = [(0, epoch, 1, start, stop, start // 10, start % 10, 10, *ragged, 1) for epoch, start, stop, *ragged in rows]
    columns = np.array(full, dtype=np.int64).reshape(-1, len(COLUMNS)).T.copy()
    return Draws(**dict(zip(COLUMNS, columns, strict=True)))


@st.composite
def reads(draw, size, epochs=1):
    rows = []
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, size - 1))
        modulus = draw(st.integers(1, 7))
        low = draw(st.integers(0, modulus - 1))
        stop = draw(st.integers(start + 1, size))
        epoch = draw(st.integers(0, epochs - 1))
        rows.append((epoch, start, stop, modulus, low, draw(st.integers(low + 1, modulus))))
    return draws_of(rows)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data(), st.integers(1, 90))
def test_in_one_permutation_the_ledger_is_that_of_a_count(account, data, size):
    planned, seen = data.draw(reads(size)), data.draw(reads(size))
    spaces = account.uniform(size)
    rng = np.random.default_rng(0)
    by_law, by_sample = count(spaces, planned, seen, rng), count_identity(spaces, planned, seen).ledger()
    assert [column.tolist() for column in by_law.table] == [column.tolist() for column in by_sample.table]
    sides = plain(spaces, planned, seen)[1:]
    assert [each.views() for each in sides] == [planned.views(), seen.views()]
    assert all((each.modulus == 1).all() for each in sides)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data(), st.lists(st.integers(0, 9), max_size=4))
def test_in_one_permutation_damage_is_that_of_a_count(account, data, steps):
    size = 83
    planned, seen = data.draw(reads(size)), data.draw(reads(size))
    steps = np.array([*sorted(steps), 10])
    by_sample = damage_identity(account.uniform(size), planned, seen, steps)
    by_law = damage(account.uniform(size), planned, seen, steps, np.random.default_rng(0))
    assert by_law.extra[-1] == by_sample.extra[-1]
    if by_law.exact == "identity":
        assert (by_law.extra.tolist(), by_law.missing.tolist()) == (
            by_sample.extra.tolist(),
            by_sample.missing.tolist(),
        )


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data(), st.integers(0, 9), st.lists(st.integers(0, 6), max_size=4))
def test_in_blocks_they_are_exact_block_by_block(account, data, seed, steps):
    spaces = account.shards(LENGTHS, seed)
    planned, seen = data.draw(reads(spaces.size, 3)), data.draw(reads(spaces.size, 3))
    ledger, expected = count(spaces, planned, seen, None), count_identity(spaces, planned, seen).ledger()
    for column in ("cell", "planned", "seen", "samples"):
        assert getattr(ledger, column).tolist() == getattr(expected, column).tolist()
    steps = np.array([*sorted(steps), 7])
    by_block, by_sample = damage(spaces, planned, seen, steps, None), damage_identity(spaces, planned, seen, steps)
    assert (by_block.extra.tolist(), by_block.missing.tolist()) == (
        by_sample.extra.tolist(),
        by_sample.missing.tolist(),
    )


def growing(account, seed, order="shuffle"):
    """Two ranks grow to four, which do not stand alike, and shrink to three."""
    return simulate(
        load_scenario(
            {
                "run": {"steps": 110, "account": account},
                "model": {"global_batch": 24, "step_time": "1 s"},
                "cluster": {"nodes": 4, "gpus_per_node": 1},
                "failures": [{"cause": "crash", "at_steps": [0, 23, 61], "data": [2, 4, 3]}],
                "checkpoint": {"every": "5 steps"},
                "data": {"samples": 960, "order": order, "shards": 1 if order == "shuffle" else 24},
                "loader": {"preset": "torchdata-map"},
            }
        ),
        seed=seed,
    )


def test_ranks_that_do_not_stand_alike_have_one_law_in_both_modes():
    runs = {mode: [growing(mode, seed) for seed in range(150)] for mode in ("identity", "interval")}
    assert {run.exact for run in runs["interval"]} == {"distribution"}
    assert len({run.account.views for each in runs.values() for run in each}) == 1
    for figure in (lambda run: run.account.extra, lambda run: run.damage.extra_views.iloc[1]):
        a, b = (np.array([figure(run) for run in runs[mode]]) for mode in ("identity", "interval"))
        error = np.sqrt((a.var() + b.var()) / 150)
        assert abs(a.mean() - b.mean()) < 4 * error
        assert 0.7 < a.std() / b.std() < 1.4


def test_parts_of_every_shard_are_counted_without_their_samples():
    by_sample, by_shard = (growing(mode, 3, "shard-shuffle") for mode in ("identity", "interval"))
    assert by_shard.shards.equals(by_sample.shards)
    assert by_shard.damage.equals(by_sample.damage)


def test_too_many_strides_are_told():
    rows = [(0, 0, 10**15, prime, 0, 1) for prime in (2039, 2029, 2027, 2017)]
    spaces = type("Spaces", (), {"size": 10**15, "law": "uniform", "same_every_epoch": False})()
    with pytest.raises(ValueError, match="every 2017, 2027, 2029, 2039 samples meet in one epoch: too many"):
        plain(spaces, draws_of(rows), draws_of([]))
