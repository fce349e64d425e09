"""Where scenarios come from, what they resolve to, and when two are the same."""

import json
import pickle
import tomllib

import pytest

from clustersim.scenario import ScenarioError, load_scenario, presets, shipped
from clustersim.scenario.laws import Exponential, ExponentialLife, LogNormal, Weibull

SHIPPED = ["capacity", "images", "llama3-405b", "mixture", "small", "windows", "workshop"]
PRESETS = {
    "restore": ("samples", "exact", None),
    "epoch": ("epoch", "restart-epoch", None),
    "reshuffle": ("samples", "reshuffle", "epoch"),
    "restart-run": ("nothing", "restart-run", None),
    "no-rewind": ("nothing", "continue", None),
}


def test_the_shipped_files_are_found_by_name_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert list(shipped()) == SHIPPED
    for name, path in shipped().items():
        assert load_scenario(name) == load_scenario(path) == load_scenario(str(path))
        assert load_scenario(name).source == f"{name}.toml"
        assert path.read_text().startswith("#:schema ./scenario.schema.json\n")


@pytest.mark.parametrize("name", SHIPPED)
def test_a_resolved_scenario_reads_back_from_json(name):
    scenario = load_scenario(name)
    again = load_scenario(json.loads(json.dumps(scenario.resolved())))
    assert again == scenario
    assert again.resolved() == scenario.resolved()
    assert again.digest == scenario.digest
    assert again.sizes == scenario.sizes


def test_the_digest_is_of_what_is_said_not_of_how_or_where(document, tmp_path):
    scenario = load_scenario(document)
    # Golden: stored results name their scenario by this. It changes only with a default, a key or how one is written.
    assert scenario.digest == "241b460221ac5b5429689bf6a07c348b44b8853ea5dfa2f84722841e5d65dcf1"
    document["checkpoint"]["every"] = "0.5 h"
    document["data"]["documents"] = 2_000_000
    document["loader"] = {}
    assert load_scenario(dict(reversed(document.items()))).digest == scenario.digest
    assert hash(load_scenario(document)) == hash(scenario)
    for override in ({"run.seed": 1}, {"checkpoint.every": "31 min"}, {"loader.preset": "epoch"}, {"name": "other"}):
        other = load_scenario(document, override)
        assert other.digest != scenario.digest
        assert other != scenario


def test_a_scenario_travels_between_processes(document):
    scenario = load_scenario(document)
    there = pickle.loads(pickle.dumps(scenario))
    assert there == scenario
    assert there.source == "scenario"
    assert load_scenario(there, {"run.seed": 2}).resolved() == load_scenario(document, {"run.seed": 2}).resolved()


def test_a_scenario_cannot_be_changed(document):
    scenario = load_scenario(document)
    with pytest.raises(ValueError, match="frozen"):
        scenario.run.seed = 3


def test_a_file_names_its_scenario(tmp_path):
    text = shipped()["workshop"].read_text()
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xef\xbb\xbf" + "".join(x for x in text.splitlines(True) if not x.startswith("name")).encode())
    assert load_scenario(path).name == "mine"
    assert load_scenario(path).source == str(path)


@pytest.mark.parametrize("name", list(PRESETS))
def test_presets_are_compositions(document, name):
    first, _, rest = presets()[name].partition("\n")
    assert first.endswith(".")
    assert "Saves: " in rest
    document["loader"] = {"preset": name}
    loader = load_scenario(document).loader
    assert (loader.preset, loader.saves, loader.comes_back, loader.reshuffle_lasts) == (name, *PRESETS[name])


def test_parts_override_the_preset(document):
    document["loader"] = {"preset": "reshuffle", "reshuffle_lasts": "for-good"}
    assert load_scenario(document).loader.reshuffle_lasts == "for-good"
    document["loader"] = {"preset": "reshuffle", "comes_back": "exact"}
    assert load_scenario(document).loader.reshuffle_lasts is None


def test_without_a_preset_all_parts_or_restore(document):
    del document["loader"]
    assert load_scenario(document).loader.preset == "restore"
    document["loader"] = {"saves": "samples", "comes_back": "restart-epoch"}
    loader = load_scenario(document).loader
    assert (loader.preset, loader.saves, loader.comes_back) == (None, "samples", "restart-epoch")


SAVES = ["samples", "epoch", "nothing"]
COMES_BACK = ["exact", "restart-epoch", "restart-run", "reshuffle", "continue"]
IMPOSSIBLE = {
    ("epoch", "exact"),
    ("nothing", "exact"),
    ("epoch", "reshuffle"),
    ("nothing", "reshuffle"),
    ("nothing", "restart-epoch"),
}


@pytest.mark.parametrize("saves", SAVES)
@pytest.mark.parametrize("comes_back", COMES_BACK)
def test_every_composition_is_possible_or_refused(document, saves, comes_back):
    document["loader"] = {"saves": saves, "comes_back": comes_back}
    if (saves, comes_back) in IMPOSSIBLE:
        with pytest.raises(ScenarioError, match=rf'loader\.saves: expected .* comes_back = "{comes_back}"'):
            load_scenario(document)
    else:
        assert load_scenario(document).loader.comes_back == comes_back


def test_laws_are_read_as_their_kind(document):
    scenario = load_scenario(document)
    assert scenario.failures[0].repair == Exponential(type="exponential", mean="2 h")
    assert scenario.failures[0].law == ExponentialLife(type="exponential")
    assert scenario.recovery.load == Weibull(type="weibull", shape=2, scale="1 min")
    assert scenario.recovery.start_up == 300 * 10**9
    document["recovery"]["load"] = {"type": "lognormal", "sigma": 1, "median": "1 min"}
    load = load_scenario(document).recovery.load
    assert isinstance(load, LogNormal)
    assert (load.median, load.mean, load.sigma) == (60 * 10**9, None, 1.0)


def test_an_empirical_life_has_a_rate_of_its_own(document):
    law = {"type": "empirical", "durations": ["10 d", "30 d"]}
    document["failures"] = [{"cause": "wear", "law": law}]
    days = 86_400 * 10**9
    assert load_scenario(document).failures[0].failures_per_ns(8) * days == pytest.approx(1 / 20)
    document["failures"][0]["rate"] = "1 per 5 node-days"
    assert load_scenario(document).failures[0].failures_per_ns(8) * days == pytest.approx(1 / 5)
    document["failures"][0] = {"cause": "wear", "law": law, "over": "3 d"}
    with pytest.raises(ScenarioError, match=r"^scenario: failures\.0\.rate: expected count, over and on_nodes, or"):
        load_scenario(document)


def test_defaults_are_those_that_the_documentation_says():
    least = tomllib.loads(
        """
        run.steps = 5
        model = { global_batch = 8, step_time = "1 s" }
        cluster.nodes = 1
        checkpoint.every = "2 steps"
        data.samples = 100
        """
    )
    assert load_scenario(least).resolved() == {
        "name": "scenario",
        "run": {"steps": 5, "seed": 0, "account": "auto"},
        "model": {"global_batch": 8, "step_time": "1 s", "bytes_per_token": "4 B"},
        "cluster": {"nodes": 1, "spares": 0, "gpus_per_node": 8},
        "parallelism": {"tensor": 1, "pipeline": 1, "context": 1, "min_data": 1, "micro_batch": 1, "uneven": "pace"},
        "failures": [],
        "maintenance": [],
        "checkpoint": {
            "every": "2 steps",
            "stall": "0 s",
            "when_busy": "wait",
            "final_checkpoint": True,
            "read_by": "replica",
            "corrupt_at_load": 0.0,
            "corrupt_later": 0.0,
            "tiers": [],
        },
        "recovery": {
            "policy": "spare",
            "grow_back": "next-interruption",
            "batch": "kept",
            "in_place": False,
            "regroup": "0 s",
            "rejoin": "0 s",
            "diagnosis": "0 s",
            "scheduling": "0 s",
            "start_up": "0 s",
            "start_up_per_node": "0 s",
            "start_up_per_doubling": "0 s",
            "warm_up": "0 s",
            "load_attempts": 1,
        },
        "rewinds": [],
        "data": {"samples": 100, "packing": "none", "shards": 1, "order": "shuffle"},
        "loader": {
            "preset": "restore",
            "partition": "global",
            "permutes": "epoch",
            "dealt_to": "ranks",
            "readers_per_rank": 1,
            "uneven": "leave",
            "repeats": 1,
            "rank_batch": "share",
            "saves": "samples",
            "comes_back": "exact",
            "keeps_count": False,
            "epoch_edge": "new",
            "counted_at": "trained",
            "prefetch": 0,
            "prefetch_saved": False,
            "snapshot_every": 1,
            "buffer": 0,
            "buffer_kind": "classic",
            "buffer_saved": False,
            "buffer_seed": "epoch",
            "reader_seeds": "own",
            "interleave": 1,
            "canonical": 0,
            "unfinished_shard": "again",
            "state_of": "each",
            "state_ahead": 0,
            "miscount": "none",
            "order_epoch": "own",
            "on_layout_change": "reshard",
            "missing_state": "fresh",
            "past_end": "end",
        },
    }
