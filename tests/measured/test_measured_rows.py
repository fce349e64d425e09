"""The literal loader and the simulator against what real loaders did when they were crashed and restarted."""

import subprocess
import sys
from pathlib import Path

import pytest
from measured import clustersim_model, compare, literal_model, misses
from measured.table import ENDINGS, labels, rows

MODELS = pytest.mark.parametrize("model", [literal_model, clustersim_model], ids=["literal", "clustersim"])


def test_every_row_has_a_label_for_each_ending():
    said = labels()
    assert {(row.kind, ending) for row in rows() for ending in ENDINGS} == set(said)
    assert {label for label, _ in said.values()} == {"deterministic", "stochastic"}


@MODELS
def test_every_deterministic_row_is_exact_or_a_named_miss(model):
    said, played, off, missed = labels(), {}, [], 0
    for row in rows():
        if all(said[row.kind, ending][0] != "deterministic" for ending in ENDINGS):
            continue
        key = model.key(row)
        if key is not None and key not in played:
            played[key] = model.play(row, seed=0)
        for ending in ENDINGS:
            if said[row.kind, ending][0] != "deterministic":
                continue
            outcomes = None if key is None else [played[key]]
            if compare.verdict(row, ending, "deterministic", outcomes, level=0) == "exact":
                continue
            missed += 1
            if misses.reason(row) is None:
                off.append((row.row, row.loader, row.version, row.scenario, ending))
    assert off == []
    assert missed <= 0.03 * sum(label == "deterministic" for label, _ in said.values())


@pytest.mark.slow
@MODELS
def test_every_stochastic_row_is_within_its_law_or_a_named_miss(model, capsys):
    assert compare.report(compare.compare(model.__name__, seeds=40, select=""))
    assert "\nmiss:" not in capsys.readouterr().out


def test_the_command_says_how_many_rows_are_exact():
    command = [sys.executable, Path(compare.__file__), "--model", "clustersim", "--select", "accelerate split_batches"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "deterministic: 34 of 34 exact (100.00%)" in done.stdout


def test_what_is_not_composed_counts_as_a_miss(capsys):
    row = next(row for row in rows() if row.loader.startswith("accelerate split_batches"))
    assert not compare.report(
        [(row, "E", "deterministic", "not composed")] * 4 + [(row, "E", "deterministic", "exact")] * 96
    )
    assert "96 of 100 exact (96.00%)" in capsys.readouterr().out


def test_a_draw_is_within_its_law_up_to_the_stated_level():
    drawn = [100, 104, 96, 101, 99, 103, 97, 100]  # mean 100, standard deviation 2.6
    assert compare.within(104, drawn, 0.01)
    assert compare.within(109, drawn, 0.01)  # t = 3.2 with 7 degrees of freedom: p = 0.015
    assert not compare.within(109, drawn, 0.05)
    assert not compare.within(101, [100] * 8, 0.01)
