"""The unread remainder of an epoch, shuffled anew at every restart."""

from unittest.mock import Mock

import numpy as np
import pytest
from scipy import stats

from clustersim import load_scenario, simulate
from clustersim.loaders.remainder import RemainderSpaces


def run(steps, at_steps, account, seed=0, samples=800, **overrides):
    return simulate(
        load_scenario(
            {
                "run": {"steps": steps, "account": account},
                "model": {"global_batch": 10, "step_time": "1 s"},
                "cluster": {"nodes": 4, "gpus_per_node": 1},
                "failures": [{"cause": "crash", "at_steps": at_steps}],
                "checkpoint": {"every": "5 steps"},
                "data": {"samples": samples},
                "loader": {"preset": "unseen-remainder"},
            },
            overrides,
        ),
        seed=seed,
    )


def test_an_epoch_is_read_once_whatever_the_restarts():
    crashed = run(160, [23, 41, 112], "identity")
    assert crashed.ledger.to_dict("list") == {"planned": [2], "seen": [2], "samples": [800]}
    assert crashed.exact == "identity"
    planned = run(160, [200], "identity")
    same = [sorted(crashed.batch(k)) == sorted(planned.batch(k)) for k in range(160)]
    assert same == [k < 20 or 80 <= k < 110 for k in range(160)]
    assert crashed.identical_steps == 50


def test_what_follows_a_restart_is_new_each_time():
    one, two = run(80, [23], "identity"), run(80, [23, 41], "identity")
    assert [one.batch(k).tolist() == two.batch(k).tolist() for k in (0, 25, 39, 40, 79)] == [True] * 3 + [False] * 2


def test_an_epoch_that_has_just_begun_is_all_unread():
    """Back at step 80, an epoch's start, 40 of whose 80 steps follow: 400 of 800 samples, half of the planned ones."""
    runs = [run(120, [83], "identity", seed) for seed in range(100)]
    assert {crashed.identical_steps for crashed in runs} == {80}
    error = stats.hypergeom(800, 400, 400).std() / np.sqrt(len(runs))
    assert abs(np.mean([crashed.account.extra for crashed in runs]) - 200) < 4 * error


@pytest.mark.parametrize("at_steps", [[23], [83], [23, 61, 112]])
def test_interval_and_identity_have_one_law(at_steps):
    rows = {account: [run(130, at_steps, account, seed) for seed in range(200)] for account in ("identity", "interval")}
    for figure in (lambda r: r.account.extra, lambda r: r.account.missing, lambda r: r.damage.extra_views.iloc[0]):
        by_sample, by_law = ([figure(r) for r in rows[account]] for account in ("identity", "interval"))
        if np.ptp(by_sample) == 0:
            assert by_law == by_sample
        else:
            assert stats.ks_2samp(by_sample, by_law).pvalue > 1e-3
    assert {r.exact for r in rows["interval"]} == ({"identity"} if at_steps == [23] else {"distribution"})


def test_the_mean_is_the_hypergeometric_one():
    # 400 of 800 samples are read in order, then 200 of the other 400 at random: half of the planned 200 are among them.
    extras = [run(60, [42], "interval", seed).account.extra for seed in range(300)]
    error = stats.hypergeom(400, 200, 200).std() / np.sqrt(300)
    assert abs(np.mean(extras) - 100) < 4 * error


def test_it_counts_at_any_size():
    crashed = run(60, [42], "auto", samples=4 * 10**12, **{"model.global_batch": 5 * 10**10})
    share = crashed.account.extra / (4 * 10**12)
    assert share == pytest.approx(0.125, rel=1e-4)
    assert crashed.damage.extra_views.tolist() == [crashed.account.extra]
    assert len(crashed.sample(7)) <= 3


def test_the_damage_after_many_restarts_is_told_of_all_at_once(monkeypatch):
    """Small epochs, and a restart in each: sample by sample, but for the last row, which is the account's own."""
    counted = Mock(wraps=RemainderSpaces.in_the_runs_order)
    monkeypatch.setattr(RemainderSpaces, "in_the_runs_order", lambda *given: counted(*given))
    by_sample, by_law = (
        run(1003, list(range(3, 1000, 7)), account, samples=80) for account in ("identity", "interval")
    )
    rows = by_law.damage
    assert counted.call_count == 1
    for name in ("extra_views", "missing_views"):
        assert rows[name].tolist()[:-1] == by_sample.damage[name].tolist()[:-1]
    last = (by_law.account.extra, by_law.account.missing)
    assert (rows.extra_views.iloc[-1], rows.missing_views.iloc[-1]) == last
