"""Runs of shards over the workers of ranks: a rank's workers have runs that lie side by side."""

import numpy as np
import pytest

from clustersim.loaders.deal import Sharded


@pytest.mark.parametrize(("shards", "ranks", "workers"), [(24, 4, 2), (24, 2, 2), (25, 3, 2), (7, 2, 3), (8, 1, 4)])
def test_run_k_is_worker_k_mod_w_of_rank_k_div_w(shards, ranks, workers):
    readers = ranks * workers
    dealt = Sharded(np.arange(shards + 1) * 40, readers, True, ranks).shards
    size, longer = divmod(shards, readers)
    begin = 0
    for run in range(readers):
        rank, worker = divmod(run, workers)
        end = begin + size + (run < longer)
        assert dealt[rank + ranks * worker].tolist() == list(range(begin, end))
        begin = end
    assert begin == shards
