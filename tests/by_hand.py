"""A small job with round numbers, whose timetable can be worked out by hand: 100 steps of 10 s on four nodes."""

from clustersim import load_scenario


def job(**changes):
    """The job; `checkpoint__stall="2 s"` changes a key."""
    base = {
        "name": "by hand",
        "run": {"steps": 100},
        "model": {"global_batch": 12, "step_time": "10 s"},
        "cluster": {"nodes": 4, "gpus_per_node": 1},
        "checkpoint": {"every": "10 steps"},
        "data": {"samples": 5000},
    }
    return load_scenario(base, {key.replace("__", "."): value for key, value in changes.items()})


def scripted(**keys):
    """One scripted cause."""
    return [{"cause": "scripted", **keys}]


def legs(run):
    """(start, stop, kept, degree) of each leg."""
    return [(leg.start, leg.stop, leg.kept, leg.data) for leg in run.history.legs]


def seconds(run):
    """The buckets that are not empty, in seconds."""
    return {bucket: ns / 1e9 for bucket, ns in run.time_ns.items() if ns}
