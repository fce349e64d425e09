"""The same run is the same to the nanosecond and to the sample: today, in every process, on every engine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from digests import SAMPLE, digests_of

from clustersim.study.engines import engine_of

# Of history and ledger. They change when what a run does changes, never by a change that is for speed or for order.
DIGESTS = {
    "as shipped": ("96d3785afa4b0230", "17bc742b50352687"),
    "another seed": ("19972488864293c7", "58ab6f08d6843fcd"),
    "epochs begin again": ("ea49e002fb003a04", "9631610d70032cdd"),
    "shards in a new order": ("ea49e002fb003a04", "31bc9623d9f4bcfd"),
    "replicas leave and come back": ("3867970311637365", "a5decd826149fcd6"),
    "the record of death": ("3d580ff40b56b1b3", "d5ef3f9d8dbe7242"),
    "466 restarts, from intervals": ("ab59175722152393", "ade535d7bc875362"),
    "the unseen remainder": ("4deb8d74763b97c4", "c79a2468b323d956"),
    "by hand": ("3212aed06e3ca3e5", "09cfbd937a83391f"),
    "a buffer that is lost": ("443becadab9d34fd", "17191940fd509616"),
    "in place": ("325c4b2f832e5689", "cb611f3009f445f4"),
    "bad checkpoints": ("a60cf311d3b60fa4", "d5d1ccfa31254505"),
    "a trace": ("2f21d6f7c3aa592e", "a31d56edc5694d5f"),
}


@pytest.mark.parametrize("name", SAMPLE)
def test_a_run_is_what_it_was(name):
    assert digests_of(name) == DIGESTS[name]


def test_a_digest_tells_runs_apart():
    histories, ledgers = zip(*DIGESTS.values(), strict=True)
    assert len(set(ledgers)) == len(SAMPLE)
    # Two of them differ in what is read alone.
    assert len(set(histories)) == len(SAMPLE) - 1


@pytest.mark.parametrize("engine", ["local", "dask"])
def test_a_run_is_the_same_on_every_engine(engine):
    if engine == "dask":
        pytest.importorskip("distributed")
    with engine_of(engine, 2, None) as on:
        given = {name: on.executor.submit(digests_of, name) for name in SAMPLE}
        assert {name: future.result() for name, future in given.items()} == DIGESTS


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_a_run_is_the_same_in_whatever_order_sets_are_gone_through(hash_seed):
    """Each run of the tests is under a hash seed of its own; these are the same every time."""
    script = "from digests import *; print({name: digests_of(name) for name in SAMPLE})"
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(Path(__file__).parent)}
    told = subprocess.check_output([sys.executable, "-c", script], env=environment, text=True)
    assert told == f"{DIGESTS}\n"
