"""`clustersim report`: each command's words, the figures of its study behind them, one line for what is wrong."""

import json
from html.parser import HTMLParser

import pandas as pd
import pytest

import clustersim.cli.report as report_module
from analysis import sensitivity
from clustersim import load_study
from clustersim.cli import report_run
from clustersim.cli.report_parts import varied
from clustersim.cli.words import count, share

STEPS = ("--set", "run.wall_time=", "--set", "run.steps=30000")
SKIPPING = ("--set", "data.skip=[[480, 488]]")  # beyond the workshop's end; parts have no position to skip
KINDS = {
    "run": ["--replications", 3, "--set", "loader.preset=epoch"],
    "sweep": ["--workers", 1, "--replications", 2, "--vary", "checkpoint.every=5 min,20 min"],
    "intervals": ["--workers", 1, "--replications", 2, "--every", "5 min,20 min,30 min,1 h", "--loaders", "epoch"],
    "capacity": ["--workers", 1, "--replications", 2, "--by", "9 d", "--spares", "0,4", *STEPS],
    "loaders": ["--workers", 1, "--replications", 2, "--presets", "epoch,restore"],
}


class Tables(HTMLParser):
    """The sortable tables of a page, by caption: a list of rows, each of the values that its cells sort by."""

    def __init__(self, text):
        super().__init__()
        self.found = {}
        self._rows, self._in_caption = None, False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self._in_caption = tag == "caption"
        if tag == "tr" and self._rows is not None:
            self._rows.append([])
        if tag == "td" and "data-value" in dict(attributes):
            self._rows[-1].append(dict(attributes)["data-value"])

    def handle_data(self, text):
        if self._in_caption:
            self._rows = self.found.setdefault(text, [])

    def handle_endtag(self, tag):
        if tag == "caption":
            self._in_caption = False


@pytest.fixture(params=KINDS)
def stored(request, clustersim, tmp_path):
    """A kind, the directory that its command left, and what the command printed."""
    out = tmp_path / request.param
    code, printed, _ = clustersim(request.param, "small", *KINDS[request.param], "--out", out)
    assert code == 0
    return request.param, out, printed


def test_the_page_answers_as_the_command_does(clustersim, stored):
    _, out, printed = stored
    code, told, err = clustersim("report", out)
    *answer, empty, wrote = told.splitlines()
    assert (code, err, empty, wrote) == (0, "", "", f"wrote {out / 'report.html'}")
    assert answer == printed.splitlines()[2 : 2 + len(answer)]
    page = (out / "report.html").read_text()
    assert answer[0].replace("'", "&#39;") in page


def test_the_tables_hold_the_studys_own_figures(clustersim, stored):
    kind, out, _ = stored
    assert clustersim("report", out)[0] == 0
    tables = Tables((out / "report.html").read_text()).found
    if kind == "run":
        figures = {row[0]: [float(value) for value in row[1:]] for row in tables["Figures of 3 replications"] if row}
        spread = json.loads((out / "run.json").read_text())["summary"]
        parts = ("mean", "ci95_low", "ci95_high", "p05", "p50", "p95")
        assert figures["extra views"] == [spread["extra_views"][part] for part in parts]
        assert figures["useful share of it (ETTR)"] == [spread["ettr"][part] for part in parts]
        times = {row[0]: [float(value) for value in row[2:]] for row in tables["Where the time went"] if row}
        spread = json.loads((out / "run.json").read_text())["time_h"]["wasted_progress"]
        assert times["wasted progress"] == [spread[part] for part in parts]
    elif kind == "sweep":
        assert "checkpoint.every = 5 min, 20 min, instead of what stands below" in (out / "report.html").read_text()
        means = load_study(out).table.groupby("point")["rolled_back_steps"].mean()
        assert [float(row[-1]) for row in tables["Points"] if row] == means.tolist()
    elif kind == "intervals":
        table = pd.read_parquet(out / "intervals.parquet")
        shown = [[float(value) for value in row[1:]] for row in tables["Checkpoint intervals"] if row]
        columns = ["interval_s", "ettr", "rolled_back_steps", "damage_epoch"]
        assert shown == table[columns].to_numpy().tolist()
    elif kind == "capacity":
        table = pd.read_parquet(out / "capacity.parquet")
        shown = [[float(row[place]) for place in (0, 1, 4, -2)] for row in tables["Plans"] if row]
        assert shown == table[["spares", "on_time", "p50_h", "cost"]].to_numpy().tolist()
    else:
        table = pd.read_parquet(out / "league.parquet")
        rows = [row for row in tables["Loaders, the least damage first"] if row]
        assert [row[0] for row in rows] == table["preset"].tolist()
        assert [float(row[2]) for row in rows] == table["extra_views"].tolist()


def test_a_long_ledger_is_cut_to_its_most_frequent_rows(clustersim, tmp_path, monkeypatch):
    monkeypatch.setattr(report_run, "_LEDGER_ROWS", 3)
    out = tmp_path / "run"
    assert clustersim("run", "small", "--set", "loader.preset=reshuffle", "--out", out)[0] == 0
    assert clustersim("report", out)[0] == 0
    ledger = pd.read_parquet(out / "ledger").sort_values("samples", ascending=False)
    page = (out / "report.html").read_text()
    rows = Tables(page).found["Ledger: samples by how often they were planned and seen"]
    shown = [[int(value) for value in row[:3]] for row in rows if row]
    assert shown == sorted(ledger[["planned", "seen", "samples"]].head(3).to_numpy().tolist())
    left_out = count(ledger["samples"].iloc[3:].sum())
    assert f"{len(ledger) - 3} rarer rows with {left_out} samples left out; ledger.csv has them all." in page


def test_a_key_that_all_points_set_alike_is_no_variation():
    points = [{"loader.preset": name, "data.order": "shuffle"} for name in ("epoch", "restore")]
    assert [row[0] for row in varied({"points": points})] == ["varied", "set"]
    many = varied({"points": [{"x": number} for number in range(20)]})
    assert many == [("varied", "x = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 8 more, instead of what stands below")]


def test_uncertain_rates_have_their_part_of_each_interval(clustersim, tmp_path):
    out = tmp_path / "run"
    options = ("--set", "failures.1.uncertain=true", "--set", "run.wall_time=1 d", "--replications", 12, "--out", out)
    code, printed, err = clustersim("run", "small", *options)
    assert (code, err) == (0, "")
    assert "by uncertain rates" in printed
    assert clustersim("report", out)[0] == 0
    halves = json.loads((out / "run.json").read_text())["ci95_half"]["ettr"]
    rows = Tables((out / "report.html").read_text()).found["Half of the 95 % interval of a mean"]
    shown = {row[0]: [float(value) for value in row[1:]] for row in rows if row}
    assert shown["useful share of it (ETTR)"] == list(halves.values())


def test_points_drawn_from_ranges_are_told_by_the_keys_that_matter(clustersim, tmp_path):
    out = tmp_path / "study"
    ranges = ("--range", "checkpoint.every=5 min..2 h", "--range", "recovery.load=1 s..1 min")
    options = ("--design", "saltelli", "--points", 8, *ranges, "--replications", 2, "--workers", 1, "--out", out)
    code, printed, _ = clustersim("sweep", "small", *options)
    assert code == 0
    assert clustersim("report", out)[0] == 0
    page = (out / "report.html").read_text()
    responses = sensitivity.load(out, "ettr")
    told = sensitivity.tornado(responses).merge(sensitivity.indices(responses), on="key")
    rows = [row for row in Tables(page).found["On which keys the useful share of time depends"] if row]
    assert [row[0] for row in rows] == ["checkpoint.every", "recovery.load"]
    shown = [[float(value) for value in row[3:]] for row in rows]
    assert shown == told[["at_low", "at_high", "swing", "first", "total"]].to_numpy().tolist()
    low, high = (share(told[end][0]) for end in ("at_low", "at_high"))
    depends = f"The useful share of time depends most on checkpoint.every: from {low} at 5 min to {high} at 2 h"
    assert depends in page
    assert printed.splitlines()[2].startswith(depends)
    assert "checkpoint.every = 5 min .. 2 h, instead of what stands below" in page
    assert page.count("data-plot=") == 1, "no damage, no figure of it"


def test_presets_that_were_not_run_say_why(clustersim, tmp_path):
    options = ("--workers", 1, "--replications", 1, "--presets", "restore,datasets-3.6", "--out", tmp_path / "league")
    assert clustersim("loaders", "workshop", *SKIPPING, *options)[0] == 0
    assert clustersim("report", tmp_path / "league")[0] == 0
    tables = Tables((tmp_path / "league" / "report.html").read_text()).found
    ((preset, why),) = filter(None, tables["Presets that were not run"])
    assert (preset, 'expected last_batch = "span"' in why) == ("datasets-3.6", True)
    assert [row[0] for row in tables["Loaders, the least damage first"] if row] == ["restore"]


def test_a_replay_shows_its_loaders_and_what_it_assumed(clustersim, tmp_path):
    restarts, out = tmp_path / "restarts.csv", tmp_path / "replayed"
    restarts.write_text("step_reached,step_restarted_from\n47,40\n")
    options = ("--loader", "epoch,restore,datasets-3.6", "--replications", 2, "--out", out)
    code, printed, _ = clustersim("replay", restarts, "workshop", *SKIPPING, *options)
    assert code == 0
    code, told, _ = clustersim("report", out)
    assert (code, told.splitlines()[0]) == (0, printed.splitlines()[2])
    page = (out / "report.html").read_text()
    assert "the batch of step 47 had been read." in page
    tables = Tables(page).found
    shown = [[row[0], float(row[2])] for row in tables["Loaders, the least damage first"] if row]
    assert shown == [["restore", 0], ["epoch", 80]]
    assert [row[0] for row in tables["Presets that were not counted"] if row] == ["datasets-3.6"]


def test_a_validation_shows_its_figures(clustersim, tmp_path):
    out = tmp_path / "validation"
    assert clustersim("validate", "--quick", "--only", "V7,V11", "--workers", 1, "--out", out)[0] == 0
    answer, left_out, *_ = clustersim("report", out)[1].splitlines()
    assert answer == "4 published figures: 1 pass, 3 not run."
    assert left_out.startswith("V7, not run: needs the trace")
    page = (out / "report.html").read_text()
    assert [row[-1] for row in Tables(page).found["Figures"] if row] == ["not run"] * 3 + ["pass"]
    assert "V11.cluster.gpus_per_node" in page


def test_names_are_no_markup(clustersim, tmp_path):
    """Wherever a text of the scenario's comes on the page."""
    odd = "</script><script>alert(1)</script>"
    scenario, out = tmp_path / "odd.toml", tmp_path / "out"
    scenario.write_text(
        f"name = '{odd}'\n[run]\nsteps = 50\n[model]\nglobal_batch = 4\nstep_time = '1 min'\n[cluster]\nnodes = 1\n"
        f"gpus_per_node = 1\n[[failures]]\ncause = '{odd}'\nat_steps = [20]\n[checkpoint]\nevery = '10 steps'\n"
        "[data]\ndocuments = 100\n[loader]\npreset = 'epoch'\n"
    )
    assert clustersim("run", scenario, "--out", out)[0] == 0
    assert clustersim("report", out)[0] == 0
    page = (out / "report.html").read_text()
    assert page.count("alert(1)") > 3
    assert "<script>alert(1)" not in page
    assert "</script><script>" not in page


def test_json_and_a_page_elsewhere(clustersim, stored, tmp_path):
    page = tmp_path / "page.html"
    code, told, _ = clustersim("report", stored[1], "--out", page, "--json")
    told = json.loads(told)
    assert (code, told["report"], told["title"]) == (0, str(page), "Sixteen nodes, ten days")
    assert page.exists()
    assert not (stored[1] / "report.html").exists()


def test_what_is_no_result_is_one_line(clustersim, tmp_path):
    code, printed, err = clustersim("report", tmp_path)
    assert (code, printed) == (2, "")
    expected = "expected a directory that --out of run, sweep or another command left"
    assert err == f'clustersim: DIR: {expected}, found "{tmp_path}"\n'
    (tmp_path / "study.json").write_text("{}")
    code, _, err = clustersim("report", tmp_path)
    expected = "clustersim: DIR: expected tables that this version reads, found"
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith(f"{expected} no {tmp_path}/")


@pytest.mark.parametrize("name", ["legs/00000.parquet", "run.json"])
def test_a_damaged_file_is_named(clustersim, tmp_path, name):
    assert clustersim("run", "workshop", "--out", tmp_path)[0] == 0
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    code, _, err = clustersim("report", tmp_path)
    told = f"expected tables that this version reads, found {tmp_path / name}, which is damaged"
    assert (code, err) == (2, f"clustersim: DIR: {told}\n")


def test_a_page_that_cannot_be_written_is_one_line(clustersim, tmp_path):
    out = tmp_path / "out"
    assert clustersim("run", "workshop", "--out", out)[0] == 0
    code, printed, err = clustersim("report", out, "--out", tmp_path / "none" / "page.html")
    assert (code, printed) == (1, "")
    assert err.startswith("could not write: No such file or directory")


def test_without_plotly_it_says_what_to_install(clustersim, tmp_path, monkeypatch):
    monkeypatch.setattr(report_module, "find_spec", lambda name: None)
    code, _, err = clustersim("report", tmp_path)
    assert code == 2
    assert err == "clustersim: DIR: a report takes jinja2 and plotly (pip install 'clustersim[report]')\n"
