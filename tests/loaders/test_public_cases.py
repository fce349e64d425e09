"""Public trouble reports: the sound value, and the damage that was done, as `scenarios/cases` says it.

A line `# Fault --set key=value: figure value, ...` (or Sound) of a file is what its scenario, so changed, comes to; `~`
marks a mean. Instead of figures: the line that it is refused with.
"""

import re
import shlex
import statistics
from pathlib import Path

import pytest

from clustersim import load_scenario, simulate
from clustersim.scenario import ScenarioError, parse_override

CASES = Path(__file__).parents[2] / "scenarios" / "cases"
FIGURES = {
    "extra": "extra_views_ideal",
    "missing": "missing_views_ideal",
    "never": "never_seen_samples",
    "documents_never": "documents_never_seen",
    "documents_in_part": "documents_seen_in_part",
    "missing_tokens": "missing_tokens",
    "extra_tokens": "extra_tokens",
    "views": "lineage_views",
    "steps": "steps",
    "rolled_back": "rolled_back_steps",
    "ettr": "ettr",
    "restarts": "restarts",
    "data_parallel_min": "data_parallel_min",
}
CLAIM = re.compile(r"# (?:Sound|Fault)((?: --set .+?)?): (.+)")
RUNS = 30


def claims():
    cases = []
    for path in sorted(CASES.glob("*.toml")):
        found = [match.groups() for line in path.read_text("utf-8").splitlines() if (match := CLAIM.fullmatch(line))]
        assert len(found) > 1, path
        cases += (pytest.param(path, *claim, id=f"{path.stem}{claim[0]}") for claim in found)
    return cases


def figure_of(run, word):
    if word == "unseen":  # planned or not
        return str(run.account.table.samples[run.account.table.seen == 0].sum())
    if word.removesuffix("_s") in run.time_ns:
        return f"{run.time_ns[word.removesuffix('_s')] / 1e9:.12g}"
    if word == "up":  # the share of the wall time in which no node is waited for
        return f"{1 - run.time_ns['waiting_for_nodes'] / run.history.wall_ns:.12g}"
    if word.endswith("_gpu_h"):
        node_hours = run.time.set_index("bucket").loc[word.removesuffix("_gpu_h"), "node_hours"]
        return f"{node_hours * run.scenario.cluster.gpus_per_node:.1f}"
    return run.history.outcome if word == "outcome" else str(run.summary()[FIGURES[word]])


@pytest.mark.parametrize(("path", "changes", "claimed"), claims())
def test_a_case_is_as_its_file_says(path, changes, claimed):
    overrides = dict(parse_override(word) for word in shlex.split(changes) if word != "--set")
    if ": expected " in claimed:
        with pytest.raises(ScenarioError, match=re.escape(claimed)):
            load_scenario(path, overrides)
        return
    scenario = load_scenario(path, overrides)
    run = simulate(scenario)
    for word, value in (each.split() for each in claimed.split(", ")):
        if value.startswith("~"):
            drawn = [float(figure_of(simulate(scenario, replication), word)) for replication in range(RUNS)]
            z = (statistics.mean(drawn) - float(value[1:])) * RUNS**0.5 / statistics.stdev(drawn)
            assert abs(z) < 3.5, word
        else:
            assert figure_of(run, word) == value, word


def test_each_case_has_a_sound_value_and_a_fault():
    for path in CASES.glob("*.toml"):
        text = path.read_text("utf-8")
        assert "\n# Sound" in text, path
        assert "\n# Fault" in text, path
