"""How a global batch is divided over ranks."""

from itertools import pairwise


def rank_slices(batch: int, ranks: int) -> list[tuple[int, int]]:
    """The part [start, stop) of a global batch that each rank reads.

    The first batch mod ranks slices are one longer; of an epoch's short last batch the last ranks may get nothing. The
    batch itself does not depend on the number of ranks.
    """
    size, longer = divmod(batch, ranks)
    starts = [rank * size + min(rank, longer) for rank in range(ranks + 1)]
    return list(pairwise(starts))
