"""Clocks near 2^63, populations near 2^62, one of everything, nothing that ever finishes: an answer, or one line."""

import pytest

from clustersim.cli.main import main

ALONE = {"parallelism": "{}", "cluster": "{nodes=1, gpus_per_node=1}", "model.global_batch": "1"}
MILLION = {
    "cluster": "{nodes=1_000_000, gpus_per_node=1, spares=1000}",
    "parallelism": "{data=1000, tensor=1000}",
    "model.global_batch": "8000",
    "failures.0.rate": "0.1 per 1000 node-days",
    "failures.1.on_nodes": "1_000_000",
}
SHARDS = '{samples=1_000_000_000, shards=100_000, order="shard-shuffle"}'
OFTEN = {"run": '{steps=1000, limit="10 h"}', "failures.2.rate": "10_000 per day"}
ANSWERED = {
    "a rate of once in 10^99 years": {"failures.0.rate": "1e-99 per node-year", "run.wall_time": "140 y"},
    "no rate at all": {"failures.0.rate": "0 per node-day", "failures.2.rate": "0 per day"},
    "2^62 - 1 samples": {"data": "{samples=4611686018427387903}", "loader.preset": "reshuffle"},
    "10^15 samples in shards": {
        "data": '{samples=1_000_000_000_000_000, shards=1000, order="shard-shuffle"}',
        "loader.preset": "epoch",
    },
    "10^5 shards": {"data": SHARDS, "loader.preset": "reshuffle"},
    "one sample, one node": {**ALONE, "data": "{samples=1}", "run": "{epochs=1000}"},
    "noticed after the end of time": {"failures.0.detection": "146 y"},
    "repaired after the end of time": {"failures.0.repair": "146 y", "failures.1.repair": "146 y"},
    "loaded after the end of time": {"recovery.load": "146 y"},
    "steps of 2 ns": {"model.step_time": "2 ns", "run.wall_time": "1 h"},
    "a million nodes": MILLION,
    "the largest seed": {"run.seed": str(2**63 - 1)},
}
UNFINISHED = {
    "failures faster than restarts": (OFTEN, "was given up after 10 h"),
}
REFUSED = {
    "290 years": ({"run.wall_time": "290 y"}, "run.wall_time: expected a duration of at most 2^62 ns"),
    "2^62 samples": ({"data": "{samples=4611686018427387904}"}, "data.samples: expected a whole number below 2^62"),
    "10^13 failures": ({"failures.2.rate": "1e12 per day"}, "failures: expected at most 2e+07 random failures"),
    "one sample of many": ({"data": "{samples=1}"}, "data: expected an epoch of at least one global batch"),
}


def play(said, capsys):
    code = main(["run", "small", *(word for key, value in said.items() for word in ("--set", f"{key}={value}"))])
    return code, capsys.readouterr().err


@pytest.mark.parametrize("name", ANSWERED)
def test_answered(name, capsys):
    assert play(ANSWERED[name], capsys) == (0, "")


@pytest.mark.parametrize("name", UNFINISHED)
def test_unfinished_in_one_line(name, capsys):
    said, why = UNFINISHED[name]
    code, told = play(said, capsys)
    assert (code, told.count("\n")) == (1, 1)
    assert told.startswith(why)


@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_one_line(name, capsys):
    said, why = REFUSED[name]
    code, told = play(said, capsys)
    assert (code, told.count("\n")) == (2, 1)
    assert told.startswith(f"small.toml: {why}")
