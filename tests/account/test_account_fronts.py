"""Damage by fronts of reading, against sets of samples that are drawn and counted one by one."""

import numpy as np
import pytest

from clustersim.account.fronts import Front, Past

SIZES = np.array([40, 25, 1, 0])
NOTHING = Front(np.zeros(4, np.int64), np.zeros(4, np.int64))


def front(reach, read):
    return Front(np.array(reach), np.array(read))


# What was taken (samples of each block, views), the plan's front, the lineage's, and what they have in common.
CASES = {
    "one epoch": ([], front([30, 0, 1, 0], [25, 0, 1, 0]), [front([40, 10, 1, 0], [12, 4, 1, 0])], NOTHING),
    "a way in common": (
        [],
        front([30, 25, 1, 0], [22, 20, 1, 0]),
        [front([40, 12, 0, 0], [18, 8, 0, 0])],
        front([12, 9, 0, 0], [8, 6, 0, 0]),
    ),
    "the lineage ahead": (
        [([40, 20, 1, 0], -1), ([25, 20, 0, 0], 1)],
        front([20, 25, 0, 0], [15, 25, 0, 0]),
        [front([40, 5, 1, 0], [30, 5, 1, 0]), front([10, 20, 0, 0], [7, 12, 0, 0])],
        front([10, 5, 0, 0], [6, 5, 0, 0]),
    ),
    "the lineage behind": (
        [([20, 15, 0, 0], -1), ([25, 20, 1, 0], -1), ([30, 15, 1, 0], 1)],
        front([20, 5, 0, 0], [18, 3, 0, 0]),
        [front([35, 25, 1, 0], [20, 25, 1, 0])],
        NOTHING,
    ),
}


def by_sets(case, rng):
    """Extra and missing views of one draw of every read."""
    taken, planned, seen, common = case
    extra = missing = 0
    for block, size in enumerate(SIZES.tolist()):
        surplus = np.zeros(size, np.int64)
        for read, views in taken:
            surplus[rng.permutation(size)[: read[block]]] += views
        known = rng.permutation(common.reach[block])[: common.read[block]]
        for nth, one in enumerate(seen):
            own = known if nth == 0 else known[:0]
            start = common.reach[block] if nth == 0 else 0
            others = start + rng.permutation(one.reach[block] - start)[: one.read[block] - len(own)]
            surplus[np.append(own, others).astype(int)] += 1
        left = np.setdiff1d(np.arange(planned.reach[block]), known)
        surplus[np.append(known, rng.permutation(left)[: planned.read[block] - len(known)]).astype(int)] -= 1
        extra += int(surplus.clip(min=0).sum())
        missing += int((-surplus).clip(min=0).sum())
    return extra, missing


@pytest.mark.parametrize("case", CASES)
def test_fronts_have_the_law_of_the_samples_that_are_read(case):
    taken, planned, seen, common = CASES[case]
    ours, sets, rng = [], [], np.random.default_rng(0)
    for seed in range(1500):
        past = Past(SIZES, np.random.default_rng(seed))
        for read, views in taken:
            past.take(np.array(read), views)
        ours.append(past.damage(planned, seen, common))
        sets.append(by_sets(CASES[case], rng))
    ours, sets = np.array(ours, float), np.array(sets, float)
    assert len(np.unique(ours[:, 0] - ours[:, 1])) == 1
    assert ours[0, 0] - ours[0, 1] == sets[0, 0] - sets[0, 1]
    error = np.sqrt((ours.var(axis=0) + sets.var(axis=0)) / 1500)
    assert (np.abs(ours.mean(axis=0) - sets.mean(axis=0)) < 4 * error).all()
    assert (np.abs(ours.std(axis=0) / sets.std(axis=0) - 1) < 0.1).all()


def test_what_both_have_read_alike_is_no_damage():
    past, alike = Past(SIZES, np.random.default_rng(0)), front([20, 25, 1, 0], [13, 25, 0, 0])
    assert past.damage(alike, [alike], alike) == (0, 0)
    assert past.damage(alike, [], NOTHING) == (0, 38)
    past.take(SIZES, 1)
    assert past.damage(alike, [], NOTHING) == (66 - 38, 0)
