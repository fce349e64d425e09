"""A thousand replications: on one core and two, in processes and on Dask, workers warm."""

from contextlib import ExitStack
from time import perf_counter

from measures.clock import LLAMA
from measures.timing import medians_s

from clustersim.study.drive import Drive
from clustersim.study.engines import engine_of
from clustersim.study.gathered import Gathered
from clustersim.study.rule import Rule

REPLICATIONS = 1000
# One that does not count, then five.
_TURNS = 6


def studying(engine, replications):
    """A study on an engine that goes on running, up to its tables."""

    def study():
        gathered = Gathered()
        Drive([LLAMA], [[0]], Rule(replications), None, gathered, lambda rows: None).run(engine)
        return gathered.table(), gathered.ledger()

    return study


def thousand_replications():
    with ExitStack() as running:
        engines = [
            running.enter_context(engine_of(name, workers, None))
            for name, workers in (("local", 1), ("local", 2), ("dask", 2))
        ]
        studies = [studying(engine, REPLICATIONS) for engine in engines]
        one, two, dask = medians_s(*studies, turns=_TURNS, clock=perf_counter)
    yield "1,000 replications: one core over two", one / two, " times", 1.8, True
    yield "1,000 replications: Dask with 2 workers over 2 processes", dask / two, " times", 1.3


LONG = (thousand_replications,)
