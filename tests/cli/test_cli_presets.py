"""`clustersim presets`."""

import json

import pytest

from clustersim.cli.main import main


def test_the_list_names_each_preset_with_one_line(capsys):
    assert main(["presets", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {"restore", "megatron", "grain-dataloader"} <= set(listed)
    assert all(line and "\n" not in line for line in listed.values())
    assert main(["presets"]) == 0
    assert "mosaicml-streaming" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["restore", "energon"])
def test_one_is_explained_with_its_parts(capsys, name):
    assert main(["presets", name]) == 0
    page = capsys.readouterr().out
    assert "Saves: " in page
    assert 'comes_back = "exact"' in page
    assert main(["presets", name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parts"]["saves"] == "samples"


def test_parts_are_shown_as_a_scenario_says_them(capsys):
    assert main(["presets", "datasets-5.2-buffer"]) == 0
    assert capsys.readouterr().out.endswith('buffer = 1000\nbuffer_kind = "half-flush"\non_layout_change = "refuse"\n')
    assert main(["presets", "lightning-plain"]) == 0
    assert capsys.readouterr().out.endswith("keeps_count = true\n")


def test_an_unknown_one_is_refused_with_the_nearest(capsys):
    assert main(["presets", "megatrn"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.rstrip().endswith('found "megatrn"; did you mean "megatron"?')
    assert shown.err.count("\n") == 1
