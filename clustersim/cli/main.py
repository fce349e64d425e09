"""The command line's entry: exit codes, and what stops it, also while the rest is still being imported."""

import sys

try:
    import signal
    from collections.abc import Sequence

    from clustersim.cli.outcome import UNFINISHED
    from clustersim.cli.output import complain
    from clustersim.cli.stopping import interrupt, stopped_by, stopped_by_signals
except KeyboardInterrupt:
    sys.exit("stopped by Ctrl-C")

# What Typer makes of Ctrl-C.
_INTERRUPTED = 130
# What a shell reports of a command that a signal ended.
_SIGNALLED = 128


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
        from clustersim.cli.app import app

        code = app(args=arguments, prog_name="clustersim", standalone_mode=False)
    except BaseException as error:
        # Compiled libraries make errors of their own of what a signal raises in the midst of them.
        if heard or isinstance(error, KeyboardInterrupt):
            return _INTERRUPTED
        from clustersim.cli.app import complained

        return complained(error)
    return code if isinstance(code, int) else 0
