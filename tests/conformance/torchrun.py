"""The environment by which a process of torchrun knows its rank, set in turn for ranks that share a process."""

import os

VARIABLES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GLOBAL_RANK", "NNODES")


def become(seat):
    """From now on this process is the seat's rank, alone on its node."""
    values = (seat.rank, seat.ranks, 0, 1, seat.rank, 1)
    os.environ.update({name: str(value) for name, value in zip(VARIABLES, values, strict=True)})


def each_as(seat, iterator):
    """The items of an iterator, each drawn as the seat's rank."""
    while True:
        become(seat)
        try:
            item = next(iterator)
        except StopIteration:
            return
        yield item
