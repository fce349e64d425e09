"""One error for a wrong scenario, and the one line it is told in.

`<file>: <key>: expected <what>, found <what>[; did you mean "<nearest>"?][ (and 2 more)]`
"""

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

_SHOWN_CHARACTERS = 60
# Of a word of fewer letters too many begin alike.
_LEAST_BEGINNING = 3
_UNKNOWN_KEY = "unknown_key"
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")
# What pydantic itself refuses, by its error type; everything else is refused by `wrong` in our own words.
_EXPECTED = {
    "model_type": "a table",
    "tuple_type": "a list",
    "string_type": "a string",
    "bool_type": "true or false",
}


class ScenarioError(ValueError):
    """The scenario, an override or the file that holds it is wrong. Its text is one line."""


def problem(source: str, key: str, expected: str, found: str, nearest: str | None = None) -> ScenarioError:
    """The error that says in one line which key of which file is wrong; `key` may be empty."""
    where = f"{_escape(source)}: {key}" if key else _escape(source)
    hint = f'; did you mean "{nearest}"?' if nearest else ""
    return ScenarioError(f"{where}: expected {expected}, found {found}{hint}")


def wrong(expected: str, found: str, key: str = "", nearest: str | None = None) -> PydanticCustomError:
    """What a validator raises. `key` is the dotted path from the validated value down to the culprit."""
    return _custom("wrong", expected=expected, found=found, key=key, nearest=nearest or "")


def unknown_key(key: object, known: Sequence[str]) -> PydanticCustomError:
    """What a table raises for a key that it does not know."""
    nearest = closest(str(key), known)
    expected = "a known key" if nearest else f"one of {', '.join(known)}"
    return _custom(_UNKNOWN_KEY, expected=expected, found=show(key), key=show_key(str(key)), nearest=nearest or "")


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like `word`, or else one that begins with all of it; None if none is near."""
    words = list(known)
    longer = (each for each in words if len(word) >= _LEAST_BEGINNING and each.startswith(word))
    return next(iter(difflib.get_close_matches(word, words, n=1)), None) or next(longer, None)


def show(value: object) -> str:
    """A value as a user wrote it, on one line, cut at 60 characters."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{_cut(value)}"'
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, Sequence):
        return "a list"
    if isinstance(value, float) and not math.isfinite(value):
        return str(float(value))
    if isinstance(value, int) and abs(value) >= 10**_SHOWN_CHARACTERS:
        return "a number beyond all use"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, (date, time)):
        return f"{value.isoformat()} (a date or time)"
    return f"an object of type {type(value).__name__}"


def show_key(key: str) -> str:
    """A key as TOML spells it, quoted where it is not a bare one, cut at 60 characters."""
    return _cut(key) if _PLAIN_KEY.fullmatch(key) else f'"{_cut(key)}"'


def translate(error: ValidationError, source: str, document: object) -> ScenarioError:
    """The first problem of a refused document: unknown keys first, then by the order of keys in the document."""
    problems = error.errors(include_url=False)
    first = min(problems, key=lambda each: (each["type"] != _UNKNOWN_KEY, _place(each["loc"], document)))
    told = str(_tell(first, source))
    more = len(problems) - 1
    return ScenarioError(f"{told} (and {more} more)" if more else told)


def _tell(error: ErrorDetails, source: str) -> ScenarioError:
    context: dict[str, Any] = error.get("ctx", {})
    path = [show_key(str(part)) for part in _user_path(error["loc"])]
    if error["type"] in ("wrong", _UNKNOWN_KEY):
        key = ".".join([*path, context["key"]] if context["key"] else path)
        return problem(source, key, context["expected"], context["found"], context["nearest"] or None)
    if error["type"] == "missing":
        # The only keys of the whole scenario that are required are tables.
        expected = "a value" if len(error["loc"]) > 1 else f"a table [{path[0]}]"
        return problem(source, ".".join(path), f"{expected} (this key is required)", "nothing")
    found = show(error["input"])
    if error["type"] == "literal_error":
        words = re.findall(r"'([^']*)'", context["expected"])
        nearest = closest(error["input"], words) if isinstance(error["input"], str) else None
        return problem(source, ".".join(path), _one_of(words), found, nearest)
    if error["type"] == "union_tag_invalid":
        if not isinstance(error["input"], Mapping):
            return problem(source, ".".join(path), 'a table such as { type = "exponential" }', found)
        words = [tag for tag in re.findall(r"<([^>]*)>", context["expected_tags"]) if tag != "duration"]
        kind = error["input"].get("type")
        nearest = closest(kind, words) if isinstance(kind, str) else None
        return problem(source, ".".join([*path, "type"]), _one_of(words), show(kind), nearest)
    return problem(source, ".".join(path), _EXPECTED.get(error["type"], "a valid value"), found)


def _custom(kind: str, **context: str) -> PydanticCustomError:
    return PydanticCustomError(kind, "expected {expected}, found {found}", context)


def _one_of(words: Sequence[str]) -> str:
    return "one of " + ", ".join(f'"{word}"' for word in words)


def _cut(text: str) -> str:
    escaped = _escape(text.replace("\\", "\\\\").replace('"', '\\"'))
    return escaped if len(escaped) <= _SHOWN_CHARACTERS else escaped[:_SHOWN_CHARACTERS] + "…"


def _escape(text: str) -> str:
    # Newlines, other separators and lone surrogates are not printable, so what is left stays on one line.
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def _user_path(path: tuple[int | str, ...]) -> list[int | str]:
    # The kinds of a union are tagged "<kind>" in the models: no part of what the user wrote.
    return [part for part in path if not str(part).startswith("<")]


def _place(path: tuple[int | str, ...], document: object) -> list[int]:
    """Where a path lies in the document, as indices to sort by; a missing key comes after those that are there."""
    place: list[int] = []
    for part in _user_path(path):
        if isinstance(document, Mapping):
            keys = list(document)
            place.append(keys.index(part) if part in keys else len(keys))
            document = document.get(part)
        elif isinstance(document, Sequence) and isinstance(part, int):
            place.append(part)
            document = document[part] if part < len(document) else None
    return place
