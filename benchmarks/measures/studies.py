"""A thousand replications: on one core and two, in processes and on Dask, workers warm."""

from time import perf_counter

from measures.clock import LLAMA

import clustersim as cs

REPLICATIONS = 1000


def seconds(engine, workers):
    """What a study takes beyond one of two replications, which starts the workers."""
    taken = []
    for replications in (2 * workers, REPLICATIONS):
        began = perf_counter()
        cs.sweep(LLAMA, {"checkpoint.every": ["10 min"]}, replications=replications, engine=engine, workers=workers)
        taken.append(perf_counter() - began)
    return taken[1] - taken[0]


def thousand_replications():
    one, two, dask = seconds("local", 1), seconds("local", 2), seconds("dask", 2)
    yield "1,000 replications: one core over two", one / two, " times", 1.8, True
    yield "1,000 replications: Dask with 2 workers over 2 processes", dask / two, " times", 1.3


MEASURES = (thousand_replications,)
