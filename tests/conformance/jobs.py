"""The jobs that libraries play: a corpus, and a history of crashes."""

from conformance.play import Corpus, History, Job

EVEN = Corpus(samples=960, shards=24, batch=24, epochs=2)
# No number of ranks divides the samples and the shards; or few divide the shards.
PRIME = Corpus(samples=997, shards=25, batch=24, epochs=2)
ODD_SHARDS = Corpus(samples=1000, shards=25, batch=24, epochs=2)


def _histories(edge: int) -> tuple[History, ...]:
    """With the step at which the first epoch ends."""
    return (
        History("no crash", (4,)),
        History("same ranks", (4, 4), (20,)),
        History("same ranks, c = 25", (4, 4), (25,)),
        History("second epoch", (4, 4), (edge + 20,)),
        History("twice in an epoch", (4, 4, 4), (10, 30)),
        History("epoch's edge", (4, 4), (edge,)),
        History("4 to 3", (4, 3), (20,)),
        History("4 to 2", (4, 2), (20,)),
        History("2 to 4", (2, 4), (20,)),
        History("2 to 4, c = 10", (2, 4), (10,)),
        History("4 to 2 to 4", (4, 2, 4), (10, 20)),
    )


EVEN_JOBS = tuple(Job(EVEN, history) for history in _histories(40))
UNEVEN_JOBS = tuple(Job(corpus, history) for corpus in (PRIME, ODD_SHARDS) for history in _histories(42))
ALL = EVEN_JOBS + UNEVEN_JOBS
# What was divided anew is so again, or goes on as it was divided.
DIVIDED_AGAIN = tuple(
    Job(corpus, history)
    for corpus in (EVEN, PRIME)
    for history in (History("4 to 3 to 2", (4, 3, 2), (10, 25)), History("4 to 2, again", (4, 2, 2), (10, 20)))
)


def never_growing(jobs: tuple[Job, ...]) -> tuple[Job, ...]:
    """The jobs in which no rank is added."""
    return tuple(job for job in jobs if list(job.history.ranks) == sorted(job.history.ranks, reverse=True))


def at_edge(jobs: tuple[Job, ...], *, whether: bool = True) -> tuple[Job, ...]:
    """The jobs that come back from an epoch's last step, or the others."""
    return tuple(job for job in jobs if (job.history.name == "epoch's edge") == whether)


def some(jobs: tuple[Job, ...]) -> tuple[Job, ...]:
    """A few, for loaders whose worker processes take their time."""
    names = ("same ranks", "twice in an epoch", "epoch's edge", "4 to 3", "2 to 4, c = 10")
    return tuple(job for job in jobs if job.history.name in names)
