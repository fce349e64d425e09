"""Where the time went: named buckets that sum to the wall time to the nanosecond."""

from clustersim.history import History


def time_buckets(history: History, full_step_ns: int) -> dict[str, int]:
    """The wall time by what it was spent on, in nanoseconds.

    useful: kept steps at the step time of full degree. degraded: what a smaller degree added to kept steps.
    wasted_progress: steps that were rolled back, and the step in flight when a leg was broken off. unfinished: the step
    in flight at the end of the run. save_stall: stalls of saves, and waiting for an earlier save. The rest: phases of
    recovery.
    """
    names = "useful degraded wasted_progress save_stall unfinished detection waiting_for_nodes start_up load"
    buckets = dict.fromkeys(names.split(), 0)
    for leg, stop in zip(history.legs, history.lineage_stops(), strict=True):
        kept, steps = stop - leg.start, leg.stop - leg.start
        buckets["useful"] += kept * full_step_ns
        buckets["degraded"] += kept * (leg.step_ns - full_step_ns)
        buckets["save_stall"] += leg.stall_ns
        buckets["wasted_progress"] += (steps - kept) * leg.step_ns
        partial = leg.end_ns - leg.begin_ns - leg.stall_ns - steps * leg.step_ns
        buckets["unfinished" if leg.ended_by == "end of run" else "wasted_progress"] += partial
    for recovery in history.recoveries:
        buckets["detection"] += recovery.detection_ns
        buckets["waiting_for_nodes"] += recovery.waiting_ns
        buckets["start_up"] += recovery.start_up_ns
        buckets["load"] += recovery.load_ns
    return buckets
