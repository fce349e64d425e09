"""Scenario files that are wrong, odd, or merely unusual: mutations of valid ones, by structure and by bytes."""

import copy
import json
import math
import random
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clustersim.scenario.schema import json_schema

_VALUES: list[Any] = [
    *(0, 1, 2, -1, 7, 64, 10**6, 10**15, 2**31, 2**62 - 1, 2**62, 2**63 - 1, 2**63, 10**30),
    *(0.0, -0.0, 0.5, 1.0, 1e-300, 1e308, math.inf, -math.inf, math.nan, True, False),
    *("", " ", "0 s", "1 ns", "3 s", "5 min", "2 h", "54 d", "146 years", "-5 s", "1e400 s", "5", "5 parsecs", "nan s"),
    *("0 per day", "3 per node-day", "1e9 per node-day", "24 per day", "1 per domain-day", "6.5 per 1000 node-days"),
    *("10 steps", "0 steps", "young", "daly", "adaptive", "2 B", "1 T", "1e30 B", "14 B", "50 GB/s", "0 GB/s", "never"),
    *("\u202eevil", "\0", "<script>alert(1)</script>", "../../etc/passwd", "~", "a" * 5000, "\u0660 s", "naïve"),
    *([], {}, [[]], [1], [0, 0], [3, 1, 2], ["1 s"], [{}], {"type": "exponential"}, {"type": "weibull", "shape": 1e-9}),
    *({"type": "exponential", "mean": "1 s"}, {"type": "lognormal", "median": "1 s", "sigma": 400}, {"type": "no"}),
]


def toml(value: Any) -> str:
    """A value as TOML writes it, tables inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return json.dumps(value)


def document_text(document: dict[str, Any]) -> str:
    """A document, one line a top-level key."""
    return "".join(f"{json.dumps(key)} = {toml(value)}\n" for key, value in document.items())


class Words:
    """What fits where: the keys of each table of the schema, and for each key what it may be set to."""

    def __init__(self, documents: list[dict[str, Any]]) -> None:
        schema = json_schema()
        self.tables = [table["properties"] for table in [schema, *schema["$defs"].values()] if "properties" in table]
        self.fitting: dict[str, list[Any]] = {}
        for table in self.tables:
            for key, model in table.items():
                self.fitting.setdefault(key, []).extend(_words_of(model))
        for document in documents:
            for container, key in _places(document):
                self.fitting.setdefault(str(key), []).append(container[key])

    def value(self, key: str, rng: random.Random) -> Any:
        """A value for a key: one that fits, as often as one that may not."""
        fitting = self.fitting.get(key, [])
        return copy.deepcopy(rng.choice(fitting if fitting and rng.random() < 0.6 else _VALUES))

    def another_key(self, container: dict[str, Any], rng: random.Random) -> str:
        """A key that may stand beside those of a table; any key, if no table is known by those."""
        tables = [table for table in self.tables if container.keys() <= table.keys()] or self.tables
        return rng.choice(list(rng.choice(tables)))


def _words_of(schema: Any) -> Iterator[Any]:
    if isinstance(schema, dict):
        yield from schema.get("enum", [])
        if "const" in schema:
            yield schema["const"]
        for item in schema.values():
            yield from _words_of(item)
    elif isinstance(schema, list):
        for item in schema:
            yield from _words_of(item)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) below a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(items):
        yield value, key
        yield from _places(item)


def mutate(document: dict[str, Any], rng: random.Random, words: Words) -> str:
    """One to three changes of a valid document: something replaced, added, removed, doubled or moved."""
    for _ in range(rng.randint(1, 3)):
        places = list(_places(document))
        if not places:
            break
        container, key = rng.choice(places)
        change = rng.randrange(10)
        value = words.value(str(key), rng)
        if change <= 3:
            container[key] = value
        elif change == 4:
            del container[key]
        elif isinstance(container, list):
            container.insert(rng.randint(0, len(container)), container[key])
        elif change <= 6:
            added = words.another_key(container, rng)
            container[added] = words.value(added, rng)
        elif change == 7:
            container[_misspelt(str(key), rng)] = container.pop(key)
        elif change == 8:
            other, place = rng.choice(places)
            container[key] = copy.deepcopy(other[place]) if place in _keys(other) else value
        else:
            number = container[key]
            is_number = isinstance(number, int | float) and not isinstance(number, bool)
            container[key] = number * rng.choice([0, -1, 2, 1000, 10**9]) if is_number else value
    return document_text(document)


def _keys(container: Any) -> Any:
    return container.keys() if isinstance(container, dict) else range(len(container))


def _misspelt(word: str, rng: random.Random) -> str:
    at = rng.randint(0, len(word))
    return word[:at] + rng.choice(["", "x", "_", " ", "é"]) + word[at + rng.randint(0, 1) :]


def scramble(text: bytes, rng: random.Random) -> bytes:
    """A file whose bytes are cut off, doubled, flipped or overwritten."""
    data = bytearray(text)
    for _ in range(rng.randint(1, 5)):
        at, size = rng.randrange(len(data) + 1), rng.randint(1, 20)
        change = rng.randrange(4)
        if change == 0:
            del data[at:]
        elif change == 1:
            data[at:at] = rng.randbytes(size)
        elif change == 2:
            data[at:at] = data[at : at + 5 * size]
        else:
            data[at : at + size] = b""
    return bytes(data)


def fuzzed(seed: int, count: int, folder: Path) -> Iterator[bytes]:
    """So many files, sprung from the valid ones of a folder; each follows from the seed and its number alone."""
    bases = [path.read_bytes() for path in sorted(folder.glob("*.toml"))]
    words = Words([tomllib.loads(base.decode()) for base in bases])
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        base = rng.choice(bases)
        if rng.random() < 0.15:
            yield scramble(base, rng)
        else:
            yield mutate(tomllib.loads(base.decode()), rng, words).encode()
