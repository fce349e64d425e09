"""Every command that makes a study takes its engine, its workers and its scheduler to where they are used."""

import pytest

import clustersim.study.sweep as sweep_module
from clustersim.study.engines import EngineError

STUDIES = {
    "sweep": ("small", "--vary", "cluster.spares=1,2"),
    "intervals": ("small",),
    "loaders": ("small", "--presets", "restore"),
    "capacity": ("capacity", "--by", "60 d"),
}


@pytest.mark.parametrize("command", STUDIES)
def test_a_study_is_computed_where_it_is_told(clustersim, tmp_path, monkeypatch, command):
    asked = []

    def refuse(*engine):
        asked.append(engine)
        raise EngineError("no scheduler answers")

    monkeypatch.setattr(sweep_module, "engine_of", refuse)
    options = ("--engine", "dask", "--scheduler", "tcp://x", "--out", tmp_path / "study")
    code, printed, err = clustersim(command, *STUDIES[command], *options)
    assert (code, printed) == (1, "")
    assert err.startswith("no scheduler answers")
    assert clustersim(command, *STUDIES[command], "--workers", 3, "--out", tmp_path / "other")[0] == 1
    assert asked == [("dask", None, "tcp://x"), ("local", 3, None)]
