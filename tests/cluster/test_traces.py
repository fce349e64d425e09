"""A trace is replayed as it was: who fails when, for how long, from which cause."""

import json

import pandas as pd
import pytest

from clustersim import ScenarioError, load_scenario
from clustersim.training.compile import World

HOUR_NS = 3600 * 10**9
ROWS = [
    ("a", 1.0, 3.0, "GPU"),
    ("b", 2.0, 2.5, "NIC"),
    ("c", 4.0, 4.0, "GPU"),
    ("a", 5.0, None, "GPU"),
]


def write(path, rows=ROWS):
    table = pd.DataFrame(rows, columns=["host", "start", "end", "what"])
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        table.to_parquet(path)
    else:
        records = [
            {"host": host, "start": start, "end": end, "fault": {"what": what}} for host, start, end, what in rows
        ]
        path.write_text(json.dumps(records))
    return path


def traced(path, **keys):
    columns = {"time": "start", "node": "host", "end": "end", "cause": "what"}
    if path.suffix == ".json":
        columns["cause"] = "fault.what"
    return {
        "cause": "log",
        "trace": str(path),
        "columns": columns,
        "unit": "h",
        "nodes": 4,
        "length": "8 h",
        "assign": "order",
        **keys,
    }


def scenario(failure, hours=24, **cluster):
    return load_scenario(
        {
            "name": "replay",
            "run": {"wall_time": f"{hours} h"},
            "model": {"global_batch": 3, "step_time": "10 s"},
            "cluster": {"nodes": 3, "spares": 1, "gpus_per_node": 1, **cluster},
            "failures": [failure],
            "checkpoint": {"every": "1 steps"},
            "data": {"samples": "1 T"},
        }
    )


def told(loaded, replication=0):
    world = World(loaded, 0, replication)
    history = world.run()
    return [(row.time_ns / HOUR_NS, row.kind, row.cause, row.node) for row in history.happenings]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "json"])
def test_what_a_trace_tells_happens(tmp_path, suffix):
    """One slot, which a trace does not wait for; the last fault is open and lasts until the trace ends."""
    loaded = scenario(traced(write(tmp_path / f"log.{suffix}")), repair_slots=1)
    assert told(loaded) == [
        (1, "failure", "log: GPU", 0),
        (2, "failure", "log: NIC", 1),
        (2.5, "repair", "log: NIC", 1),
        (3, "repair", "log: GPU", 0),
        (4, "failure", "log: GPU", 2),
        (4, "repair", "log: GPU", 2),
        (5, "failure", "log: GPU", 0),
        (8, "repair", "log: GPU", 0),
    ]


def test_rows_of_events_are_paired(tmp_path):
    rows = [("a", 1.0, "up"), ("b", 1.5, "down"), ("a", 2.0, "down"), ("b", 2.5, "up"), ("a", 3.0, "up")]
    path = tmp_path / "events.csv"
    columns = {"time": "at", "node": "host", "event": "is"}
    keys = traced(path, columns=columns, starts="down", ends="up")
    pd.DataFrame(rows[1:], columns=["host", "at", "is"]).to_csv(path, index=False)
    assert told(scenario(keys)) == [
        (1.5, "failure", "log", 0),
        (2, "failure", "log", 1),
        (2.5, "repair", "log", 0),
        (3, "repair", "log", 1),
    ]
    pd.DataFrame(rows, columns=["host", "at", "is"]).to_csv(path, index=False)
    refused(keys, "trace: expected a start before each end, found row 1 that ends a fault that did not start")
    path.write_text("host,at,is\na,1,down\na,2,broken\n")
    refused(keys, 'trace: expected "down" or "up" in column is, found "broken" in row 2')


def test_a_trace_begins_at_its_offset_and_may_begin_again(tmp_path):
    """From hour 2 on: a's first fault has an hour left, and its second one ends with the trace, 3 h later."""
    loaded = scenario(traced(write(tmp_path / "log.csv"), offset="2 h", length="5 h", at_end="repeat"), hours=6.5)
    assert [row[:2] for row in told(loaded)] == [
        (0, "failure"),
        (0, "failure"),
        (0.5, "repair"),
        (1, "repair"),
        (2, "failure"),
        (2, "repair"),
        (3, "failure"),
        (5, "repair"),
        (5, "failure"),
        (5, "failure"),
        (5.5, "repair"),
        (6, "repair"),
    ]


def test_faults_that_overlap_are_one_and_those_of_no_length_may_go(tmp_path):
    rows = [
        ("a", 1.0, 4.0, "x"),
        ("a", 2.0, 6.0, "y"),
        ("a", 3.0, 3.0, "y"),
        ("b", 5.0, 5.0, "y"),
        ("a", 6.0, 7.0, "y"),
    ]
    path = write(tmp_path / "log.csv", rows)
    refused(traced(path), 'overlaps: expected "merge", or faults of one node apart, found row 2 within row 1')
    merged = told(scenario(traced(path, overlaps="merge")))
    assert merged == [
        (1, "failure", "log: x", 0),
        (5, "failure", "log: y", 1),
        (5, "repair", "log: y", 1),
        (6, "repair", "log: x", 0),
        (6, "failure", "log: y", 0),
        (7, "repair", "log: y", 0),
    ]
    dropped = told(scenario(traced(path, overlaps="merge", zero_length="drop")))
    assert dropped == [row for row in merged if row[3] == 0]


def test_a_fault_of_no_length_interrupts_the_job(tmp_path):
    loaded = scenario(traced(write(tmp_path / "log.csv", [("a", 2.0, 2.0, "x")])))
    history = World(loaded, 0, 0).run()
    assert len(history.legs) == 2
    assert [recovery.spent_ns("waiting_for_nodes") for recovery in history.recoveries] == [0]


def test_each_replication_gives_the_faults_to_other_nodes(tmp_path):
    loaded = scenario(traced(write(tmp_path / "log.csv"), assign="shuffle"))
    nodes = [tuple(row[3] for row in told(loaded, replication) if row[1] == "failure") for replication in range(40)]
    assert nodes[3] == tuple(row[3] for row in told(loaded, 3) if row[1] == "failure")
    assert {first for first, *_ in nodes} == {0, 1, 2, 3}
    assert all(first == last and len(set(four)) == 3 for four in nodes for first, *_, last in [four])


def test_a_trace_beside_random_failures(tmp_path):
    """A node that is in repair already when its fault begins is back when both are over."""
    path = write(tmp_path / "log.csv", [("a", 11.0, 15.0, "x"), ("b", 11.0, 12.0, "x")])
    loaded = scenario(traced(path, length="20 h"), nodes=3)
    wear = {
        "cause": "wear",
        "law": {"type": "empirical", "durations": ["10 h"]},
        "repair": "3 h",
    }
    loaded = load_scenario(loaded, {"failures": [loaded.resolved()["failures"][0], wear], "run.wall_time": "16 h"})
    back = {row[3]: row[0] for row in told(loaded) if row[1] == "repair"}
    assert back == {0: 15, 1: 13, 2: 13, 3: 13}


def refused(failure, line):
    with pytest.raises(ScenarioError) as caught:
        scenario(failure)
    assert str(caught.value) == f"scenario: failures.0.{line}"


@pytest.mark.parametrize(
    ("rows", "keys", "line"),
    [
        (
            [("a", 1.0, 0.5, "x")],
            {},
            "trace: expected an end after its start, found row 1 that ends before it starts",
        ),
        (
            [("a", 2.0, 3.0, "x"), ("b", 1.0, 2.0, "x")],
            {},
            "trace: expected times in order, found row 2 before the one above",
        ),
        (
            [(name, 1.0, 2.0, "x") for name in "abcde"],
            {},
            "nodes: expected at least the 5 nodes named until row 5, found 4",
        ),
        ([("a", 9.0, 9.5, "x")], {}, "length: expected a time that covers row 1, found a shorter one"),
        ([("a", "noon", 9.5, "x")], {}, 'columns.time: expected numbers, found "noon" in row 1'),
        (
            ROWS,
            {"columns": {"time": "at", "node": "host", "end": "end"}},
            "columns.time: expected a column of {file}",
        ),
        (ROWS, {"columns": {"time": "start", "node": "host"}}, "columns.event: expected either end (one row a fault)"),
        (ROWS, {"starts": "down"}, 'starts: expected columns.event beside starts, found "down"'),
        (ROWS, {"nodes": 3}, "nodes: expected 4, the nodes and spares of the cluster, found 3"),
        (ROWS, {"trace": "log.txt"}, 'trace: expected a readable file beside scenario, found "log.txt" (No such file'),
        (ROWS, {"sha256": "0"}, "sha256: expected "),
        (ROWS, {"rate": "1 per day"}, "rate: expected a known key"),
        (
            ROWS,
            {"kind": "slow"},
            "kind: expected no such key beside trace, whose faults take their nodes out of the job",
        ),
    ],
)
def test_a_trace_that_cannot_be_replayed_is_refused(tmp_path, rows, keys, line):
    path = write(tmp_path / "log.csv", rows)
    with pytest.raises(ScenarioError) as caught:
        scenario(traced(path, **keys))
    assert str(caught.value).startswith(f"scenario: failures.0.{line}".replace("{file}", str(path)))


def test_a_file_that_is_no_table_is_refused(tmp_path):
    for suffix in ("json", "parquet"):
        path = tmp_path / f"log.{suffix}"
        path.write_text("no table")
        with pytest.raises(ScenarioError, match=r"^scenario: failures\.0\.trace: expected a table of faults, found an"):
            scenario(traced(path))
    (tmp_path / "log.txt").write_text("")
    refused(
        traced(tmp_path / "log.txt"),
        f'trace: expected a file that ends in .csv, .json or .parquet, found "{str(tmp_path / "log.txt")[:60]}'
        + ('"' if len(str(tmp_path / "log.txt")) <= 60 else '…"'),
    )


def test_a_result_is_named_by_what_the_trace_held(tmp_path):
    path = write(tmp_path / "log.csv")
    loaded = scenario(traced(path))
    assert load_scenario(loaded.resolved()).digest == loaded.digest
    write(path, ROWS[:2])
    assert scenario(traced(path)).digest != loaded.digest
    with pytest.raises(ScenarioError, match=r"failures\.0\.sha256: expected [0-9a-f]{64}, that of the file, found"):
        load_scenario(loaded.resolved())
    assert len(told(loaded)) == 8  # it was read once


def test_a_trace_is_looked_for_beside_its_scenario(tmp_path, monkeypatch):
    write(tmp_path / "log.csv")
    (tmp_path / "mine.toml").write_text(
        """
        run.wall_time = "9 h"
        model = { global_batch = 3, step_time = "10 s" }
        cluster = { nodes = 3, spares = 1, gpus_per_node = 1 }
        checkpoint.every = "1 steps"
        data.samples = 100
        [[failures]]
        cause = "log"
        trace = "log.csv"
        columns = { time = "start", node = "host", end = "end" }
        unit = "h"
        nodes = 4
        length = "8 h"
        """
    )
    loaded = load_scenario(tmp_path / "mine.toml")
    assert {row[2] for row in told(loaded)} == {"log"}
    assert load_scenario(loaded, {"run.seed": 1}).faults == loaded.faults
