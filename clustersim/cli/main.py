"""The command line's entry: commands, exit codes, and the one line for each kind of wrong input."""

import signal
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import clustersim
from clustersim.cli.commands import Commands, add_commands, new_app
from clustersim.cli.outcome import UNFINISHED
from clustersim.cli.output import complain, could_not_write, drop_unwritten, emit
from clustersim.cli.stopping import interrupt, stopped_by, stopped_by_signals
from clustersim.cli.usage import UsageError, told

_WRONG_INPUT = 2
# What Typer makes of Ctrl-C.
_INTERRUPTED = 130
# What a shell reports of a command that a signal ended.
_SIGNALLED = 128

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
    """Run the command line; the exit code: 0 done, 1 it could not finish or answer, 2 the input is wrong.

    SIGTERM and SIGHUP stop it as Ctrl-C does: what is finished is kept, and one line says so. Then the code is 143 or
    129, by which batch systems tell a job that they ended from one that failed.
    """
    if sys.stdout is None:
        complain("could not write: stdout is closed")
        return UNFINISHED
    with stopped_by_signals(for_good=arguments is None) as heard:
        code = _run(list(sys.argv[1:] if arguments is None else arguments) or ["--help"], heard)
    by = heard[0] if heard else signal.SIGINT
    if code == _INTERRUPTED:
        complain(stopped_by(interrupt(by)))
        code = UNFINISHED
    # A signal may come when all is done.
    return code if code == 0 or by is signal.SIGINT else _SIGNALLED + by


def _run(arguments: Sequence[str], heard: Sequence[signal.Signals]) -> int:
    """The exit code of a command, or Typer's for one that was stopped and has not said so yet."""
    try:
        code = app(args=arguments, prog_name="clustersim", standalone_mode=False)
    except BaseException as error:
        # Compiled libraries make errors of their own of what a signal raises in the midst of them.
        if heard or isinstance(error, KeyboardInterrupt):
            return _INTERRUPTED
        return _complained(error)
    return code if isinstance(code, int) else 0


def _complained(error: BaseException) -> int:
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


if __name__ == "__main__":
    sys.exit(main())
