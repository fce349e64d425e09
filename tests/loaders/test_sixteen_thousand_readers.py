"""The main job with 20,000 shards over 2,048 ranks of 8 workers: streams of one shard or two, and 466 restarts."""

import numpy as np
import pytest

from clustersim import load_scenario, simulate
from clustersim.loaders.follow import plan

RANKS, WORKERS, SHARDS = 2048, 8, 20_000
PARALLELISM = {"tensor": 8, "pipeline": 1, "context": 1, "data": RANKS, "min_data": RANKS // 2}
SETTING = {"parallelism": PARALLELISM, "loader.readers_per_rank": WORKERS, "data.shards": SHARDS}


def of(preset, **overrides):
    loader = {"loader.preset": preset, "data.order": "shard-shuffle", **overrides}
    return simulate(load_scenario("llama3-405b", {**SETTING, **loader}))


def test_an_epoch_ends_for_all_with_the_first_rank_that_has_none_left():
    """3,616 streams hold two shards: those of every worker 0, and of worker 1 of 1,568 ranks.

    The other 480 ranks have nine shards and end the epoch: the 1,568 leave as much as a shard each, 7.8 % of it. Its
    last steps are read by workers 0 and 1 alone.
    """
    run = of("torchdata-iterable")
    loader, samples = run.loader, run.spaces.size
    longer = SHARDS - RANKS * 9
    steps = loader.advance(loader.start(RANKS), 0, 10**7).stretch.passes[0].steps
    assert steps in range(samples // SHARDS * 9, (samples // SHARDS + 1) * 9 + 1)
    last = plan(loader, RANKS, steps)[0].passes[-1]
    assert np.count_nonzero(last.lengths > samples // SHARDS + 1) == SHARDS - RANKS * WORKERS
    unread = (last.lengths - last.ended).sum(axis=1)
    assert np.count_nonzero(unread > RANKS) == longer
    assert unread.sum() / samples == pytest.approx(longer / SHARDS, abs=1e-4)
    final = last.below(steps - samples // SHARDS // 2)
    at_work = (last.ended > final.ended).any(axis=0)
    assert at_work.tolist() == [True, True] + [False] * 6


@pytest.mark.parametrize("comes_back", ["exact", "restart-epoch"])
def test_what_all_read_again_is_counted_once_a_kind(comes_back):
    run = of("torchdata-iterable", **{"loader.comes_back": comes_back})
    ledger, damage = run.account, run.damage
    assert len(ledger.cell) < SHARDS
    assert ledger.views == ledger.planned_views == run.steps * RANKS
    assert int(ledger.by_cell().samples.sum()) == int(ledger.samples @ np.bincount(ledger.like)[ledger.cell])
    assert int(ledger.table.samples.sum()) == run.spaces.size
    assert (damage.extra_views.iloc[-1], damage.missing_views.iloc[-1]) == (ledger.extra, ledger.missing)
    assert (ledger.extra > 10**9) == (comes_back == "restart-epoch")
    assert damage.exact.unique().tolist() == ["identity"]


def test_what_begins_again_costs_the_same_at_every_restart_however_it_is_dealt():
    """Each reader reads again what it has read of its part: whole shards, or every 16,384th sample."""
    strided, sharded = (
        of("torch-distributed-restart"),
        of("torchdata-iterable", **{"loader.comes_back": "restart-epoch"}),
    )
    columns = ["lineage_views", "extra_views", "missing_views", "exact"]
    assert strided.damage[columns].equals(sharded.damage[columns])
    assert strided.damage["extra_views"].is_monotonic_increasing


@pytest.mark.slow
def test_damage_at_every_restart_where_each_buffer_is_lost():
    run = of("torchdata-iterable-buffer")
    damage = run.damage
    assert (damage.extra_views.iloc[-1], damage.missing_views.iloc[-1]) == (run.account.extra, run.account.missing)
    assert damage.extra_views.equals(damage.missing_views)
    # The first restart is back at step 0. What comes out after the second lies beyond what the plan has pulled, but for
    # a few samples of each buffer.
    third = run.history.legs[2]
    reads = (third.kept - third.start) * RANKS
    assert damage.extra_views.iloc[0] == 0
    assert 0.98 * reads < damage.extra_views.iloc[1] < reads
    # The ledger, which tells apart where the buffers stand at last, says the same but for what they hold.
    before, last = damage.extra_views.iloc[-2:]
    assert abs(last - before) < 0.02 * last
