"""What the commands share that compare over one study: where to store it, on how many processes, and how it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from clustersim.cli.outcome import UNFINISHED
from clustersim.cli.output import complain, could_not_write
from clustersim.cli.progress import progress_bar
from clustersim.cli.stopping import stopped_by
from clustersim.cli.usage import path_to, whole_number

OutOption = Annotated[
    Path | None,
    typer.Option(parser=path_to("a directory's name"), metavar="DIR", help="Store the study in a new directory."),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(parser=whole_number(1), metavar="N", help="Processes on this machine.  [default: all cores]"),
]
# Whether there is such an engine is for the study to say.
EngineOption = Annotated[Any, typer.Option(parser=str, metavar="NAME", help="local, or dask.")]
SchedulerOption = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Of a running Dask scheduler, or its scheduler file.")
]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Go on with the study that DIR holds.")]


@contextmanager
def under_way(runs: int, out: Path | None = None) -> Iterator[Callable[[float], object]]:
    """A study of so many runs: yields what is told how many of them are done.

    A wrong argument, and a study that cannot be stored or finished, are told in one line, with the exit code; of one
    that goes into a directory the line says what of it is kept.
    """
    from clustersim.scenario import ScenarioError
    from clustersim.study.engines import EngineError
    from clustersim.study.store import DirectoryRefused

    told = _Told()
    try:
        with progress_bar(runs) as bar:
            yield told.through(bar)
    except ScenarioError:
        raise
    except DirectoryRefused as error:
        raise typer.BadParameter(str(error), param_hint="--out") from None
    except ValueError as error:
        option, colon, line = str(error).partition(": ")
        hint = f"--{option.replace('_', '-')}" if colon else ""
        raise typer.BadParameter(line if colon else str(error), param_hint=hint) from None
    except (KeyboardInterrupt, EngineError, OSError) as error:
        kept = "" if out is None else f"; {told.done} of {runs} runs are kept, --resume goes on with them"
        complain(_why(error) + kept)
        raise typer.Exit(UNFINISHED) from None


def _why(error: BaseException) -> str:
    if isinstance(error, OSError):
        return could_not_write(error)
    return stopped_by(error) if isinstance(error, KeyboardInterrupt) else str(error)


class _Told:
    """Remembers how many runs were done when it was last told."""

    done = 0

    def through(self, bar: Callable[[float], object] | None) -> Callable[[float], object]:
        """What passes it on to a bar."""

        def tell(done: float) -> None:
            self.done = int(done)
            if bar is not None:
                bar(done)

        return tell
