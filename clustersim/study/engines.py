"""Where replications are computed: this process, several, or a Dask cluster; each a concurrent.futures executor.

Who computes a replication changes nothing about it, so that an engine is a matter of speed alone.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.queues import SimpleQueue
from typing import Literal, ParamSpec, Protocol, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")

EngineName = Literal["local", "dask"]
ENGINES: tuple[EngineName, ...] = ("local", "dask")
_LOOK_S = 1.0
"""A process that begins later than others of its pool is watched after this long."""


class EngineError(RuntimeError):
    """The engine is gone, or its workers die. Its text is one line; what was finished is kept."""


class Engine(Protocol):
    """What a sweep asks of an engine."""

    deaths: tuple[type[BaseException], ...]
    """What a future raises whose worker died: the same task may be given again."""
    die_together: bool
    """Whether a death takes all that was given with it."""
    patience_s: float
    """After this long a worker hands back what it has."""

    @property
    def workers(self) -> int:
        """How many work at a time, now."""

    @property
    def ahead(self) -> int:
        """How many tasks to give before the first is done."""

    @property
    def executor(self) -> Executor:
        """Takes tasks."""

    def replace(self) -> None:
        """Go on after a death."""


@contextmanager
def engine_of(name: EngineName, workers: int | None, scheduler: str | None) -> Iterator[Engine]:
    """The engine of a name, as long as it is needed.

    Args:
        name: "local": this process if workers is 1, else as many processes. "dask": a Dask cluster.
        workers: how many; all cores if None. Not for a scheduler, which has its own.
        scheduler: of Dask: the address of a running one, or its scheduler file; None for one of our own.

    Raises:
        ValueError: these do not go together.
        EngineError: Dask is not installed, or the scheduler does not answer.
    """
    if name not in ENGINES:
        raise ValueError(f"engine: expected one of {', '.join(ENGINES)}, found {name!r}")
    if workers is not None and workers < 1:
        raise ValueError(f"workers: expected at least 1, found {workers}")
    if scheduler is not None and (name != "dask" or workers is not None):
        found = "engine local" if name != "dask" else "workers beside it"
        raise ValueError(f"scheduler: expected engine dask and the scheduler's own workers, found {found}")
    count = workers or _cores()
    if name == "dask":
        from clustersim.study.dask_engine import dask_engine

        with dask_engine(count, scheduler) as on_dask:
            yield on_dask
    elif count == 1:
        yield InProcess()
    else:
        pool = Processes(count)
        try:
            yield pool
        finally:
            pool.stop()


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class InProcess(Executor):
    """Computes each task when it is given; an engine and its executor in one. Ctrl-C breaks off the running task."""

    deaths: tuple[type[BaseException], ...] = ()
    die_together = True
    patience_s = 0.0
    workers = 1
    ahead = 1

    @property
    def executor(self) -> Executor:
        """Itself."""
        return self

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Compute it, now."""
        future: Future[_T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future

    def replace(self) -> None:
        """Nothing dies here but everything."""


class Processes:
    """Processes on this machine, spawned; those that die are replaced, all at once."""

    deaths: tuple[type[BaseException], ...] = (BrokenExecutor,)
    die_together = True
    patience_s = 1.0

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.ahead = 2 * workers
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        read, self._lifeline = context.Pipe(duplex=False)
        self.executor = ProcessPoolExecutor(self.workers, context, _serve, (read,))
        self._read = read
        with ctrl_c_held_back():
            for _ in range(self.workers):
                self.executor.submit(int)  # a process begins with a task that finds none idle
        about = self.executor._processes, self.executor._result_queue
        threading.Thread(target=_end_together, args=about, daemon=True).start()

    def replace(self) -> None:
        """Start new processes; the old ones end."""
        self.stop()
        self._start()

    def stop(self) -> None:
        """End the processes, in the midst of what they do."""
        results = self.executor._result_queue
        self.executor.shutdown(wait=False, cancel_futures=True)
        self._lifeline.close()
        self._read.close()
        # Of one that ends in the midst of a result the rest would be waited for as long as anybody might write it.
        results._writer.close()  # type: ignore[attr-defined]


def _end_together(processes: Mapping[int, BaseProcess], results: "SimpleQueue[object]") -> None:
    """Wait until a process of a pool dies, then end the others, so that nobody waits for the rest of its result.

    A pool notices by itself that one has died, but not while it reads what that one had begun to write: it reads on as
    long as anybody might write, which the others wait to do, and its own end of the pipe could.
    """
    begun = list(processes.values())
    while begun and not wait([process.sentinel for process in begun], _LOOK_S):
        begun = list(processes.values())  # one may begin later than others
    for process in begun:
        process.kill()
    results._writer.close()  # type: ignore[attr-defined]


@contextmanager
def ctrl_c_held_back() -> Iterator[None]:
    """Meanwhile Ctrl-C has to wait; processes that begin leave it to their parent from their first instant on."""
    resource_tracker.ensure_running()  # which lets Ctrl-C through when it begins
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(lifeline: Connection) -> None:
    """A worker process begins: it ends with its parent, even with one that was killed."""

    def end_with_parent() -> None:
        # The other end is closed with the parent, or by it; nothing is ever sent.
        lifeline.poll(None)
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
