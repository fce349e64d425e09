"""Random small scenarios, and the conservation laws that hold in each of them after every event."""

import itertools

from hypothesis import strategies as st

from clustersim import Scenario, load_scenario, order_for
from clustersim.cluster.pool import Pool
from clustersim.history import History
from clustersim.loaders.build import loader_of
from clustersim.loaders.follow import Follower
from clustersim.training.compile import World

_DURATION = st.sampled_from(["0 s", "1 s", "7 s", "90 s", "11 min"])
_LAW = st.sampled_from(
    [
        {"type": "exponential"},
        {"type": "weibull", "shape": 0.6},
        {"type": "weibull", "shape": 3},
        {"type": "lognormal", "sigma": 1},
        {"type": "gamma", "shape": 0.4},
        {"type": "empirical", "durations": ["1 s", "5 min", "3 h"]},
    ]
)
_REPAIR = st.sampled_from(
    [
        "0 s",
        "5 s",
        "30 min",
        {"type": "exponential", "mean": "1 h"},
        {"type": "lognormal", "median": "20 min", "sigma": 1.5},
        {"type": "empirical", "durations": ["0 s", "13 s", "2 h"]},
    ]
)
_KIND = st.sampled_from(["crash", "crash", "hang", "silent", "false-alarm", "slow"])
_MAINTENANCE = st.sampled_from(
    [
        [],
        [],
        [{"name": "firmware", "every": "50 min", "takes": "10 min"}],
        [{"name": "rolling", "every": "25 min", "takes": {"type": "exponential", "mean": "20 min"}, "nodes": 1}],
        [
            {"name": "now and then", "at": ["0 s", "31 min", "3 h"], "takes": "7 min"},
            {"name": "rolling", "every": "31 min", "takes": "1 h", "nodes": 1},
        ],
    ]
)
_TIMEOUT = st.sampled_from([{"detection": "10 min"}, {"detection": {"type": "exponential", "mean": "5 min"}}])
_QUALITY = st.sampled_from(
    [
        {},
        {"misdiagnosis": 0.5},
        {"repair_fails": 0.5, "misdiagnosis": 0.2, "recurs": "10 min"},
        {"escalates": 0.5, "manual_repair": "1 h", "manual_fails": 0.5, "repair_fails": 0.3},
    ]
)
_RESERVE = st.sampled_from(
    [
        {},
        {"cold": {"nodes": 2, "start_up": "5 min"}},
        {"borrowed": {"nodes": 3, "after": "30 min"}},
        {
            "cold": {"nodes": 2, "start_up": {"type": "exponential", "mean": "10 min"}},
            "borrowed": {"nodes": 2, "after": {"type": "exponential", "mean": "1 h"}},
        },
    ]
)
_CORRUPTION = st.sampled_from(
    [{}, {}, {"corrupt_at_load": 0.3}, {"corrupt_later": 0.2, "bad_after_steps": 3}, {"corrupt_at_load": 1}]
)
_SURVIVES = st.sampled_from(
    [{"survives": "process"}, {"survives": "job"}, *({"survives": each, "copies": 2} for each in ("node", "domain"))]
)
_GROWING = st.sampled_from(
    [
        {},
        {"grow_back": "at-once"},
        {"grow_back": "next-checkpoint"},
        {"in_place": True},
        {"in_place": True, "regroup": "3 s", "rejoin": {"type": "exponential", "mean": "10 min"}},
    ]
)
_REWINDS = st.sampled_from([[], [], [{"at_step": 7, "back": 2}, {"at_step": 30, "back": 30}]])
_LEMONS = st.sampled_from(
    [{}, {"lemons": {"share": 0.3, "times": 5}}, {"lemons": {"share": 0.5, "times": 0.1, "cured_by_repair": True}}]
)
_RETIREMENT = st.sampled_from(
    [
        {},
        {"retirement": {"failures": 2, "within": "3 h"}},
        {"retirement": {"failures": 2, "within": "3 h", "replaced": "20 min"}},
        {"retirement": {"score": 1.5, "half_life": "1 h", "replaced": {"type": "exponential", "mean": "1 h"}}},
    ]
)


@st.composite
def node_cause(draw):
    cause = {
        "cause": f"cause {draw(st.integers(0, 10**6))}",
        "rate": f"{draw(st.sampled_from([0, 0.2, 3, 40]))} per node-day",
        "law": draw(_LAW),
        "ages": draw(st.sampled_from(["wall", "in_job", "training"])),
        "detection": draw(_DURATION),
        "kind": draw(_KIND),
    }
    if draw(st.booleans()) and cause["kind"] != "false-alarm":
        cause |= {"repair": draw(_REPAIR), "renews": draw(st.sampled_from(["cause", "all"]))}
        cause |= {"transient": draw(st.sampled_from([0, 0, 0.4]))}
        cause |= {"repair_starts": draw(st.sampled_from(["failure", "detection"]))}
        cause |= draw(_QUALITY)
    if cause["law"]["type"] in ("exponential", "weibull") and cause["ages"] == "wall" and draw(st.booleans()):
        by = draw(st.sampled_from(["date", "age"]))
        cause["steps"] = {"by": by, "at": ["10 min", "1 h"], "times": draw(st.sampled_from([[5, 0], [0, 3], [0.1, 1]]))}
    if cause["kind"] == "slow":
        cause |= {"slows": draw(st.sampled_from([1.1, 3])), "misdiagnosis": 0}
    return cause | draw(_TIMEOUT) if cause["kind"] in ("hang", "slow") else cause


@st.composite
def domain_cause(draw, nodes):
    cause = {
        "cause": f"cause {draw(st.integers(0, 10**6))}",
        "rate": f"{draw(st.sampled_from([0.2, 3, 40]))} per domain-day",
        "scope": "domain",
        "law": draw(_LAW),
        "detection": draw(_DURATION),
        **draw(st.sampled_from([{}, {"nodes_per_domain": 1}, {"nodes_per_domain": min(2, nodes)}])),
    }
    if draw(st.booleans()):
        cause |= {"repair": draw(_REPAIR), "transient": draw(st.sampled_from([0, 0, 0.4]))}
    return cause


@st.composite
def job_cause(draw):
    return {
        "cause": f"cause {draw(st.integers(0, 10**6))}",
        "rate": f"{draw(st.sampled_from([1, 24, 200]))} per day",
        "scope": "job",
        "law": draw(_LAW),
        "ages": draw(st.sampled_from(["wall", "in_job", "training"])),
        "detection": draw(_DURATION),
    }


@st.composite
def scripted_cause(draw, least, most):
    entries = draw(st.lists(st.integers(0, 80), min_size=1, max_size=4))
    cause = {"cause": f"cause {draw(st.integers(0, 10**6))}", "detection": draw(_DURATION)}
    if draw(st.booleans()):
        cause["data"] = [draw(st.integers(least, most)) for _ in entries]
    elif draw(st.booleans()):
        cause |= {"kind": "slow", "slows": draw(st.sampled_from([1.1, 3]))} | draw(_TIMEOUT)
    if draw(st.booleans()):
        return cause | {"at_steps": entries}
    times = sorted(set(entries))
    if "data" in cause:
        cause["data"] = cause["data"][: len(times)]
    return cause | {"at_times": [f"{13 * time} s" for time in times]}


@st.composite
def checkpoints(draw):
    """[checkpoint], with up to two tiers."""
    tiers = [
        {
            "name": name,
            "every": draw(st.sampled_from(["1 steps", "3 steps", "2 min"])),
            **{key: draw(_DURATION) for key in ("stall", "write", "load")},
            **draw(_SURVIVES),
            **draw(_CORRUPTION),
            **draw(st.sampled_from([{}, {"keep": 1}, {"keep": 3}])),
        }
        for name in draw(st.sampled_from([[], [], ["memory"], ["memory", "disk"]]))
    ]
    return {
        "every": draw(st.sampled_from(["1 steps", "4 steps", "5 min", "40 min"])),
        "stall": draw(_DURATION),
        "write": draw(_DURATION),
        "when_busy": "skip" if tiers else draw(st.sampled_from(["wait", "skip"])),
        "final_checkpoint": draw(st.booleans()),
        **draw(_CORRUPTION),
        **draw(st.sampled_from([{}, {}, {"keep": 1}, {"keep": 2}])),
        "tiers": tiers,
        **draw(st.sampled_from([{}, {}, {"every": "adaptive", "stall": "7 s", "first_mtbf": "1 h"}])),
    }


@st.composite
def scenarios(draw):
    """A few nodes, much weather, a small corpus; every policy, order, loader and way of ending."""
    unit_nodes = draw(st.sampled_from([1, 1, 2, 3]))
    degree = draw(st.integers(1, 5))
    least = draw(st.integers(1, degree))
    batch = degree + draw(st.integers(0, 9))
    samples = batch + draw(st.integers(0, 150))
    order = draw(st.sampled_from(["shuffle", "shuffle-once", "shard-shuffle", "sequential"]))
    loaders = ["restore", "epoch", "no-rewind", "restart-run"] + ["reshuffle"] * (order != "sequential")
    end = draw(
        st.sampled_from(
            [
                {"wall_time": "2 h"},
                {"wall_time": "1 d"},
                {"steps": 90},
                {"epochs": 3, "limit": "2 d"},
                {"steps": 400, "limit": "3 h"},
            ]
        )
    )
    policy = draw(st.sampled_from(["spare", "wait", "shrink"]))
    causes = draw(
        st.lists(
            node_cause() | domain_cause(degree * unit_nodes) | job_cause() | scripted_cause(least, degree),
            max_size=4,
            unique_by=lambda c: c["cause"],
        )
    )
    return load_scenario(
        {
            "name": "weather",
            "run": {**end, "seed": draw(st.integers(0, 2**40))},
            "model": {"global_batch": batch, "step_time": draw(st.sampled_from(["13 s", "1 min", "9999999999 ns"]))},
            "cluster": {
                "nodes": degree * unit_nodes,
                "gpus_per_node": 1,
                "spares": draw(st.integers(0, 3)),
                "nodes_per_domain": draw(st.integers(1, 4)),
                **draw(_LEMONS),
                **(draw(_RESERVE) if policy != "wait" else {}),
                **draw(_RETIREMENT),
                **({"repair_slots": draw(st.integers(1, 2))} if draw(st.booleans()) else {}),
            },
            "parallelism": {
                "tensor": unit_nodes,
                "data": degree,
                "min_data": least,
                "micro_batch": draw(st.sampled_from([1, 1, 3])),
            },
            "rewinds": draw(_REWINDS),
            # A tier may survive no more than failures that take no node: one that never strikes.
            "maintenance": draw(_MAINTENANCE),
            "failures": [*causes, {"cause": "soft", "rate": "0 per day", "scope": "job"}],
            "checkpoint": draw(checkpoints()),
            "recovery": {
                "policy": policy,
                **{key: draw(_DURATION) for key in ("diagnosis", "scheduling", "start_up", "warm_up")},
                **draw(st.sampled_from([{}, {"start_up_per_node": "3 s"}, {"start_up_per_doubling": "11 s"}])),
                **(draw(_GROWING) if policy == "shrink" else {}),
                "load_attempts": draw(st.integers(1, 3)),
                "load": draw(st.sampled_from(["0 s", "20 s", {"type": "exponential", "mean": "1 min"}])),
            },
            "data": {"samples": samples, "shards": draw(st.integers(1, min(samples, 12))), "order": order},
            "loader": {"preset": draw(st.sampled_from(loaders))},
        }
    )


def world_of(scenario: Scenario) -> World:
    """Its world; the loader is asked while the clock runs where it decides when the run ends."""
    feed = None
    if scenario.sizes.epochs is not None:
        feed = Follower(loader_of(scenario, order_for(scenario, scenario.run.seed)))
    return World(scenario, scenario.run.seed, 0, feed)


def count_calls(pool: Pool, name: str) -> list[int]:
    """The nodes with which a method of the pool is called from now on."""
    nodes: list[int] = []
    method = getattr(pool, name)

    def counted(node: int) -> object:
        nodes.append(node)
        return method(node)

    setattr(pool, name, counted)
    return nodes


def run_checked(world: World, scenario: Scenario) -> History:
    """Run to the end; after every event each node is in one state, and the job holds what the pool says it holds."""
    pool, job = world.cluster.pool, world.job
    nodes = sum(pool.census().values())
    out, back = count_calls(pool, "break_down"), count_calls(pool, "bring_back")
    while not job.over.processed:
        world.env.step()
        census = pool.census()
        assert sum(census.values()) == nodes
        assert census["job"] == job.crew.nodes
        assert census["spare"] == pool.spares()
        assert census["repair"] == len(out) - len(back)
        assert (census["cold"], census["starting"], census["elsewhere"]) == (pool.cold, pool.starting, pool.elsewhere)
        assert 0 <= world.cluster.returning <= census["repair"] + census["starting"] + census["elsewhere"]
        assert sum(happening.kind in ("repair", "service") for happening in world.cluster.happenings) == len(back)
        members = job.crew.members()
        assert len(members) == len(set(members)) == job.crew.nodes
        assert all(pool.place(node) == "job" for node in members)
        if job.state == "training" and not (job.hits and job.deciding_at == world.env.now):
            assert job.crew.nodes == job.crew.units * job.crew.unit_nodes
    return job.history


def check_history(history: History) -> None:
    """Legs follow each other in steps and in time, without a gap of a nanosecond."""
    now = 0
    for i, leg in enumerate(history.legs):
        assert leg.begin_ns == now
        assert 0 <= leg.kept <= leg.stop  # behind its start after a silent failure
        assert leg.start <= leg.stop <= leg.read <= leg.stop + 1
        assert leg.end_ns - leg.begin_ns >= (leg.stop - leg.start) * leg.step_ns + leg.stall_ns
        now = leg.end_ns
        if i < len(history.recoveries):
            recovery = history.recoveries[i]
            assert recovery.begin_ns == now
            for span in recovery.spans:
                assert span.begin_ns == now < span.end_ns
                now = span.end_ns
    assert now == history.wall_ns
    assert all(a.kept == b.start for a, b in itertools.pairwise(history.legs))
    assert 0 <= len(history.legs) - len(history.recoveries) <= 1
