"""docs/loaders.md is what docs/make_loaders.py writes."""

import runpy
from pathlib import Path

import pytest

from clustersim.scenario import presets

DOCS = Path(__file__).parents[2] / "docs"
LINES = (DOCS / "loaders.md").read_text("utf-8").splitlines()


@pytest.fixture(scope="module")
def made():
    return runpy.run_path(str(DOCS / "make_loaders.py"))


def test_every_preset_is_in_the_table_and_told(made):
    for name, about in presets().items():
        assert sum(line.startswith(f"| `{name}` | ") for line in LINES) == 1
        assert f"**`{name}`**: {' '.join(about.split())}" in LINES
    assert made["INTRODUCTION"] in "\n".join(LINES)


@pytest.mark.parametrize("name", ["epoch", "torchdata-map", "datasets-5.2-buffer", "accelerate-1.10-skip"])
def test_some_rows_are_what_runs_come_to_now(made, name):
    assert made["row"](name) in LINES


@pytest.mark.slow
def test_the_whole_page_is_what_runs_come_to_now(made):
    assert "\n".join(made["page"]()).rstrip().splitlines() == LINES
