"""Reads of every n-th offset: counted by sample, and told by plain reads of the same law."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustersim import load_scenario, simulate
from clustersim.account import Draws, count, count_identity
from clustersim.account.residues import flatten

COLUMNS = ("family", "epoch", "epochs", "start", "stop", "step", "lead", "per_step", "modulus", "low", "high", "every")


def draws_of(rows):
    """Rows (epoch, start, stop, modulus, low, high) as draws of 10 offsets a step."""
    full = [(0, epoch, 1, start, stop, start // 10, start % 10, 10, *ragged, 1) for epoch, start, stop, *ragged in rows]
    columns = np.array(full, dtype=np.int64).reshape(-1, len(COLUMNS)).T.copy()
    return Draws(**dict(zip(COLUMNS, columns, strict=True)))


@st.composite
def reads(draw, size):
    rows = []
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, size - 1))
        modulus = draw(st.integers(1, 7))
        low = draw(st.integers(0, modulus - 1))
        stop = draw(st.integers(start + 1, size))
        rows.append((0, start, stop, modulus, low, draw(st.integers(low + 1, modulus))))
    return draws_of(rows)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data(), st.integers(1, 90))
def test_in_one_permutation_the_ledger_is_that_of_a_count(account, data, size):
    planned, seen = data.draw(reads(size)), data.draw(reads(size))
    spaces = account.uniform(size)
    rng = np.random.default_rng(0)
    by_law, by_sample = count(spaces, planned, seen, rng), count_identity(spaces, planned, seen).ledger()
    assert [column.tolist() for column in by_law.table] == [column.tolist() for column in by_sample.table]
    plain = flatten(planned, seen, same_every_epoch=False)
    assert [each.views() for each in plain] == [planned.views(), seen.views()]
    assert all((each.modulus == 1).all() for each in plain)


def growing(account, seed):
    """Two ranks grow to four, which do not stand alike, and shrink to three."""
    return simulate(
        load_scenario(
            {
                "run": {"steps": 110, "account": account},
                "model": {"global_batch": 24, "step_time": "1 s"},
                "cluster": {"nodes": 4, "gpus_per_node": 1},
                "failures": [{"cause": "crash", "at_steps": [0, 23, 61], "data": [2, 4, 3]}],
                "checkpoint": {"every": "5 steps"},
                "data": {"samples": 960},
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


def test_too_many_strides_are_told():
    rows = [(0, 0, 10**15, prime, 0, 1) for prime in (2039, 2029, 2027, 2017)]
    with pytest.raises(ValueError, match="4 groups of ranks read by strides that repeat after"):
        flatten(draws_of(rows), draws_of([]), same_every_epoch=False)
