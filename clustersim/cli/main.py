"""The command line's entry: commands, exit codes, and the one line for each kind of wrong input."""

import sys
from collections.abc import Sequence
from typing import cast

import typer

import clustersim
from clustersim.cli.check import check
from clustersim.cli.output import complain
from clustersim.cli.run import run
from clustersim.cli.sample import sample
from clustersim.cli.schema import schema
from clustersim.cli.workshop import workshop

_WRONG_INPUT = 2

# The base of every complaint about options. Typer carries its own copy of click in some versions, and exports only this
# child of it.
_UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])

app = typer.Typer(
    name="clustersim",
    help="Simulates large training jobs that fail and restart, and counts which data the final model saw.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (run, workshop, sample, check, schema):
    app.command()(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code: 0 done, 1 the simulation could not finish, 2 the input is wrong."""
    try:
        code = app(
            args=list(sys.argv[1:] if arguments is None else arguments) or ["--help"],
            prog_name="clustersim",
            standalone_mode=False,
        )
    except clustersim.ScenarioError as error:  # looked up only once something was raised: see `clustersim/__init__.py`
        complain(str(error))
        return _WRONG_INPUT
    except _UsageError as error:
        complain(f"clustersim: {error.format_message()}")
        return _WRONG_INPUT
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    sys.exit(main())
