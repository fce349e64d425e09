"""From faults to lives and repairs: what began, what ended, and what nobody saw."""

import pandas as pd
import pytest

from analysis.lives import durations


def faults(*rows):
    return pd.DataFrame(rows, columns=["node", "start_h", "end_h"])


def told(table):
    return sorted(table.itertuples(index=False, name=None))


def test_a_node_lives_between_its_faults():
    lives, repairs = durations(faults((3, 10, 12), (3, 40, 45)), nodes=1, length_h=100)
    assert told(lives) == [(10, False, True), (28, True, True), (55, True, False)]
    assert told(repairs) == [(2, True, True), (5, True, True)]


def test_nodes_without_a_fault_count_whether_new_or_running():
    for new in (False, True):
        lives, repairs = durations(faults((0, 60, 61)), nodes=3, length_h=100, new_at_start=new)
        assert told(lives) == sorted([(60, new, True), (39, True, False), (100, new, False), (100, new, False)])
        assert told(repairs) == [(1, True, True)]


def test_a_node_that_is_out_at_the_start_or_the_end_has_no_life_there():
    lives, repairs = durations(faults((0, 0, 4), (0, 20, 100)), nodes=1, length_h=100)
    assert told(lives) == [(16, True, True)]
    assert told(repairs) == [(80, True, False)]  # the first had begun before, the second is not over


def test_faults_of_no_length_and_one_after_another_are_kept():
    lives, repairs = durations(faults((0, 30, 30), (0, 50, 60), (0, 60, 61)), nodes=1, length_h=100)
    assert told(lives) == [(0, True, True), (20, True, True), (30, False, True), (39, True, False)]
    assert told(repairs) == [(0, True, True), (1, True, True), (10, True, True)]


def test_the_order_of_the_faults_does_not_matter():
    rows = [(1, 5, 6), (0, 2, 3), (1, 50, 51), (0, 7, 9)]
    first, second = (durations(faults(*order), 2, 100.0) for order in (rows, rows[::-1]))
    assert told(first.lives) == told(second.lives)
    assert first.lives["hours"].sum() + first.repairs["hours"].sum() == pytest.approx(200)
