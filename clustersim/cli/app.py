"""The app: its commands, and the one line for each kind of wrong input."""

import sys
from typing import Annotated

import typer

import clustersim
from clustersim.cli.commands import Commands, add_commands, new_app
from clustersim.cli.outcome import UNFINISHED
from clustersim.cli.output import complain, could_not_write, drop_unwritten, emit
from clustersim.cli.usage import UsageError, told

_WRONG_INPUT = 2

app = new_app(
    name="clustersim",
    cls=Commands,
    help="Simulates large training jobs that fail and restart, and counts which data the final model saw.",
)
add_commands(app)


def _say_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        emit(f"clustersim {version('clustersim')}")
        raise typer.Exit


@app.callback()
def _of_all_commands(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_say_version, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def complained(error: BaseException) -> int:
    """The exit code for what is wrong, after the line that says so. Raises what is a mistake of ours."""
    if isinstance(error, OSError):
        drop_unwritten(sys.stdout)
        complain(could_not_write(error))
        return UNFINISHED
    if isinstance(error, UsageError):
        complain(told(error))
        return _WRONG_INPUT
    if isinstance(error, clustersim.ScenarioError):  # which takes its time to import: see `clustersim/__init__.py`
        complain(str(error))
        return _WRONG_INPUT
    raise error
