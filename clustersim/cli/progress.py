"""How far a run is, on stderr: for those who wait, and nothing for a file or a short run."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

_PATIENCE_S = 1.0


@contextmanager
def progress_bar(replications: int) -> Iterator[Callable[[float], object] | None]:
    """Yields what is told how many replications are done, a fraction of the running one included.

    The bar comes after a second. Where stderr is no terminal there is none, and None is yielded.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    with ExitStack() as shown:
        yield _Bar(replications, shown)


class _Bar:
    def __init__(self, replications: int, shown: ExitStack) -> None:
        self._replications = replications
        self._shown = shown
        self._appears = time.monotonic() + _PATIENCE_S
        self._move: Callable[[float], object] | None = None

    def __call__(self, done: float) -> None:
        if self._move is None and time.monotonic() >= self._appears:
            self._move = self._show()
        if self._move is not None:
            self._move(done)

    def _show(self) -> Callable[[float], object]:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TimeRemainingColumn

        alone = self._replications == 1
        what = ("simulated", TaskProgressColumn()) if alone else ("replications", MofNCompleteColumn())
        columns = (what[0], BarColumn(), what[1], TimeRemainingColumn())
        bar = self._shown.enter_context(Progress(*columns, console=Console(stderr=True), transient=True))
        task = bar.add_task("", total=self._replications)
        return lambda done: bar.update(task, completed=done)
