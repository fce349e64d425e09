"""What a loader says that does not come back on as many ranks: both numbers, and the nearest that it comes back on."""

from collections.abc import Callable

from clustersim.history import Refused


def other_ranks(saved: int, ranks: int) -> Refused:
    """It comes back on the ranks that saved it, and on no others."""
    found = f"the loader was saved by {saved} ranks and refuses to come back on {ranks}"
    return Refused(f"{found}: on {saved} alone it does")


def new_ranks(saved: int, ranks: int) -> Refused:
    """Every rank needs a state of its own."""
    found = f"the loader was saved by {saved} ranks, and {ranks - saved} of {ranks} have no state"
    return Refused(f"{found}: it comes back on {saved} or fewer")


def shares(size: int, ranks: int, count: int) -> Refused:
    """A rank has read more than its equal share of `size` samples is now."""
    found = f"a rank has read {count} samples, and on {ranks} ranks each has {size // ranks}"
    return Refused(f"{found}: it comes back on {size // count} or fewer")


def groups(saved: int, known: int, ranks: int, asked: int) -> Refused:
    """A state knows of fewer groups of shards than a reader has now."""
    found = f"the state of {saved} ranks knows of {known} groups of shards a reader"
    return Refused(f"{found}, and on {ranks} ranks it has {asked}: on {saved} it comes back")


def part_too_short(found: str, ranks: int, fits: Callable[[int], bool]) -> Refused:
    """A part of one of so many ranks ends before a saved position; `fits` tells whether those of other ranks do not."""
    nearest = next((fewer for fewer in range(ranks - 1, 0, -1) if fits(fewer)), 0)
    return Refused(f"{found}: on {nearest} it comes back" if nearest else found)
