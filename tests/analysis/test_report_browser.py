"""The report in a real browser, offline: no error, figures drawn, tables that sort, on a phone and in the dark."""

import json
import re
import shutil
import subprocess
from html import unescape

import pytest

from clustersim.cli.main import main

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")

# A name and a cause that would be markup if somebody let them.
NAMED = '<script>document.title = "broken into"</script> & $x$'
CAUSE = "<img src=x onerror=\\\"document.title='broken into'\\\">"
SCENARIO = f"""
name = '{NAMED}'
[run]
wall_time = "10 d"
[model]
global_batch = 8
step_time = "5 min"
[cluster]
nodes = 4
gpus_per_node = 1
[[failures]]
cause = "{CAUSE}"
rate = "0.2 per node-day"
[checkpoint]
every = "1 h"
stall = "30 s"
[data]
documents = 5000
[loader]
preset = "reshuffle"
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """The reports of a run and of each kind of study, by command."""
    where = tmp_path_factory.mktemp("reports")
    (where / "odd.toml").write_text(SCENARIO)
    (where / "restarts.csv").write_text("step_reached,step_restarted_from\n470,400\n")
    odd, two, steps = where / "odd.toml", ["--workers", 1, "--replications", 2], ["--set", "run.wall_time="]
    steps += ["--set", "run.steps=2000"]
    commands = {
        "run": [odd, "--replications", 3],
        "sweep": [odd, *two, "--vary", "checkpoint.every=1 h,4 h"],
        "intervals": [odd, *two, "--every", "30 min,1 h,2 h,4 h"],
        "loaders": [odd, *two, "--presets", "restore,epoch"],
        "capacity": [odd, *two, *steps, "--by", "10 d", "--spares", "0,1"],
        "replay": [where / "restarts.csv", odd, *steps, "--replications", 2, "--loader", "restore,epoch"],
    }
    for command, options in commands.items():
        arguments = [command, *options, "--out", where / command]
        assert main([str(each) for each in arguments]) == 0
        assert main(["report", str(where / command)]) == 0
    return {command: where / command / "report.html" for command in commands}


def browse(page, *options):
    """The page's DOM after its scripts have run, and what its console said."""
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", *options]
    done = subprocess.run(
        [*command, "--virtual-time-budget=30000", "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout, [line for line in done.stderr.splitlines() if ":CONSOLE" in line]


def with_script(page, script, name):
    """A copy of a page that runs one more script in the end."""
    copy = page.with_name(name)
    copy.write_text(page.read_text().replace("</body>", f"<script>{script}</script></body>"))
    return copy


# What is asked of each page within a frame as wide as a phone, once its figures are drawn.
LOOK = """
const look = (document) => {
  const table = document.querySelector("table.sortable");
  const column = table.tHead.rows[0].cells.length - 1;
  const values = () => [...table.tBodies[0].rows].map((row) => row.cells[column].dataset.value);
  const button = table.tHead.rows[0].cells[column].firstElementChild;
  const texts = (selector) => [...document.querySelectorAll(selector)].map((each) => each.textContent);
  return {
    title: document.title,
    heading: document.querySelector("h1").textContent,
    drawn: document.querySelectorAll(".plot.js-plotly-plot .main-svg:first-of-type").length,
    asked: document.querySelectorAll("script[data-plot]").length,
    width: document.documentElement.scrollWidth,
    ticks: texts(".ytick text"),
    rising: (button.click(), values()),
    falling: (button.click(), values()),
    direction: button.parentElement.ariaSort,
  };
};
const frames = [...document.querySelectorAll("iframe")];
const waiting = setInterval(() => {
  const seen = frames.map((frame) => frame.contentDocument);
  if (!seen.every((page) => page.readyState === "complete" && page.querySelector(".plot .main-svg"))) return;
  clearInterval(waiting);
  document.querySelector("pre").textContent = JSON.stringify(seen.map(look));
}, 500);
"""


@pytest.fixture(scope="module")
def phone(reports):
    """What each page comes to on a phone, by command, and what the console said of all of them."""
    page = next(iter(reports.values())).parent.parent / "phones.html"
    frames = [f'<iframe src="{command}/report.html" width="360" height="900"></iframe>' for command in reports]
    page.write_text(f"<pre></pre>{''.join(frames)}<script>{LOOK}</script>")
    dom, console = browse(page, "--allow-file-access-from-files", "--hide-scrollbars")
    told = json.loads(unescape(re.search("<pre>(.*?)</pre>", dom)[1]))
    return dict(zip(reports, told, strict=True)), console


def test_the_pages_render_without_a_word_on_the_console(phone):
    seen, console = phone
    assert console == []
    assert [(page["title"], page["heading"]) for page in seen.values()] == [(NAMED, NAMED)] * 6
    assert {command: page["drawn"] for command, page in seen.items()} == {
        "run": 4,
        "sweep": 2,
        "intervals": 1,
        "loaders": 1,
        "capacity": 1,
        "replay": 1,
    }
    assert all(page["drawn"] == page["asked"] for page in seen.values())


def test_a_phone_shows_them_without_scrolling_sideways(phone):
    assert {command: page["width"] for command, page in phone[0].items()} == dict.fromkeys(phone[0], 360)


def test_a_cause_is_shown_as_it_is_spelt(phone):
    causes = [tick for tick in phone[0]["run"]["ticks"] if "img" in tick]
    assert [cause.rpartition(" (")[0] for cause in causes] == [CAUSE.replace("\\", "")]


def test_a_click_on_a_head_sorts_by_the_figures(phone):
    """By numbers, not by their texts: 1.2 k is more than 900."""
    run = phone[0]["run"]
    rising, falling = ([float(value) for value in run[name]] for name in ("rising", "falling"))
    assert len(set(rising)) > 10
    assert rising == sorted(rising)
    assert falling == sorted(rising, reverse=True)
    assert run["direction"] == "descending"


def test_the_console_would_tell_of_an_error(reports):
    _, console = browse(with_script(reports["sweep"], "nothing.here", "wrong.html"))
    assert len(console) == 1
    assert "nothing is not defined" in console[0]


def test_nothing_is_loaded_from_elsewhere(reports):
    """The page's own policy forbids it, and the browser says so."""
    asks = "fetch('http://127.0.0.1:9/').catch(() => 0)"
    _, console = browse(with_script(reports["sweep"], asks, "asking.html"))
    assert any("Content Security Policy" in line for line in console)


@pytest.mark.parametrize(("scheme", "paper"), [(0, "rgb(22, 24, 28)"), (1, "rgb(255, 255, 255)")])
def test_it_is_dark_where_the_reader_is(reports, scheme, paper):
    colour = "document.title = getComputedStyle(document.body).backgroundColor"
    page = with_script(reports["sweep"], colour, "colour.html")
    dom, _ = browse(page, f"--blink-settings=preferredColorScheme={scheme}")
    assert f"<title>{paper}</title>" in dom
