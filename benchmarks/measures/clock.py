"""The clock domain: events, time per failure, and how both grow."""

from measures.timing import bare_timeouts, beside_timeouts, medians_s, reference_ms

from clustersim import load_scenario, simulate
from clustersim.training.compile import World

LLAMA = load_scenario("llama3-405b")


def events_and_failures(scenario):
    """SimPy events that one run takes, and the failures in it."""
    world, events = World(scenario, 0, 0), 0
    while not world.job.over.processed:
        world.env.step()
        events += 1
    return events, sum(happening.kind == "failure" for happening in world.job.history.happenings)


def run_clock(scenario):
    return lambda: World(scenario, 0, 0).run()


def million_timeouts():
    """Seconds for 1,000,000 timeouts of one process."""
    return medians_s(bare_timeouts, turns=5)[0] * 10


def llama_events():
    events, failures = events_and_failures(LLAMA)
    twice, _ = events_and_failures(load_scenario(LLAMA, {"checkpoint.every": "5 min"}))
    assert events <= 6 * failures
    yield "Llama, 54 days: SimPy events a failure", events / failures, "", 6
    yield "the same, twice the checkpoints: events more, per checkpoint", (twice - events) / 7776, "", 0.01


def with_tables():
    """A run and its tables, but for the one that counts anew at each restart."""
    run = simulate(LLAMA)
    return run, (run.summary(), run.legs, run.events, run.checkpoints, run.time, run.ledger)


def with_damage():
    """The same with what each restart did."""
    run, tables = with_tables()
    return *tables, run.damage


def llama_time():
    _, failures = events_and_failures(LLAMA)
    world, whole, tables, damage = beside_timeouts(
        run_clock(LLAMA), lambda: simulate(LLAMA).summary(), with_tables, with_damage
    )
    yield "the same: the clock per failure, in bare timeouts", world / failures, "", 40
    yield "the same with restore's account, on the machine of the bars", reference_ms(whole), " ms", 30
    yield "the same with its tables, but for damage by restart", reference_ms(tables), " ms", 45
    yield "the same with its table of damage by restart too", reference_ms(damage), " ms"


def aireism():
    scenario = load_scenario("scenarios/validation/airesim.toml")
    (world,) = beside_timeouts(lambda: simulate(scenario).summary())
    yield "11,150 failures of 4,096 nodes (V5), on the machine of the bars", reference_ms(world) / 1000, " s", 0.3


def more_nodes():
    """64 times the nodes, and 64 times as reliable ones."""
    large = {"cluster.nodes": 131_072, "parallelism.data": 8192, "model.global_batch": 131_072}
    large |= {f"failures.{i}.on_nodes": 131_072 for i, cause in enumerate(LLAMA.failures) if cause.on_nodes}
    small, big = beside_timeouts(run_clock(LLAMA), run_clock(load_scenario(LLAMA, large)))
    yield (
        "2,048 to 131,072 nodes, as many failures: more, on the machine of the bars",
        reference_ms(big - small),
        " ms",
        5,
    )


def longer():
    """A run of 3 years beside as many of 54 days as have its events, so that both go on for as long."""
    long = load_scenario(LLAMA, {"run.wall_time": "1095 d"})
    events, few = events_and_failures(long)[0], events_and_failures(LLAMA)[0]
    times = round(events / few)

    def again(action):
        return lambda: [action() for _ in range(times)]

    clock, clocks = medians_s(run_clock(long), again(run_clock(LLAMA)))
    whole, wholes = medians_s(lambda: simulate(long).summary(), again(lambda: simulate(LLAMA).summary()))
    yield "54 days to 3 years: the clock's time over its events", clock / clocks * few * times / events, " times", 1.1
    yield "the same with restore's account", whole / wholes * few * times / events, " times", 1.1


MEASURES = (llama_events, llama_time, aireism, more_nodes, longer)
