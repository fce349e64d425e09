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
    "as shipped": ("e09061910cc6c4f4", "e92af09c0bb15ba1"),
    "another seed": ("8c213d8fe72e52e4", "47602d3a26c43074"),
    "epochs begin again": ("6b13bfac18f9a20d", "e9b440b0298ab854"),
    "shards in a new order": ("6b13bfac18f9a20d", "8e003d38632d8655"),
    "replicas leave and come back": ("7e6d18d3a3943b3d", "c5c98af0dd94d995"),
    "the record of death": ("0f11cc09a0138238", "853a30f613aafdc4"),
    "466 restarts, from intervals": ("1e940dbd26c60460", "40ab5601aa3c6058"),
    "the unseen remainder": ("4eb5ba4106133039", "bd10e517e39d6c8c"),
    "by hand": ("3212aed06e3ca3e5", "a8cafa5f551ad7d2"),
    "a buffer that is lost": ("443becadab9d34fd", "0585a960de69b966"),
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
