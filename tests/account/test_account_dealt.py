import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clustersim.account import Dealt, count, count_dealt, damage_dealt
from clustersim.account import dealt as dealt_module

LENGTHS = (5, 0, 7, 5, 1, 12, 3, 0, 7, 2, 5, 5)  # shards, some of them empty, some alike
CUTS = 3


@st.composite
def dealings(draw, spaces):
    """Reads of one epoch by readers of some kinds, and for each read (cut, sample): every sample that it reads."""
    family, epoch = draw(st.integers(0, 1)), draw(st.integers(0, 2))
    blocks = spaces.block_order(family, epoch)
    readers = draw(st.integers(1, 5))
    turn = np.arange(len(blocks)) % readers
    block, reader = blocks[np.argsort(turn, kind="stable")], np.sort(turn)
    kind_of = np.array(draw(st.lists(st.integers(0, 1), min_size=readers, max_size=readers)))
    rows = []
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, 25))
        rows.append((draw(st.integers(0, 1)), start, draw(st.integers(start + 1, 60)), draw(st.integers(0, CUTS - 1))))
    kind, start, stop, cut = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    found = []
    for row in rows:
        for each in range(readers):
            own = [range(*spaces.block_starts[k : k + 2]) for k in block[reader == each].tolist()]
            samples = [sample for part in own for sample in part]
            found += [(row[3], sample) for sample in samples[row[1] : row[2]] if kind_of[each] == row[0]]
    return Dealt(block, reader, kind_of, kind, start, stop, cut), found


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data(), st.integers(0, 9))
def test_what_readers_do_alike_is_counted_shard_by_shard_at_every_cut(account, data, seed):
    spaces = account.shards(LENGTHS, seed)
    sides = [data.draw(st.lists(dealings(spaces), max_size=3)) for _ in range(2)]
    planned, seen = ([dealt for dealt, _ in side] for side in sides)
    views = np.zeros((2, CUTS, spaces.size), np.int64)
    for side, found in enumerate(sides):
        for cut, sample in (read for _, reads in found for read in reads):
            views[side, cut:, sample] += 1

    ledger = count_dealt(spaces, planned, seen).spread()
    block_of = np.repeat(np.arange(len(LENGTHS)), LENGTHS)
    rows, samples = np.unique(np.column_stack([block_of, *views[:, -1]]), axis=0, return_counts=True)
    assert np.column_stack([ledger.cell, ledger.planned, ledger.seen]).tolist() == rows.tolist()
    assert ledger.samples.tolist() == samples.tolist()
    surplus = views[1] - views[0]
    damage = damage_dealt(spaces, planned, seen, CUTS)
    assert damage.extra.tolist() == np.maximum(surplus, 0).sum(axis=1).tolist()
    assert damage.missing.tolist() == np.maximum(-surplus, 0).sum(axis=1).tolist()


def test_many_changes_are_counted_in_portions_of_the_shards(account, monkeypatch):
    spaces = account.shards(tuple(range(1, 61)))
    blocks, zero = spaces.block_order(0, 0), np.zeros(9, np.int64)
    readers, at = np.arange(60) // 3, np.arange(9) * 17
    plan = Dealt(blocks, readers, zero[:1].repeat(20), zero[:1], zero[:1], zero[:1] + 99, zero[:1])
    lineage = Dealt(blocks, readers, zero[:1].repeat(20), zero, at, at + 25, zero)
    at_once = count_dealt(spaces, [plan], [lineage])
    monkeypatch.setattr(dealt_module, "_MOST_CHANGES", 50)
    in_portions = count_dealt(spaces, [plan], [lineage])
    assert at_once.digest == in_portions.digest
    assert at_once.views == int(at_once.samples @ at_once.seen) > 0


@given(seed=st.integers(0, 9), start=st.integers(0, 20), stop=st.integers(21, sum(LENGTHS)))
def test_reads_with_a_place_are_those_of_a_single_reader(account, seed, start, stop):
    spaces = account.shards(LENGTHS, seed)
    planned = account.draws((0, 0, 0, spaces.size, 2), (0, 2, 0, stop))
    seen = account.draws((1, 0, start, stop), (0, 2, 0, stop))
    ledger = count_dealt(spaces, Dealt.by_one(spaces, planned), Dealt.by_one(spaces, seen))
    expected = count(spaces, planned, seen, np.random.default_rng(0))
    for ours, theirs in zip((*ledger.table, *ledger.by_cell()), (*expected.table, *expected.by_cell()), strict=True):
        assert ours.tolist() == theirs.tolist()


def test_thousands_of_readers_that_are_alike_share_their_rows(account):
    spaces = account.shards((1000,) * 6000)
    blocks, restarts = spaces.block_order(0, 0), np.arange(400)
    readers, zero = np.arange(6000) // 2, np.zeros(400, np.int64)
    plan = Dealt(blocks, readers, zero[:1].repeat(3000), zero[:1], zero[:1], zero[:1] + 2000, zero[:1])
    lineage = Dealt(blocks, readers, zero[:1].repeat(3000), zero, zero, 3 * restarts + 1, restarts)
    ledger = count_dealt(spaces, [plan], [lineage])
    assert len(ledger.cell) <= 2 * 401
    assert ledger.views == 3000 * int((3 * restarts + 1).sum())
    assert int(ledger.by_cell().samples.sum()) == spaces.size
