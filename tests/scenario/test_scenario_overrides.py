"""Overrides: what a text means, and what a path changes."""

import copy
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clustersim.scenario import ScenarioError, load_scenario, parse_override


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("run.seed=3", "run.seed", 3),
        (" run.seed = 1_000 ", "run.seed", 1000),
        ("checkpoint.every=20 min", "checkpoint.every", "20 min"),
        ('checkpoint.every="20 min"', "checkpoint.every", "20 min"),
        ("loader.preset=epoch", "loader.preset", "epoch"),
        ("failures.0.at_steps=[47, 50]", "failures.0.at_steps", [47, 50]),
        ("checkpoint.final_checkpoint=false", "checkpoint.final_checkpoint", False),
        ("failures.0.count=1.5", "failures.0.count", 1.5),
        ('recovery.load={type="exponential", mean="1 h"}', "recovery.load", {"type": "exponential", "mean": "1 h"}),
        ("name=a=b", "name", "a=b"),
        ("name=2024-05-01", "name", "2024-05-01"),
        ("name=1\nrun.seed = 2", "name", "1\nrun.seed = 2"),
        ("run.wall_time=", "run.wall_time", None),
    ],
)
def test_a_text_is_toml_or_else_a_string(text, path, value):
    assert parse_override(text) == (path, value)
    assert type(parse_override(text)[1]) is type(value)


@pytest.mark.parametrize("text", ["run.seed", "=3", "", " = 3"])
def test_a_text_without_key_or_equals_sign_is_refused(text):
    with pytest.raises(ScenarioError) as caught:
        parse_override(text)
    assert str(caught.value) == f'override: expected key=value such as "checkpoint.every=20 min", found "{text}"'


def toml_of(value):
    """A value as TOML: JSON's strings, numbers, booleans and lists, but for infinity and two kinds of characters."""
    if isinstance(value, list):
        return f"[{', '.join(map(toml_of, value))}]"
    if isinstance(value, str):
        text = json.dumps(value)
        # TOML has no surrogate pairs, so such characters stay as they are.
        return (json.dumps(value, ensure_ascii=False) if "\\ud" in text else text).replace("\x7f", "\\u007f")
    return json.dumps(value).replace("Infinity", "inf")


@settings(deadline=None)
@example("Infinity")
@given(
    st.recursive(
        st.one_of(st.booleans(), st.integers(-(2**63), 2**63), st.text(), st.floats(allow_nan=False)),
        lambda inner: st.lists(inner, max_size=4),
    )
)
def test_what_is_written_as_toml_is_read_back(value):
    text = toml_of(value)
    assert parse_override(f"some.key={text}") == ("some.key", value)


@settings(deadline=None)
@given(st.text(max_size=30))
def test_any_text_has_a_meaning(text):
    path, value = parse_override(f"key={text}")
    assert path == "key"
    assert value is None or isinstance(value, (bool, int, float, str, list, dict))


def test_paths_lead_through_tables_and_lists(document):
    before = copy.deepcopy(document)
    scenario = load_scenario(
        document,
        {
            "checkpoint.every": "20 steps",
            "failures.0.repair.mean": "3 h",
            "failures.2.at_steps": (6, 7),
            "failures.1": {"cause": "other", "rate": "2 per day", "scope": "job"},
            "run": {"steps": 10},
        },
    )
    expected = load_scenario(document).resolved()
    expected["checkpoint"]["every"] = "20 steps"
    expected["failures"][0]["repair"]["mean"] = "3 h"
    expected["failures"][2]["at_steps"] = [6, 7]
    expected["failures"][1] |= {"cause": "other", "rate": "2.0 per day"}
    expected["run"] = {"steps": 10, "seed": 0, "account": "auto"}
    assert scenario.resolved() == expected
    assert document == before


def test_a_missing_table_is_made_and_none_removes_a_key(document):
    del document["parallelism"], document["failures"]
    scenario = load_scenario(document, {"parallelism.tensor": 8, "run.wall_time": None, "run.epochs": 2, "name": None})
    assert scenario.parallelism.tensor == 8
    assert scenario.sizes.data == 16
    assert scenario.run.wall_time is None
    assert scenario.name == "scenario"


@pytest.mark.parametrize("path", [3, None, ("run", "seed"), "", "run.", ".seed"])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(ScenarioError, match=r"^small\.toml: override: expected a dotted path of keys, found "):
        load_scenario("small", {path: 4})


def test_overrides_of_a_scenario_start_from_what_was_written(document):
    first = load_scenario(document, {"loader.preset": "reshuffle", "run.seed": 7})
    second = load_scenario(first, {"loader.preset": "epoch"})
    assert (second.loader.saves, second.loader.comes_back, second.loader.reshuffle_lasts) == (
        "epoch",
        "restart-epoch",
        None,
    )
    assert second.run.seed == 7
    assert first.loader.comes_back == "reshuffle"


def test_overrides_stay_as_they_were_where_one_leads_into_another(document):
    overrides = {
        "recovery": {"start_up": "1 min"},
        "recovery.start_up": "2 min",
        "failures": [{"cause": "x", "at_steps": [1]}],
    }
    overrides |= {"failures.0.at_steps": [2]}
    before = copy.deepcopy(overrides)
    scenario = load_scenario(document, overrides)
    assert (scenario.recovery.start_up, scenario.failures[0].at_steps) == (120 * 10**9, (2,))
    assert overrides == before
