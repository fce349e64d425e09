"""Sensitivity: indices of a function whose indices are known, and a study from end to end."""

import json

import numpy as np
import pandas as pd
import pytest

import clustersim as cs
from analysis import sensitivity

RANGES = {"x": (0.0, 1.0), "y": (0.0, 1.0), "z": (0.0, 1.0)}


def study(directory, design, answer):
    """A stored study of three keys whose figure is a function of the places of its points."""
    directory.mkdir()
    (directory / "study.json").write_text(json.dumps({"design": design.as_json()}))
    values = [answer(*place) for place in design.places]
    frame = pd.DataFrame({"point": range(len(values)), "replication": 0, "ettr": values, "outcome": "done"})
    frame.to_parquet(directory / "table.parquet")
    return directory


def ishigami(x, y, z):
    x, y, z = (np.pi * (2 * each - 1) for each in (x, y, z))
    return np.sin(x) + 7 * np.sin(y) ** 2 + 0.1 * z**4 * np.sin(x)


def test_indices_of_the_ishigami_function_are_the_known_ones(tmp_path):
    found = sensitivity.indices(
        sensitivity.load(study(tmp_path / "s", cs.saltelli(RANGES, 4096, seed=1), ishigami), "ettr")
    ).set_index("key")
    # In closed form (Ishigami and Homma 1990, a = 7, b = 0.1).
    variance = 1 / 2 + 49 / 8 + 0.1 * np.pi**4 / 5 + 0.01 * np.pi**8 / 18
    first = {"x": (1 + 0.1 * np.pi**4 / 5) ** 2 / 2 / variance, "y": 49 / 8 / variance, "z": 0.0}
    both = 0.01 * np.pi**8 * 8 / 225 / variance
    total = {"x": first["x"] + both, "y": first["y"], "z": both}
    for name, known in (("first", first), ("total", total)):
        for key, value in known.items():
            row = found.loc[key]
            half = (row[f"{name}_ci95_high"] - row[f"{name}_ci95_low"]) / 2
            assert abs(row[name] - value) <= 1.5 * half < 0.12
    assert list(found.index) == ["x", "y", "z"]


@pytest.mark.parametrize("design", [cs.latin_hypercube(RANGES, 4, seed=2), cs.saltelli(RANGES, 8, seed=2)])
def test_a_tornado_has_the_swings_of_a_plane(tmp_path, design):
    """Exactly, whatever the other keys happen to be at its few points."""
    rows = sensitivity.tornado(sensitivity.load(study(tmp_path / "s", design, lambda x, y, z: 1 + x - 3 * y), "ettr"))
    assert rows["key"].tolist() == ["y", "x", "z"]
    assert rows["swing"].tolist() == pytest.approx([-3, 1, 0], abs=1e-12)
    assert rows["at_low"].tolist() == pytest.approx([1.5, -0.5, 0])
    assert rows["at_high"].tolist() == pytest.approx([-1.5, 0.5, 0])
    assert rows["swing_ci95_low"].isna().all() == (len(design.points) == 4)


def test_a_swings_interval_holds_it_in_19_of_20_designs(tmp_path):
    draw = np.random.default_rng(3)
    held = 0
    for seed in range(200):
        design = cs.saltelli(RANGES, 8, seed)
        where = study(tmp_path / str(seed), design, lambda x, y, z: 2 * x - y + draw.normal(0, 0.3))
        row = sensitivity.tornado(sensitivity.load(where, "ettr")).set_index("key").loc["x"]
        held += row["swing_ci95_low"] <= 2 <= row["swing_ci95_high"]
    assert abs(held - 190) < 3 * np.sqrt(200 * 0.95 * 0.05)


def test_a_key_that_changes_nothing_has_the_index_0(tmp_path):
    where = study(tmp_path / "s", cs.saltelli(RANGES, 8), lambda x, y, z: x + 2 * y)
    row = sensitivity.indices(sensitivity.load(where, "ettr")).set_index("key").loc["z"]
    assert row.tolist() == [0.0] * 6


def test_too_few_points_have_no_swing(tmp_path):
    where = study(tmp_path / "s", cs.latin_hypercube(RANGES, 3), lambda x, y, z: x)
    assert sensitivity.tornado(sensitivity.load(where, "ettr"))["swing"].isna().all()


def test_a_swept_study_is_told_and_drawn(tmp_path, capsys):
    ranges = {"checkpoint.every": ("10 min", "4 h"), "recovery.load": ("1 s", "2 s")}
    cs.sweep("small", cs.saltelli(ranges, 8), 4, workers=1, out=tmp_path / "s")
    assert sensitivity.main([str(tmp_path / "s")]) == 0
    told = capsys.readouterr().out
    tables = [part.splitlines() for part in told.split("\n\n") if part.strip()]
    assert [table[1].split()[0] for table in tables] == ["checkpoint.every", "checkpoint.every"]
    assert (tmp_path / "s" / "sensitivity.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("design", "figure", "line"),
    [
        (cs.zipped({"x": [1], "y": [1], "z": [1]}), "ettr", r"drawn from ranges \(--design\), found a zip"),
        (cs.sobol(RANGES, 4), "etr", 'expected a figure of the study, found "etr"'),
    ],
)
def test_what_has_no_sensitivity_is_one_line(tmp_path, design, figure, line):
    where = study(tmp_path / "s", design, lambda x, y, z: x)
    with pytest.raises(ValueError, match=line):
        sensitivity.load(where, figure)


def test_indices_take_a_design_of_saltellis_and_a_figure_that_varies(tmp_path):
    other = sensitivity.load(study(tmp_path / "a", cs.sobol(RANGES, 4), ishigami), "ettr")
    with pytest.raises(ValueError, match="expected a design of Saltelli's"):
        sensitivity.indices(other)
    constant = sensitivity.load(study(tmp_path / "b", cs.saltelli(RANGES, 4), lambda x, y, z: 2.0), "ettr")
    with pytest.raises(ValueError, match="found ettr = 2 at every point"):
        sensitivity.indices(constant)


def test_no_study_is_one_line(tmp_path, capsys):
    assert sensitivity.main([str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
