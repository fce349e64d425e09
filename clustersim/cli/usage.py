"""Options and arguments that are wrong: how they are read, and the line that says what was expected and what came."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import cast

import typer

# The base of every complaint about options. Typer carries its own copy of click in some versions, and exports only this
# child of it.
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])


def whole_number(least: int, most: int | None = None) -> Callable[[str | int], int]:
    """What reads a whole number of [least, most] from an option's text; a default is read as well."""
    expected = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"

    def read(text: str | int) -> int:
        try:
            number = int(text)
        except ValueError:
            raise _refused(expected, text) from None
        if number < least or (most is not None and number > most):
            raise _refused(expected, text)
        return number

    return read


def path_to(what: str) -> Callable[[str], Path]:
    """What reads a path from an option's text. An empty one would be the current directory."""

    def read(text: str) -> Path:
        if not text:
            raise _refused(what, text)
        return Path(text)

    return read


def _refused(expected: str, text: str | int) -> typer.BadParameter:
    from clustersim.scenario.errors import show

    return typer.BadParameter(f"expected {expected}, found {show(str(text))}")


def told(error: typer.BadParameter) -> str:
    """The line for a wrong command line, without its newline."""
    return f"clustersim: {_told(error)}"


def _told(error: typer.BadParameter) -> str:
    if isinstance(error, typer.BadParameter):
        # Click leaves the text of a missing one empty.
        return f"{_place(error)}: {error.message or 'expected a value, found nothing'}"
    option = getattr(error, "option_name", None)
    if option is None or not hasattr(error, "possibilities"):
        return error.format_message()
    if error.ctx is not None and error.ctx.info_name == "sample" and re.fullmatch(r"-\d", option):
        return "ID: samples and documents are numbered from 0, found a negative number"
    hint = f'; did you mean "{error.possibilities[0]}"?' if error.possibilities else ""
    return f'expected a known option, found "{option}"{hint}'


def _place(error: typer.BadParameter) -> str:
    """The option or argument as the help spells it."""
    parameter = error.param
    if parameter is None:
        return str(error.param_hint)
    return parameter.opts[0] if parameter.param_type_name == "option" else str(parameter.metavar)
