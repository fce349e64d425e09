"""The engine on a Dask cluster: one of our own on this machine, or a running one."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from clustersim.study.engines import EngineError, ctrl_c_held_back

_ANSWER_S = 30
# A cluster that grows with what waits for it should see more than its first workers can do.
_AHEAD = 64


class OnDask:
    """A client's executor; the scheduler gives the tasks of dead workers to others."""

    die_together = False
    patience_s = 1.0

    def __init__(self, client: Any, where: str) -> None:
        from distributed.scheduler import KilledWorker

        self._client = client
        self._where = where
        self.executor: Executor = client.get_executor(pure=False)
        # What the scheduler says of a task that several workers died with.
        self.deaths: tuple[type[BaseException], ...] = (KilledWorker,)

    @property
    def workers(self) -> int:
        """Threads of the workers that there are now; raises EngineError if the scheduler is lost."""
        try:
            return sum(self._client.nthreads().values())
        except (OSError, RuntimeError, AttributeError):
            # A client that lost its scheduler has no connection any more, in any of these ways.
            raise EngineError(f"the scheduler is lost ({self._where})") from None

    @property
    def ahead(self) -> int:
        """How many tasks to give before the first is done."""
        return max(_AHEAD, 2 * self.workers)

    def replace(self) -> None:
        """The scheduler has seen to it."""


@contextmanager
def dask_engine(workers: int, scheduler: str | None) -> Iterator[OnDask]:
    """A cluster of so many processes on this machine, or a running scheduler's: its address, or its scheduler file.

    Raises:
        EngineError: Dask is not installed, or the scheduler does not answer.
    """
    try:
        import distributed
    except ImportError:
        raise EngineError("engine dask takes Dask (pip install 'clustersim[dask]')") from None
    import logging

    # What it would say of lost workers and connections, over several lines, the sweep says itself in one.
    with ExitStack() as open_now:
        if scheduler is None:
            open_now.callback(logging.disable, logging.root.manager.disable)
            logging.disable(logging.CRITICAL)
            with ctrl_c_held_back():
                cluster = distributed.LocalCluster(  # type: ignore[no-untyped-call]
                    n_workers=workers,
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",  # a free port; without an address Dask insists on one
                    silence_logs=logging.CRITICAL,
                )
            open_now.enter_context(cluster)
            target: dict[str, Any] = {"address": cluster}
        elif Path(scheduler).is_file():
            target = {"scheduler_file": scheduler}
        else:
            target = {"address": scheduler}
        where = scheduler or "a local cluster"
        try:
            connected = distributed.Client(**target, timeout=_ANSWER_S, set_as_default=False)  # type: ignore[no-untyped-call]
            client = open_now.enter_context(connected)
        except (OSError, ValueError) as error:
            raise EngineError(f"no scheduler answers at {where} ({type(error).__name__})") from None
        yield OnDask(client, where)
