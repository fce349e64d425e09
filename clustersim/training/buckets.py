"""Where the time went: named buckets that sum to the wall time to the nanosecond.

All time is charged in one place, `charges`: a leg is divided by what its steps were, a recovery by its phases. What
joins later, as the wait for data did, takes its share from the kept steps of a leg there, and a name in
`_OF_LEGS`; a new phase of a recovery needs its name alone.
"""

from collections.abc import Iterator
from typing import get_args

from clustersim.history import History, Phase

_OF_LEGS = ("useful", "degraded", "slow_nodes", "data_starvation", "wasted_progress", "save_stall", "unfinished")
# A step that fails in place is wasted in a phase of its own: that bucket is of both.
BUCKETS: tuple[str, ...] = tuple(dict.fromkeys((*_OF_LEGS, *get_args(Phase))))
"""Every bucket, in the order in which they are shown."""


Charge = tuple[str, int, int]
"""A bucket, the time spent in it (ns), and how many nodes were held."""


def charges(history: History, full_step_ns: int) -> Iterator[Charge]:
    """The whole wall time, piece by piece.

    useful: kept steps at the step time of full degree. degraded: what a smaller degree added to kept steps. slow_nodes:
    what slow nodes added to them.
    data_starvation: what kept steps waited for their data.
    wasted_progress: steps that were rolled back, and the step in flight when a leg was broken off. unfinished: the step
    in flight at the end of the run. save_stall: stalls of saves, and waiting for an earlier save. The rest: phases of
    recovery.
    """
    for leg, stop in zip(history.legs, history.lineage_stops(), strict=True):
        kept, steps = stop - leg.start, leg.stop - leg.start
        yield "useful", kept * full_step_ns, leg.nodes
        yield "degraded", kept * (leg.step_ns - leg.wait_ns - full_step_ns), leg.nodes
        yield "data_starvation", kept * leg.wait_ns, leg.nodes
        slow_ns, slow_kept_ns = leg.timetable.delay(steps), leg.timetable.delay(kept)
        yield "slow_nodes", slow_kept_ns, leg.nodes
        yield "save_stall", leg.stall_ns, leg.nodes
        yield "wasted_progress", (steps - kept) * leg.step_ns + slow_ns - slow_kept_ns, leg.nodes
        partial = leg.end_ns - leg.begin_ns - leg.stall_ns - steps * leg.step_ns - slow_ns
        yield "unfinished" if leg.ended_by == "end of run" else "wasted_progress", partial, leg.nodes
    for recovery in history.recoveries:
        yield from recovery.phases


def time_buckets(history: History, full_step_ns: int) -> tuple[dict[str, int], dict[str, int]]:
    """By what it was spent on, in nanoseconds: the wall time, and the time of the nodes that the job held.

    They sum to `history.wall_ns` and to `history.node_ns`.
    """
    wall_ns, node_ns = dict.fromkeys(BUCKETS, 0), dict.fromkeys(BUCKETS, 0)
    for bucket, spent_ns, nodes in charges(history, full_step_ns):
        wall_ns[bucket] += spent_ns
        node_ns[bucket] += spent_ns * nodes
    return wall_ns, node_ns
