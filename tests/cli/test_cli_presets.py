"""`clustersim presets`."""

import json

import pytest

from clustersim.cli.main import main
from clustersim.scenario import presets


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
    assert 'buffer = 1000\nbuffer_kind = "half-flush"\n' in capsys.readouterr().out
    assert main(["presets", "lightning-plain"]) == 0
    assert capsys.readouterr().out.endswith("keeps_count = true\n")


def test_an_unknown_one_is_refused_with_the_nearest(capsys):
    assert main(["presets", "megatrn"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.rstrip().endswith('found "megatrn"; did you mean "megatron"?')
    assert shown.err.count("\n") == 1


def test_storages_are_listed_and_explained_beside_the_loaders(clustersim):
    code, printed, err = clustersim("presets", "--storage")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in printed.splitlines()[1:] if line[0] != " "] == list(presets("storage"))
    code, printed, _ = clustersim("presets", "hard-disk", "--storage")
    assert code == 0
    assert printed.startswith("One hard disk that all nodes share")
    assert printed.splitlines()[-3:] == [
        'read_bandwidth = "200 MB/s"',
        "operations_per_s = 150",
        'read_ahead = "128 KiB"',
    ]
    told = clustersim("presets", "nvme", "--storage")[1]
    assert 'latency = { type = "lognormal", median = "80 us", sigma = 0.6 }' in told
    assert clustersim("presets", "restore", "--storage")[0] == 2
    assert json.loads(clustersim("presets", "nvme", "--storage", "--json")[1])["parts"]["scope"] == "node"
