"""Traces and histories that are cut off or scrambled: they are read, or one line says what is wrong, and where."""

import gzip
import json
import random

import pandas as pd
import pytest

from clustersim.cli.main import main

FAULTS = [("a", 1.0, 3.0, "GPU"), ("b", 2.0, 2.5, "NIC"), ("c", 4.0, 4.0, "GPU"), ("a", 5.0, None, "GPU")]
SCENARIO = """
run.wall_time = "9 h"
model = { global_batch = 3, step_time = "10 min" }
cluster = { nodes = 3, spares = 1, gpus_per_node = 1 }
checkpoint.every = "1 steps"
data.samples = 100
[[failures]]
cause = "log"
trace = "table"
columns = { time = "start", node = "host", end = "end", cause = "what" }
unit = "h"
nodes = 4
length = "8 h"
"""
RESTARTS = "step_reached,step_restarted_from,data,interrupted_h,restarted_h\n47,40,16,1.0,1.5\n90,80,15,3,4\n200,,,5,\n"
KINDS = ["csv", "json", "parquet", "restarts"]


@pytest.fixture
def read(tmp_path, monkeypatch, capsys):
    """What becomes of a table of a kind: exit code, and the line on stderr."""
    monkeypatch.chdir(tmp_path)

    def call(kind, data):
        path = tmp_path / ("restarts.csv" if kind == "restarts" else f"table.{kind}")
        path.write_bytes(data)
        (tmp_path / "s.toml").write_text(SCENARIO.replace('"table"', f'"{path.name}"'))
        replayed = ["replay", path.name, "small", "--replications", "1"]
        code = main(replayed if kind == "restarts" else ["run", "s.toml"])
        return code, capsys.readouterr().err

    return call


def whole(kind, folder):
    """The bytes of a table that is as it should be."""
    table = pd.DataFrame(FAULTS, columns=["host", "start", "end", "what"])
    if kind == "parquet":
        table.to_parquet(folder / "whole.parquet")
        return (folder / "whole.parquet").read_bytes()
    if kind == "json":
        return json.dumps(table.astype(object).where(table.notna(), None).to_dict("records")).encode()
    return RESTARTS.encode() if kind == "restarts" else table.to_csv(index=False).encode()


def scrambled(data, rng):
    """One to four places flipped, cut out, filled with noise, or written twice."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at, size = rng.randrange(len(data)), rng.randint(1, 9)
        match rng.randrange(4):
            case 0:
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                data[at : at + size] = b""
            case 2:
                data[at:at] = rng.randbytes(size)
            case 3:
                data[at:at] = data[at // 2 : at // 2 + 4 * size]
    return bytes(data)


@pytest.mark.parametrize("kind", KINDS)
def test_whole_tables_are_read(kind, tmp_path, read):
    assert read(kind, whole(kind, tmp_path)) == (0, "")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [40, pytest.param(2000, marks=pytest.mark.slow)])
def test_cut_and_scrambled_tables(kind, count, tmp_path, read):
    data, rng = whole(kind, tmp_path), random.Random(kind)
    cut = [data[: len(data) * k // count] for k in range(count)]
    refused = 0
    for broken in [*cut, *(scrambled(data, rng) for _ in range(count))]:
        code, told = read(kind, broken)
        assert (code, told.count("\n")) in ((0, 0), (2, 1)), (broken, told)
        refused += code == 2
    assert refused > count  # a value that is cut short may be a value still


HEAD = b"host,start,end,what\n"
WRONG = [
    ("csv", b"", 'columns.time: expected a column of table.csv, found "start"'),
    ("csv", HEAD, "trace: expected a row for each fault or event, found none"),
    ("csv", HEAD + b"a,1,2,x\nb,2\n", "trace: expected 4 values in row 2, as the heading has, found 2"),
    ("csv", HEAD + b"a,1,2,x,y\n", "trace: expected 4 values in row 1, as the heading has, found 5"),
    ("csv", HEAD + b"1,a,2,x\n", 'columns.time: expected numbers, found "a" in row 1'),
    ("csv", HEAD + b"a,1,2,x\na,nan,2,x\n", 'columns.time: expected numbers, found "nan" in row 2'),
    ("csv", HEAD + b"a,1,inf,x\n", 'columns.end: expected numbers, found "inf" in row 1'),
    ("csv", HEAD + b"a,1,2,x\n,3,4,x\n", "columns.node: expected the name of a node, found nothing in row 2"),
    ("csv", HEAD + b"a,5,6,x\nb,2,3,x\n", "trace: expected times in order, found row 2 before the one above"),
    ("csv", b"host," + HEAD + b"a,b,1,2,x\n", 'trace: expected each column once, found "host" again'),
    ("csv", HEAD.decode().encode("utf-16"), "trace: expected a table of faults, found an error ('utf-8' codec can't"),
    (
        "csv",
        gzip.compress(HEAD, mtime=0)[:20],
        "trace: expected a table of faults, found an error ('utf-8' codec can't",
    ),
    ("json", b"[" * 100_000, "trace: expected a table of faults, found an error (maximum recursion depth"),
    ("json", b"[[1, 2]]", "trace: expected a table of faults, found an error (All items in data must be"),
    (
        "json",
        b'[{"host": ["a"], "start": 1, "end": 2, "what": ""}]',
        "columns.node: expected single values, found a li",
    ),
    ("json", b'[{"host": null, "start": 1, "end": 2, "what": ""}]', "columns.node: expected the name of a node, found"),
    (
        "json",
        b'[{"host": "a", "start": true, "end": 2, "what": ""}]',
        "columns.time: expected numbers, found true in ro",
    ),
    (
        "json",
        b'[{"host": "a", "start": NaN, "end": 2, "what": ""}]',
        "columns.time: expected numbers, found nan in row",
    ),
]


@pytest.mark.parametrize(("kind", "data", "line"), WRONG)
def test_what_is_wrong_with_a_trace_is_told(kind, data, line, read):
    code, told = read(kind, data)
    assert code == 2
    assert told.startswith(f"s.toml: failures.0.{line}")


def test_digits_beyond_all_use_are_a_wrong_number(read):
    code, told = read("restarts", b"step_reached,step_restarted_from\n" + b"9" * 5000 + b",3\n")
    assert (code, told[:75]) == (2, "restarts.csv: row 1, step_reached: expected a whole number from 0 to 100000")
