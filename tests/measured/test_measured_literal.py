"""The literal loader against what real loaders did when they were crashed and restarted."""

import pytest
from measured import compare, literal_model, misses
from measured.table import ENDINGS, labels, rows


def test_every_row_has_a_label_for_each_ending():
    said = labels()
    assert {(row.kind, ending) for row in rows() for ending in ENDINGS} == set(said)
    assert {label for label, _ in said.values()} == {"deterministic", "stochastic"}


def test_every_deterministic_row_is_exact_or_a_named_miss():
    said, played, off, missed = labels(), {}, [], 0
    for row in rows():
        key = literal_model.key(row)
        if key not in played:
            played[key] = literal_model.play(row, seed=0)
        for ending in ENDINGS:
            if said[row.kind, ending][0] != "deterministic":
                continue
            if compare.verdict(row, ending, "deterministic", [played[key]], level=0) == "exact":
                continue
            missed += 1
            if misses.reason(row) is None:
                off.append((row.row, row.loader, row.version, row.scenario, ending))
    assert off == []
    assert missed <= 0.03 * sum(label == "deterministic" for label, _ in said.values())


@pytest.mark.slow
def test_every_stochastic_row_is_within_its_law_or_a_named_miss(capsys):
    assert compare.report(compare.compare("measured.literal_model", seeds=40, select=""))
    assert "\nmiss:" not in capsys.readouterr().out


def test_a_draw_is_within_its_law_up_to_the_stated_level():
    drawn = [100, 104, 96, 101, 99, 103, 97, 100]  # mean 100, standard deviation 2.6
    assert compare.within(104, drawn, 0.01)
    assert compare.within(109, drawn, 0.01)  # t = 3.2 with 7 degrees of freedom: p = 0.015
    assert not compare.within(109, drawn, 0.05)
    assert not compare.within(101, [100] * 8, 0.01)
