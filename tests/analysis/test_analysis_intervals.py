"""The picture of intervals draws the table, the best interval and the formulas; durations and counts read as words."""

import json

import pandas as pd
import pytest

from analysis.axes import count, duration
from analysis.intervals import figure, main

TABLE = pd.DataFrame(
    {
        "interval_s": [60.0, 600.0, 6000.0],
        "ettr": [0.8, 0.9, 0.7],
        "ettr_ci95_low": [0.75, 0.85, 0.65],
        "ettr_ci95_high": [0.85, 0.95, 0.75],
        **{f"damage_restore{end}": [0.0, 0.0, 0.0] for end in ("", "_ci95_low", "_ci95_high")},
        "damage_a$b$": [0.1, 0.2, 0.3],
        "damage_a$b$_ci95_low": [0.05, 0.15, 0.25],
        "damage_a$b$_ci95_high": [0.15, 0.25, 0.35],
    }
)
BEST = {"best_s": 300.0, "ci95_low_s": 240.0, "ci95_high_s": 420.0, "young_s": 330.0, "daly_s": None}


def test_it_draws_the_table_and_the_marks():
    useful, damage = figure(TABLE, BEST, "title").axes
    lines = {line.get_label(): line for line in useful.lines}
    assert list(lines["simulated, mean"].get_ydata()) == pytest.approx([80, 90, 70])
    assert list(lines["best 5 min (95 %: 4 min to 7 min)"].get_xdata()) == [300, 300]
    assert list(lines["Young 5.5 min"].get_xdata()) == [330, 330]
    assert not any("Daly" in label for label in lines)
    drawn = {line.get_label(): list(line.get_ydata()) for line in damage.lines}
    assert drawn["restore"] == [0, 0, 0]
    assert drawn[r"a\$b\$"] == pytest.approx([10, 20, 30])


def test_it_runs_by_itself_on_a_study(tmp_path, capsys):
    TABLE.to_parquet(tmp_path / "intervals.parquet")
    (tmp_path / "intervals.json").write_text(json.dumps(BEST))
    (tmp_path / "study.json").write_text('{"scenario": {"name": "a $ name"}}')
    assert main([str(tmp_path)]) == 0
    assert "damage_restore" in capsys.readouterr().out
    assert (tmp_path / "intervals.png").stat().st_size > 10_000


def test_what_is_no_study_is_one_line(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2
    expected = f"{tmp_path}: expected what `clustersim intervals --out` left, found"
    assert capsys.readouterr().err == f"{expected} no {tmp_path / 'intervals.json'}\n"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.5, "0.5 s"), (59, "59 s"), (90, "1.5 min"), (7200, "2 h"), (200_000, "2.31 d")]
)
def test_durations_read_as_words(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize(("views", "words"), [(0, "0"), (999, "999"), (5e3, "5 k"), (2.5e9, "2.5 B"), (1e12, "1 T")])
def test_counts_read_as_words(views, words):
    assert count(views) == words
