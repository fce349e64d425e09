"""The JSON Schema that editors use says what the loader accepts."""

import json
import tomllib

import jsonschema
import pytest

from clustersim.scenario import ScenarioError, json_schema, load_scenario, shipped

VALIDATOR = jsonschema.Draft202012Validator(json_schema())


def test_the_committed_schema_is_current():
    """After a change of the models write it anew: see the module `clustersim.scenario.schema`."""
    path = next(iter(shipped().values())).with_name("scenario.schema.json")
    assert json.loads(path.read_text("utf-8")) == json_schema()


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("name", list(shipped()))
def test_shipped_and_resolved_scenarios_validate(name):
    VALIDATOR.validate(tomllib.loads(shipped()[name].read_text("utf-8")))
    VALIDATOR.validate(load_scenario(name).resolved())


def test_every_key_is_described():
    for name, table in json_schema()["$defs"].items():
        assert table["description"]
        for key, value in table["properties"].items():
            assert key == "type" or "description" in value or "$ref" in value, f"{name}.{key}"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("cluster.nodez", 4),
        ("cluster.nodes", 0),
        ("cluster.nodes", True),
        ("cluster.nodes", "4 q"),
        ("cluster.nodes", 2.5),
        ("checkpoint.every", 20),
        ("checkpoint.every", "3 GB"),
        ("checkpoint.every", "1.5 steps"),
        ("checkpoint.stall", "-1 s"),
        ("checkpoint.stall", 5),
        ("recovery.policy", "spares"),
        ("recovery.load", {"type": "weibul", "shape": 1, "mean": "1 h"}),
        ("recovery.load", {"shape": 1, "mean": "1 h"}),
        ("failures.0.rate", "-3 per day"),
        ("failures.0.law", {"type": "weibull"}),
        ("failures.0", {"cause": "x", "at_steps": [1], "rate": "3 per day"}),
        ("model.bytes_per_token", 4),
        ("name", ""),
        ("x", 1),
    ],
)
def test_what_the_loader_refuses_by_itself_the_schema_refuses(document, path, value):
    with pytest.raises(ScenarioError):
        load_scenario(document, {path: value})
    assert not VALIDATOR.is_valid(_changed(document, path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("cluster.nodes", 16.0),
        ("cluster.nodes", "0.016 k"),
        ("checkpoint.every", "20 steps"),
        ("checkpoint.every", "daly"),
        ("checkpoint.every", " 0.5h "),
        ("checkpoint.stall", "1_000 ms"),
        ("recovery.load", "1e1 s"),
        ("recovery.load", {"type": "lognormal", "median": "1 h", "sigma": 2}),
        ("failures.0", {"cause": "x", "rate": "3 per 1000 node-days", "law": {"type": "weibull", "shape": 0.7}}),
        ("failures.2", {"cause": "x", "at_times": ["1 d", "2 d"]}),
        ("loader", {"preset": "reshuffle", "reshuffle_lasts": "for-good"}),
        ("model.bytes_per_token", "2 B"),
    ],
)
def test_what_the_loader_accepts_the_schema_accepts(document, path, value):
    load_scenario(document, {path: value})
    VALIDATOR.validate(_changed(document, path, value))


def _changed(document, path, value):
    place = document
    *parents, last = path.split(".")
    for part in parents:
        place = place[int(part)] if isinstance(place, list) else place[part]
    place[int(last) if isinstance(place, list) else last] = value
    return document
