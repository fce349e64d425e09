"""Writes docs/scenario.md, the reference of scenario files, from the models that read them.

python docs/make_reference.py
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from clustersim.scenario import json_schema

PAGE = Path(__file__).parent / "scenario.md"

INTRODUCTION = """\
# What a scenario says

<!-- Written by docs/make_reference.py. -->

A scenario is a TOML file. Numbers with a unit are texts with the unit in them, `"30 min"`, `"2.3 TB"`; a bare number
is refused where a unit is needed. An unknown key is refused with the nearest known one. `--set` and `overrides` spell a
key with its tables, `checkpoint.every`, and pick from a list by number, `failures.0.rate`.

What the words mean is in [definitions](definitions.md). Editors check and complete scenarios by
[`scenario.schema.json`](../scenarios/scenario.schema.json), which `clustersim schema` prints.
"""

# The laws of durations and of lives: named together wherever all of them may stand.
LAWS = ("Exponential", "Weibull", "LogNormal", "Gamma", "Empirical")
LIVES = tuple(f"{law}Life" for law in LAWS)
# What stands in the list [[failures]].
FAILURES = {"Stochastic": "at random", "Scripted": "by script", "Traced": "by a trace"}
BOUNDS = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to", "exclusiveMaximum": "below"}
# Bounds beyond this only say what fits into the machine's numbers.
WIDEST = 10**15
TYPES = {"integer": "whole number", "number": "number", "boolean": "true or false", "string": "text", "array": "list"}


class Reference:
    """The schema, read as pages."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema
        self.models: Mapping[str, Any] = schema["$defs"]
        self.told: dict[str, None] = dict.fromkeys((*LAWS, *LIVES))
        """Models that have a section, or will have; laws have theirs in the end."""

    def page(self) -> Iterator[str]:
        """The lines of the page."""
        yield INTRODUCTION
        alone = {key: node for key, node in self.schema["properties"].items() if not self._models_in(node)}
        yield "## Above all tables\n"
        yield from self._table(alone, self.schema["required"])
        for key, node in self.schema["properties"].items():
            if key not in alone:
                yield from self._section(key, node)
        yield "## Laws\n"
        yield 'Durations may be drawn, as in `repair = { type = "lognormal", median = "20 h", sigma = 1.0 }`.\n'
        for law in LAWS:
            yield from self._model(law, f"### {self._kind(law)}", with_type=True)
        yield "## Laws of lives\n"
        yield "As `law` of `[[failures]]`: shapes alone, since the rate gives the mean.\n"
        for law in LIVES:
            yield from self._model(law, f"### {self._kind(law)} life", with_type=True)

    def _kind(self, law: str) -> str:
        return str(self.models[law]["properties"]["type"]["const"])

    def _section(self, key: str, node: Mapping[str, Any]) -> Iterator[str]:
        """A table of the file, or a list of tables, and the tables within it."""
        names = self._models_in(node)
        listed = "items" in node
        for name in names:
            head = (
                f"## [[{key}]], {FAILURES[name]}" if name in FAILURES else f"## [[{key}]]" if listed else f"## [{key}]"
            )
            yield from self._model(name, head)

    def _model(self, name: str, head: str, with_type: bool = False) -> Iterator[str]:
        self.told[name] = None
        model = self.models[name]
        keys = {key: node for key, node in model["properties"].items() if with_type or "const" not in node}
        yield f"{head}\n"
        if "description" in model:
            yield f"{_line(model['description'])}\n"
        yield from self._table(keys, model.get("required", []))
        level = head.partition(" ")[0] + "#"
        table = head.strip("# ").partition(",")[0].strip("[]")
        for key, node in keys.items():
            for inner in self._models_in(node):
                if inner not in self.told:
                    yield from self._model(inner, f"{level} {table}.{key}")

    def _table(self, keys: Mapping[str, Any], required: list[str]) -> Iterator[str]:
        yield "| key | takes | if left out | meaning |"
        yield "|---|---|---|---|"
        for key, node in keys.items():
            default = "required" if key in required else _default(node.get("default"))
            yield f"| `{key}` | {self._takes(node)} | {default} | {_line(node.get('description', ''))} |"
        yield ""

    def _models_in(self, node: Mapping[str, Any]) -> list[str]:
        """The models that a key may hold, in order."""
        if "$ref" in node:
            return [node["$ref"].rpartition("/")[2]]
        inner = [*node.get("anyOf", []), *node.get("oneOf", []), *([node["items"]] if "items" in node else [])]
        return list(dict.fromkeys(name for each in inner for name in self._models_in(each)))

    def _takes(self, node: Mapping[str, Any]) -> str:
        return " or ".join(dict.fromkeys(self._kinds(node)))

    def _kinds(self, node: Mapping[str, Any]) -> Iterator[str]:
        """What a value may be, one way after the other."""
        if "$ref" in node:
            name = node["$ref"].rpartition("/")[2]
            if name in LAWS:
                yield "a [law](#laws)"
            elif name in LIVES:
                yield "a [law](#laws-of-lives)"
            else:
                yield "a table"
        elif "anyOf" in node or "oneOf" in node:
            for each in node.get("anyOf", node.get("oneOf")):
                yield from self._kinds(each)
        elif "const" in node:
            yield f"`{json.dumps(node['const'])}`"
        elif "enum" in node:
            yield from (f"`{json.dumps(value)}`" for value in node["enum"])
        elif "examples" in node:
            yield ", ".join(f"`{json.dumps(example)}`" for example in node["examples"])
        elif node.get("type") == "array":
            yield f"a list, each {self._takes(node['items'])}" if node.get("items") else "a list"
        elif node.get("type") != "null":
            yield " ".join([TYPES.get(node.get("type", ""), "a table"), *_bounds(node)])


def _bounds(node: Mapping[str, Any]) -> Iterator[str]:
    for bound, word in BOUNDS.items():
        value = node.get(bound, WIDEST)
        if 0 < value < 1 / WIDEST:  # the least that is no zero
            yield "above 0"
        elif abs(value) < WIDEST:
            yield f"{word} {value:g}"


def _default(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and value >= WIDEST:  # what the simulation takes for never
        return '`"never"`'
    if isinstance(value, Mapping):
        return "`{ " + ", ".join(f"{key} = {json.dumps(each)}" for key, each in value.items()) + " }`"
    return f"`{json.dumps(value)}`"


def _line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def text() -> str:
    """The page."""
    return "\n".join(Reference(json_schema()).page()).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(text(), "utf-8")
