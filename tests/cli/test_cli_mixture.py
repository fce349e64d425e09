"""A mixture on the command line: a row of each corpus on the page, in the tables and in the report."""

import json
import tomllib
from pathlib import Path

import pandas as pd
import pytest

from clustersim.cli.main import main

FILE = Path(__file__).parents[1] / "fuzz" / "valid" / "mixture.toml"
CORPORA = [corpus["name"] for corpus in tomllib.loads(FILE.read_text())["data"]["corpora"]]


def rows_of(page):
    """The rows of the table of corpora, in words."""
    lines = page[page.index("Corpora") :].splitlines()
    return [line.split()[0] for line in lines[1 : lines.index("")]]


@pytest.mark.parametrize("replications", [1, 3])
def test_each_corpus_has_a_row(capsys, tmp_path, replications):
    out = tmp_path / "out"
    assert main(["run", str(FILE), "--replications", str(replications), "--out", str(out)]) == 0
    page = capsys.readouterr().out
    assert rows_of(page) == CORPORA
    assert "mixture     large 70.0 %" in page
    assert "extra_views." not in page
    summary = pd.read_parquet(out / "summary")
    for figure in ("planned_views", "extra_views", "missing_views", "never_seen_samples"):
        assert (summary[[f"{figure}.{name}" for name in CORPORA]].sum(axis=1) == summary[figure]).all()
    ledger = pd.read_parquet(out / "ledger")
    assert set(ledger["corpus"]) == set(CORPORA)
    assert ledger["samples"].sum() == replications * (9000 + 150 + 1)
    assert main(["report", str(out)]) == 0
    html = (out / "report.html").read_text("utf-8")
    assert html.count("epochs planned") == 1
    assert "extra_views." not in html.split("<script")[0]


def test_a_ramp_is_told_with_what_is_assumed_of_its_steps(capsys):
    assert main(["check", str(FILE.with_name("ramp.toml"))]) == 0
    page = capsys.readouterr().out
    assert "20 s for 32 samples, as long for 8 at first, which grow until 1,000 are read; an epoch of 900" in page


def test_figures_of_a_corpus_are_figures_of_a_sweep(capsys, tmp_path):
    vary = ["--vary", "data.corpora.1.weight=2,1", "--replications", "2", "--out", str(tmp_path / "sweep"), "--json"]
    assert main(["sweep", str(FILE), *vary]) == 0
    capsys.readouterr()
    table = pd.read_parquet(tmp_path / "sweep" / "table.parquet")
    small = table.groupby("point")["planned_views.small"].mean()
    assert 1.7 < small[0] / small[1] < 1.9  # 2 of 10, and 1 of 9
    ledger = pd.read_parquet(tmp_path / "sweep" / "ledger.parquet")
    assert (ledger.groupby(["point", "replication"])["samples"].sum() == 9151).all()


def test_a_sample_is_found_by_its_number_in_all_corpora(capsys):
    assert main(["sample", str(FILE), "9150", "--json"]) == 0
    (story,) = json.loads(capsys.readouterr().out)["samples"]
    # The corpus of one sample has a tenth of every batch: one or two views a step.
    assert {read["offset"] for read in story["reads"]} == {0}
    assert story["seen"] > 300
    assert main(["sample", str(FILE), "9151"]) == 2
    assert "no sample 9151: they are numbered 0 to 9150" in capsys.readouterr().err
    assert main(["poison", str(FILE)]) == 2
    assert "expected one corpus, found data.corpora" in capsys.readouterr().err
