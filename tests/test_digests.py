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
    "as shipped": ("f42fd83853a410d9", "14ae22807d534452"),
    "another seed": ("2da287e1a34ec40a", "848201297520bb47"),
    "epochs begin again": ("b626b44e39001bd9", "57a9c14f63e23ce4"),
    "shards in a new order": ("b626b44e39001bd9", "42a574a1c6aff490"),
    "replicas leave and come back": ("5fd7ab86ca0490a6", "d24a55386317f61e"),
    "the record of death": ("3fc435844fe4c267", "e11ece9bb9174d6a"),
    "466 restarts, from intervals": ("a28cd1eb204d2237", "f13d77fda737f983"),
    "the unseen remainder": ("8a4edd3ea1132130", "ae6177c3c62e6b8a"),
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
