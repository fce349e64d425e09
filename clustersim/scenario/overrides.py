"""Changes to a scenario from outside its file: dotted paths, as `--set` and sweeps use them."""

import tomllib
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from clustersim.scenario.errors import problem, show, show_key


def parse_override(text: str) -> tuple[str, object]:
    """Path and value of "key=value"; the value is read as TOML, else taken as a string; None if it is empty.

    Raises `ScenarioError` if there is no key or no equals sign.
    """
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise problem("override", "", 'key=value such as "checkpoint.every=20 min"', show(text))
    return path.strip(), _parse_value(value.strip())


def _parse_value(text: str) -> object:
    if not text:
        return None
    try:
        document = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    # A text with a newline may hold further keys, and a date is never meant.
    plain = len(document) == 1 and isinstance(document["value"], (bool, int, float, str, list, dict))
    return document["value"] if plain else text


def apply_overrides(document: dict[str, Any], overrides: Mapping[str, object], source: str) -> None:
    """Set each dotted path of a document in place. None removes a key; a missing table is made.

    Raises `ScenarioError` if a path leads through a value that is no table, or past the end of a list.
    """
    for path, value in overrides.items():
        keys = path.split(".") if isinstance(path, str) else []
        if not keys or not all(keys):
            raise problem(source, "override", "a dotted path of keys", show(path))
        *parents, last = keys
        place: Any = document
        for depth, part in enumerate(parents):
            key: str | int = part
            if isinstance(place, list):
                key = _index(place, parents[: depth + 1], source)
            elif part not in place:
                place[part] = {}
            if not isinstance(place[key], (dict, list)):
                raise problem(source, _dotted(parents[: depth + 1]), "a table", show(place[key]))
            place = place[key]
        # A copy, as a later path may lead into it.
        if isinstance(place, list):
            place[_index(place, [*parents, last], source)] = deepcopy(value)
        elif value is None:
            place.pop(last, None)
        else:
            place[last] = deepcopy(value)


def _index(items: list[Any], path: list[str], source: str) -> int:
    part = path[-1]
    index = int(part) if part.isascii() and part.isdigit() and len(part) < 10 else len(items)
    if index >= len(items):
        entries = f"0 to {len(items) - 1} ({len(items)} entries)" if items else "no index (the list is empty)"
        raise problem(source, _dotted(path), entries, show_key(part))
    return index


def _dotted(path: list[str]) -> str:
    return ".".join(show_key(part) for part in path)
