"""The command line's entry: commands, exit codes, and the one line for each kind of wrong input."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import clustersim
from clustersim.cli.commands import Commands, add_commands, new_app
from clustersim.cli.outcome import UNFINISHED
from clustersim.cli.output import complain, could_not_write, drop_unwritten, emit
from clustersim.cli.usage import UsageError, told

_WRONG_INPUT = 2
# What Typer makes of Ctrl-C.
_INTERRUPTED = 130
_STOPPED = "stopped by Ctrl-C"

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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code: 0 done, 1 it could not finish or answer, 2 the input is wrong."""
    if sys.stdout is None:
        complain("could not write: stdout is closed")
        return UNFINISHED
    try:
        code = app(
            args=list(sys.argv[1:] if arguments is None else arguments) or ["--help"],
            prog_name="clustersim",
            standalone_mode=False,
        )
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except OSError as error:
        drop_unwritten(sys.stdout)
        complain(could_not_write(error))
        return UNFINISHED
    except UsageError as error:
        complain(told(error))
        return _WRONG_INPUT
    except clustersim.ScenarioError as error:  # looked up only once something was raised: see `clustersim/__init__.py`
        complain(str(error))
        return _WRONG_INPUT
    if code == _INTERRUPTED:
        complain(_STOPPED)
        return UNFINISHED
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    sys.exit(main())
