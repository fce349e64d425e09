"""Effective tokens and predicted loss against published values, and what stands beside the law, by hand."""

import numpy as np
import pandas as pd
import pytest

from analysis import harm
from analysis.harm import Stored, effective_tokens, loss
from clustersim import sweep
from clustersim.cli.main import main as clustersim


@pytest.mark.parametrize(
    ("parameters", "tokens", "unique", "published"),
    [(6.34e9, 242e9, 25e9, 2.2256440889984477), (8.67e9, 178e9, 25e9, 2.2269634075087867)],
)
def test_the_published_losses(parameters, tokens, unique, published):
    assert loss(parameters, tokens, unique) == pytest.approx(published, abs=1e-9)


def test_what_epochs_are_worth():
    worth = [effective_tokens(epochs * 1e9, 1e9) / (epochs * 1e9) for epochs in (1, 1.1, 2, 4, 8, 16, 40)]
    assert worth == pytest.approx([1, 0.99971, 0.9841, 0.9314, 0.828, 0.661, 0.379], abs=5e-4)


@pytest.mark.parametrize(("share", "lost"), [(0.01, 3.3e-6), (0.05, 8.5e-5), (0.1, 3.6e-4), (0.2, 1.6e-3)])
def test_a_few_second_copies_cost_next_to_nothing(share, lost):
    assert 1 - effective_tokens(1.0, 1 - share) == pytest.approx(lost, rel=0.03)


def test_the_loss_falls_with_fresh_tokens_and_rises_with_repeats():
    assert loss(1e9, 2e10, 2e10) < loss(1e9, 2e10, 1e10) < loss(1e9, 1e10, 1e10)


@pytest.fixture
def stored():
    """Two runs of 50 steps of 4 samples of 100 tokens: 100 samples planned twice. The second lost and repeated some."""
    ledger = pd.DataFrame(
        [
            (0, 0, 2, 2, 100),
            (0, 1, 2, 0, 20),
            (0, 1, 2, 2, 77),
            (0, 1, 2, 3, 2),
            (0, 1, 2, 40, 1),
        ],
        columns=["point", "replication", "planned", "seen", "samples"],
    )
    figures = pd.DataFrame(
        {
            "point": [0, 0],
            "replication": [0, 1],
            "steps": [50, 50],
            "rolled_back_steps": [0, 10],
            "lineage_views": [200, 200],
            "step_s": [2.0, 2.0],
            "feed_tokens_per_s": [200.0, 200.0],
        }
    )
    return Stored(ledger, figures, "by hand", [""], 1e6)


def test_figures_by_hand(stored):
    sound, broken = harm.harm(stored).to_dict("records")
    assert (sound["planned_tokens"], sound["planned_unique_tokens"]) == (20_000, 10_000)
    assert sound["effective_tokens_lost"] == sound["loss_added"] == sound["wasted_compute_share"] == 0
    assert (broken["seen_tokens"], broken["seen_unique_tokens"]) == (20_000, 8_000)
    assert broken["effective_tokens_lost"] == effective_tokens(20_000, 10_000) - effective_tokens(20_000, 8_000)
    assert broken["loss_added"] == loss(1e6, 20_000, 8_000) - loss(1e6, 20_000, 10_000)
    assert broken["wasted_compute_share"] == 10 / 60
    assert (broken["never_seen_samples"], broken["never_seen_share"]) == (20, 0.2)
    assert (broken["most_seen"], broken["far_more_samples"]) == (40, 1)


def test_means_have_their_interval(stored):
    row = harm.summary(harm.harm(stored)).loc[0]
    assert row["never_seen_samples"] == 10
    # Student's t of one degree of freedom, times a standard error of 10.
    assert row["never_seen_samples_ci95_high"] == pytest.approx(10 + 12.7062 * 10, rel=1e-5)


def test_how_many_samples_were_seen_how_often(stored):
    found = harm.concentration(stored).set_index("times")
    assert found["planned_samples"].to_dict() == {0: 0, 2: 100, 3: 0, 40: 0}
    assert found["seen_samples"].to_dict() == {0: 10, 2: 88.5, 3: 1, 40: 0.5}
    assert harm.binned(stored)["times"].tolist() == ["0", "2", "3", "31-100"]


def test_the_limits_are_said(stored):
    said = harm.limits(stored, harm.harm(stored))
    assert len(said) == len(harm.LIMITS) + 1
    assert "up to 40 times: it says too little" in said[-1]
    beyond = harm.limits(stored, harm.harm(stored, 405e9), 405e9)
    assert (
        beyond[3] == "It was fitted up to 9 B parameters and 900 B tokens; 405 B parameters and 20 k tokens lie beyond."
    )
    unknown = stored._replace(parameters=None)
    rows = harm.harm(unknown)
    assert "loss_added" not in rows
    assert harm.limits(unknown, rows)[3].startswith("Without the number of parameters")


def test_without_tokens_there_is_nothing_to_count(stored):
    with pytest.raises(
        ValueError, match=r"expected runs with steps and tokens a sample .*, found none in replication 0"
    ):
        harm.harm(stored._replace(figures=stored.figures.assign(feed_tokens_per_s=np.nan)))


def test_a_stored_run_and_a_stored_study(tmp_path, capsys):
    run, study = tmp_path / "run", tmp_path / "study"
    assert clustersim(["run", "small", "--set", "loader.preset=epoch", "--replications", "2", "--out", str(run)]) == 0
    sweep("small", {"loader.preset": ["restore", "epoch"]}, 2, workers=1, out=study)
    capsys.readouterr()
    assert harm.main([str(run), "--parameters", "8e9", "--picture", str(tmp_path / "harm.png")]) == 0
    alone = capsys.readouterr().out
    assert (tmp_path / "harm.png").read_bytes().startswith(b"\x89PNG")
    assert harm.main([str(study), "--parameters", "8e9"]) == 0
    assert "preset epoch" in capsys.readouterr().out
    assert alone.count("- ") >= len(harm.LIMITS)
    of_run, of_study = harm.harm(harm.load(run), 8e9), harm.harm(harm.load(study), 8e9)
    assert (of_study["loss_added"][:2] == 0).all()
    assert (of_run["loss_added"] > 0).all()
    assert of_study["loss_added"][2:].tolist() == of_run["loss_added"].tolist()


def test_what_cannot_be_read_is_one_line(tmp_path, capsys):
    assert harm.main([str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
