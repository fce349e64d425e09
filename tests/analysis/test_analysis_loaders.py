"""The picture of the league draws every preset that was run, with its interval."""

import numpy as np
import pandas as pd

from analysis.loaders import figure, main

LEAGUE = pd.DataFrame(
    {
        "preset": ["restore", "epoch", "refused"],
        "refused": ["", "", "needs shards"],
        "extra_views": [0.0, 80.0, np.nan],
        "extra_views_ci95_low": [0.0, 70.0, np.nan],
        "extra_views_ci95_high": [0.0, 100.0, np.nan],
        "missing_views": [0.0, 60.0, np.nan],
        "missing_views_ci95_low": [0.0, 55.0, np.nan],
        "missing_views_ci95_high": [0.0, 65.0, np.nan],
    }
)


def test_it_draws_the_presets_that_were_run():
    (axes,) = figure(LEAGUE, "title").axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["restore", "epoch"]
    assert [bar.get_width() for bar in axes.patches] == [0, 80, 0, 60]
    ends = [segment[:, 0].tolist() for lines in axes.collections for segment in lines.get_segments()]
    assert ends == [[0, 0], [70, 100], [0, 0], [55, 65]]


def test_a_league_without_damage_or_intervals_is_drawn():
    alone = LEAGUE.iloc[[0]].assign(extra_views_ci95_low=np.nan, extra_views_ci95_high=np.nan)
    (axes,) = figure(alone, "title").axes
    assert [bar.get_width() for bar in axes.patches] == [0, 0]


def test_it_runs_by_itself_on_a_study(tmp_path, capsys):
    LEAGUE.to_parquet(tmp_path / "league.parquet")
    (tmp_path / "study.json").write_text('{"scenario": {"name": "a $ name"}}')
    assert main([str(tmp_path)]) == 0
    assert "epoch" in capsys.readouterr().out
    assert (tmp_path / "loaders.png").stat().st_size > 5_000


def test_what_is_no_study_is_one_line(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2
    expected = f"{tmp_path}: expected what `clustersim loaders --out` left, found"
    assert capsys.readouterr().err == f"{expected} no {tmp_path / 'league.parquet'}\n"
