"""From a file, a bare name or a dictionary to a checked scenario."""

import hashlib
import re
import tomllib
from collections.abc import Mapping
from itertools import takewhile
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from clustersim.scenario.errors import ScenarioError, closest, problem, show, translate
from clustersim.scenario.overrides import apply_overrides
from clustersim.scenario.scenario import Scenario

SHIPPED = Path(__file__).resolve().parents[2] / "scenarios"
"""What comes with the package: beside it, both in the repository and where a wheel is installed."""

_DEFAULT_PRESET = "restore"

Presets = Literal["loaders", "storage"]
"""What there are presets of: directories of shipped fragments of scenarios."""
_TABLES: dict[Presets, str] = {"loaders": "loader", "storage": "storage"}


def shipped() -> dict[str, Path]:
    """The scenarios that come with the package: bare name to file, by name."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.toml"))}


def presets(of: Presets = "loaders") -> dict[str, str]:
    """The presets that come with the package: name to what it says of itself, in its first line briefly."""
    return {name: _comment(path.read_text("utf-8")) for name, path in _preset_files(of).items()}


def preset_parts(name: str, display: str, of: Presets = "loaders") -> dict[str, Any]:
    """The parts that a preset is composed of; `ScenarioError`, told of `display`, if there is no such preset."""
    files = _preset_files(of)
    if name not in files:
        expected = "a preset that `clustersim presets` lists" if of == "loaders" else f"one of {', '.join(files)}"
        raise problem(display, f"{_TABLES[of]}.preset", expected, show(name), closest(name, files))
    return _read(files[name], files[name].name)


def _preset_files(of: Presets) -> dict[str, Path]:
    return {path.stem: path for path in sorted((SHIPPED / "presets" / of).glob("*.toml"))}


def _comment(text: str) -> str:
    """The lines of comment that a file begins with."""
    lines = takewhile(lambda line: line.startswith("#"), text.splitlines())
    return "\n".join(line.removeprefix("#").strip() for line in lines)


def load_scenario(
    source: "str | PathLike[str] | Mapping[str, Any] | Scenario", overrides: Mapping[str, object] | None = None
) -> Scenario:
    """A checked scenario from a path, the bare name of a shipped one, a dictionary, or another scenario.

    `overrides` maps dotted paths to values ("checkpoint.every", "failures.0.at_steps"); None removes a key. Of another
    scenario it changes what was written, so that a new loader preset replaces the old one's parts.
    Raises `ScenarioError`, one line, for whatever is wrong.
    """
    display, name, document = _open(source)
    if overrides:
        apply_overrides(document, overrides, display)
    filled = {"name": name, **document, "loader": _fill_loader(document.get("loader", {}), display)}
    if "storage" in document:
        filled["storage"] = _fill_storage(document["storage"], display)
    if isinstance(document.get("failures"), list):
        filled["failures"] = [_fill_trace(cause, index, display) for index, cause in enumerate(document["failures"])]
    try:
        scenario = Scenario.model_validate(filled)
    except ValidationError as error:
        raise translate(error, display, filled) from None
    scenario._source, scenario._document = display, document
    scenario.faults  # noqa: B018  # a trace that cannot be read is refused now
    return scenario


def _open(source: "str | PathLike[str] | Mapping[str, Any] | Scenario") -> tuple[str, str, dict[str, Any]]:
    """How errors show the source, the name that the scenario has if it says none, and a fresh document."""
    if isinstance(source, Scenario):
        return source.source, source.name, _copy(source._document)
    if isinstance(source, Mapping):
        return "scenario", "scenario", _copy(source)
    path = Path(fspath(source))
    known = shipped()
    if isinstance(source, str) and source in known:
        path = known[source]
        return path.name, source, _read(path, path.name)
    return str(path), path.stem or "scenario", _read(path, str(path))


def _read(path: Path, display: str) -> dict[str, Any]:
    """The tables of a file; `display` is how errors show it."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise problem(display, "", "UTF-8 text", f"byte 0x{error.object[error.start]:02x} at {error.start}") from None
    except FileNotFoundError:
        known = shipped()
        expected = f"a scenario file, or one of {', '.join(known)}"
        raise problem(display, "", expected, "no such file", _beside(path) or closest(path.stem, known)) from None
    except IsADirectoryError:
        raise problem(display, "", "a scenario file", "a directory", _beside(path)) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise problem(display, "", "a readable scenario file", f"an error ({reason})") from None
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise problem(display, "", "TOML", "a value nested too deeply") from None
    except ValueError as error:
        raise _syntax_error(str(error), text, display) from None


def _beside(path: Path) -> str | None:
    """The file of that name with its ending, if there is one: bare names are those of shipped scenarios."""
    meant = Path(f"{path}.toml")
    return str(meant) if meant.is_file() else None


def _syntax_error(message: str, text: str, display: str) -> ScenarioError:
    # tomllib gives the place only inside its message (until Python 3.14).
    match = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", message, re.DOTALL)
    if match is None:
        return problem(display, "", "TOML", f"an error ({message})")
    last_line = text.rstrip("\n").rpartition("\n")
    line, column = match[2] or last_line[0].count("\n") + bool(last_line[1]) + 1, match[3] or len(last_line[2]) + 1
    return problem(display, f"line {line}, column {column}", "TOML", f"a syntax error ({show(match[1])[1:-1]})")


def _fill_loader(parts: object, display: str) -> object:
    """The loader's parts on top of those of its preset; whatever is no table of parts is left to the models."""
    if isinstance(parts, str):
        raise problem(display, "loader", 'a table such as { preset = "restore" }', show(parts), "loader.preset")
    if not isinstance(parts, Mapping):
        return parts
    name = parts.get("preset")
    if name is None:
        if "saves" in parts and "comes_back" in parts:
            return parts
        name = _DEFAULT_PRESET
    if not isinstance(name, str):
        return parts
    return {"preset": name, **preset_parts(name, display), **parts}


def _fill_storage(parts: object, display: str) -> object:
    """The keys of a storage on top of those of its preset, if it names one."""
    if isinstance(parts, str):
        raise problem(display, "storage", 'a table such as { preset = "nvme" }', show(parts), "storage.preset")
    if not isinstance(parts, Mapping) or not isinstance(name := parts.get("preset"), str):
        return parts
    return {"preset": name, **preset_parts(name, display, "storage"), **parts}


def _fill_trace(cause: object, index: int, display: str) -> object:
    """A failure with the digest of its trace, by which a result tells that the file has changed since."""
    if not isinstance(cause, Mapping) or not isinstance(cause.get("trace"), str):
        return cause
    path = Path(display).parent / cause["trace"]
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        expected, found = f"a readable file beside {display}", f"{show(cause['trace'])} ({reason})"
        raise problem(display, f"failures.{index}.trace", expected, found) from None
    if cause.get("sha256") not in (None, digest):
        raise problem(display, f"failures.{index}.sha256", f"{digest}, that of the file", show(cause["sha256"]))
    return {**cause, "sha256": digest}


def _copy(value: Any) -> Any:
    """A deep copy in dictionaries and lists, so that overrides never reach the caller's."""
    if isinstance(value, Mapping):
        return {key: _copy(part) for key, part in value.items()}
    return [_copy(part) for part in value] if isinstance(value, (list, tuple)) else value
