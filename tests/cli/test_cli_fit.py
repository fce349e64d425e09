"""`clustersim fit`: a table of laws, the part of a scenario that says the best ones, and one line for what is wrong."""

import json
import tomllib

import numpy as np
import pandas as pd
import pytest

OPTIONS = ("--time", "start", "--node", "host", "--unit", "h", "--nodes", 60, "--length", "1000 h")
ASKED = (*OPTIONS, "--end", "end")


@pytest.fixture
def trace(tmp_path):
    """Sixty nodes that live for 200 h on average and are out for 5, by exponential laws."""
    rng, rows = np.random.default_rng(1), []
    for node in range(60):
        at = rng.exponential(200)
        while at < 1000:
            back = at + rng.exponential(5)
            rows.append((f"host {node}", at, back if back < 1000 else None, "GPU" if rng.random() < 0.7 else "NIC"))
            at = back + rng.exponential(200)
    path = tmp_path / "log.csv"
    pd.DataFrame(sorted(rows, key=lambda row: row[1]), columns=["host", "start", "end", "what"]).to_csv(
        path, index=False
    )
    return path


def test_the_page_ends_in_a_part_of_a_scenario(clustersim, trace):
    code, printed, err = clustersim("fit", trace, *ASKED)
    lines = printed.splitlines()
    faults = len(pd.read_csv(trace))
    assert (code, err) == (0, "")
    assert lines[0].startswith(f"log: time to failure of a node ({faults} seen to the end, ")
    assert lines[0].endswith(", 60 of unknown age at first)")
    assert {line.split()[0] for line in lines[3:7]} == {"exponential", "weibull", "lognormal", "gamma"}
    (failure,) = tomllib.loads(printed[printed.index("[[failures]]") :])["failures"]
    assert failure["cause"] == "log"
    assert float(failure["rate"].split()[0]) == pytest.approx(24_000 / 200, rel=0.15)


def test_json_has_every_law_of_every_cause(clustersim, trace):
    code, printed, _ = clustersim("fit", trace, *ASKED, "--cause", "what", "--new", "--json")
    told = json.loads(printed)
    assert code == 0
    assert [each["cause"] for each in told["causes"]] == ["GPU", "NIC"]
    first = told["causes"][0]
    assert first["lives"]["unknown_age"] == 0
    assert [len(first[name]["laws"]) for name in ("lives", "repairs")] == [4, 4]
    aic = [law["aic"] for law in first["lives"]["laws"]]
    assert aic == sorted(aic)
    exponential = next(law for law in first["lives"]["laws"] if law["law"] == "exponential")
    assert exponential["mean_h"]["ci95_low"] < 200 / 0.7 < exponential["mean_h"]["ci95_high"]
    assert exponential["shape"] is exponential["p_exponential"] is None
    assert len(tomllib.loads(told["scenario"])["failures"]) == 2


def test_a_picture_is_drawn(clustersim, trace, tmp_path):
    picture = tmp_path / "fit.png"
    code, printed, err = clustersim("fit", trace, *ASKED, "--cause", "what", "--plot", picture)
    assert (code, printed.count("[[failures]]"), err) == (0, 2, f"wrote {picture}\n")
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            (*OPTIONS,),
            "columns.event: expected either end (one row a fault) or event (one row an event), found neither",
        ),
        ((*ASKED, "--event", "what"), "columns.event: expected either end"),
        ((*ASKED[2:],), "clustersim: --time: expected a value, found nothing"),
        ((*ASKED, "--nodes", "0"), 'clustersim: --nodes: expected a whole number of at least 1, found "0"'),
        ((*ASKED, "--nodes", "3"), "nodes: expected at least the 4 nodes named until row"),
        ((*ASKED, "--overlaps", "forget"), 'overlaps: expected one of "refuse", "merge", found "forget"'),
        ((*ASKED, "--starts", "down"), 'starts: expected columns.event beside starts, found "down"'),
        ((*ASKED, "--offset", "999 h"), "expected faults within the length of the trace, found none"),
        (
            (*ASKED, "--plot", "fit.bmpx"),
            'clustersim: --plot: expected a name that ends in .png, .svg, .pdf, found "fit.bmpx"',
        ),
    ],
)
def test_what_is_wrong_is_one_line(clustersim, trace, arguments, line):
    code, printed, err = clustersim("fit", trace, *arguments)
    assert (code, printed) == (2, "")
    assert line in err
    assert err.count("\n") == 1
