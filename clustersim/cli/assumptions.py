"""What a result rests on, in a few lines: the assumptions that matter most."""

from rich.table import Table

from clustersim.cli.output import table
from clustersim.cli.words import count, duration, plural, share
from clustersim.cluster.compile import law_of
from clustersim.forecast import Forecast
from clustersim.loaders.taken_out import wanders
from clustersim.scenario import Scenario
from clustersim.scenario.checkpoint import Medium
from clustersim.scenario.cluster import Cluster
from clustersim.scenario.failures import Stochastic
from clustersim.scenario.traced import Traced
from clustersim.storage.feeding import supply_of

_UNSURE = 0.01  # of a mean wait, from where on its error is worth a word
_POLICIES = {
    "spare": "lost nodes are replaced by spares, then waited for",
    "wait": "lost nodes are waited for",
    "shrink": "goes on with the replicas that remain",
}

_SURVIVES = {
    "process": "failures that take no node",
    "node": "the loss of a node",
    "domain": "the loss of a domain",
    "job": "every failure",
}


def assumptions(scenario: Scenario, forecast: Forecast) -> Table:
    """Two columns: what is assumed of, and what."""
    rows = table("", "", left=2)
    rows.columns[1].no_wrap = False
    for subject, text in (
        ("machine", _machine(scenario, forecast)),
        ("step", _step(scenario, forecast)),
        ("mixture", _mixture(scenario, forecast)),
        ("failures", _failures(scenario, forecast)),
        ("maintenance", _maintenance(scenario)),
        ("checkpoint", _checkpoint(scenario, forecast)),
        ("recovery", f"{_lost(scenario)}; {_restart(forecast)}"),
        ("rewinds", _rewinds(scenario)),
        ("reading", _reading(scenario)),
        ("storage", _storage(scenario)),
        ("poison", _poison(scenario)),
    ):
        if text:
            rows.add_row(subject, text)
    return rows


def _machine(scenario: Scenario, forecast: Forecast) -> str:
    cluster = scenario.cluster
    nodes = f"{plural(cluster.nodes, 'node')} with {plural(cluster.gpus_per_node, 'GPU')} each"
    said = [plural(cluster.spares, "spare") if cluster.spares else "no spares"]
    if cluster.cold is not None:
        said.append(plural(cluster.cold.nodes, "cold spare"))
    if cluster.borrowed is not None:
        said.append(f"{plural(cluster.borrowed.nodes, 'node')} to borrow")
    if cluster.repair_slots is not None:
        said.append(plural(cluster.repair_slots, "repair slot"))
    return "; ".join([f"{nodes}, {', '.join(said)}", plural(forecast.data_parallel, "replica"), *_worse(cluster)])


def _worse(cluster: Cluster) -> list[str]:
    """Which nodes are worse than others, and when one is given up."""
    said, lemons, retirement = [], cluster.lemons, cluster.retirement
    if lemons is not None:
        said.append(f"{share(lemons.share)} of the nodes are lemons, which fail {lemons.times:g} times as often")
    if retirement is not None and retirement.within is not None:
        often = f"{plural(retirement.failures or 0, 'failure')} within {duration(retirement.within / 1e9)}"
        said.append(f"a node is given up after {often}")
    elif retirement is not None and retirement.half_life is not None:
        halved = f"which halves in {duration(retirement.half_life / 1e9)}"
        said.append(f"a node is given up at a score of {retirement.score:g}, {halved}")
    return said


def _step(scenario: Scenario, forecast: Forecast) -> str:
    step = f"{duration(forecast.step_s)} for {plural(forecast.global_batch, 'sample')}"
    if ramp := scenario.model.ramp:
        first, until = count(ramp[0].global_batch), count(ramp[-1].until_samples)
        step += f", as long for {first} at first, which grow until {until} are read"
    if scenario.data.corpora is not None:
        return step
    return f"{step}; an epoch of {count(forecast.samples)} samples takes {count(forecast.epoch_steps)} steps"


def _mixture(scenario: Scenario, forecast: Forecast) -> str:
    corpora = scenario.data.corpora or ()
    whole, read = sum(each.weight for each in corpora), scenario.sizes.batches.before(forecast.failure_free_steps)
    return "; ".join(
        f"{each.name} {share(each.weight / whole)}, {count(read * each.weight / whole / each.samples)} "
        f"epochs of {plural(each.samples, 'sample')}"
        for each in corpora
    )


def _failures(scenario: Scenario, forecast: Forecast) -> str:
    said = []
    if forecast.interruption_mean_h is not None:
        causes = plural(sum(cause.slows is None for cause in forecast.causes), "cause")
        every = duration(3600 * forecast.interruption_mean_h)
        said.append(f"{count(forecast.failures_per_day)} a day from {causes}, one every {every}, at full layout")
    if forecast.scripted_failures:
        said.append(f"{count(forecast.scripted_failures)} scripted")
    if forecast.scripted_slow:
        said.append(f"slow {plural(forecast.scripted_slow, 'time')} by script")
    for failure in scenario.failures:
        if isinstance(failure, Stochastic) and failure.uncertain:
            said.append(f"{failure.cause}: a rate of which {plural(failure.count or 0, 'failure')} tell")
    for place, faults in scenario.faults.items():
        failure = scenario.failures[place]
        assert isinstance(failure, Traced)
        again = f", again every {duration(failure.length / 1e9)}" if failure.at_end == "repeat" else ""
        said.append(f"{failure.cause}: {plural(len(faults), 'fault')} of a trace{again}")
    for cause in forecast.causes:
        if cause.slows is not None:
            said.append(f"{cause.cause}: slow {count(cause.failures_per_day)} times a day, {cause.slows:g} x a step")
    return "; ".join(said) or "none"


def _maintenance(scenario: Scenario) -> str:
    said = []
    for each in scenario.maintenance:
        what = "the whole machine" if each.nodes is None else plural(each.nodes, "node")
        when = plural(len(each.at or ()), "time") if each.every is None else f"every {duration(each.every / 1e9)}"
        said.append(f"{each.name}: {what} for {duration(law_of(each.takes).mean_ns / 1e9)}, {when}")
    return "; ".join(said)


def _checkpoint(scenario: Scenario, forecast: Forecast) -> str:
    checkpoint = scenario.checkpoint
    every = f"every {plural(forecast.interval_steps, 'step')} ({duration(forecast.interval_s)} of training)"
    by = f" by {str(checkpoint.every).capitalize()}'s formula" if checkpoint.every.by in ("young", "daly") else ""
    by = ", adapted at each restart" if checkpoint.every.by == "adaptive" else by
    stall, write = duration(forecast.save_s), duration(forecast.write_s)
    tiers = "".join(
        f"; every {tier.every} to {tier.name}, which survives {_SURVIVES[tier.survives]}{_kept(tier)}"
        for tier in checkpoint.tiers
    )
    saved = f"training stands still for {stall}, and the save is durable {write} later{_kept(checkpoint)}"
    return f"{every}{by}; {saved}{tiers}{_tried(scenario)}"


def _kept(medium: Medium) -> str:
    """What becomes of its checkpoints, after a comma; nothing where all of them stay as they were made."""
    newest = "the newest alone is" if medium.keep == 1 else f"the newest {medium.keep} are"
    said = [] if medium.keep is None else [f"{newest} kept"]
    if medium.corrupt_at_load:
        said.append(f"{share(medium.corrupt_at_load)} cannot be read")
    if medium.bad_after_steps is not None:
        said.append(
            f"{share(medium.corrupt_later)} show {plural(medium.bad_after_steps, 'step')} later that they are bad"
        )
    return "".join(f", {each}" for each in said)


def _tried(scenario: Scenario) -> str:
    checkpoint = scenario.checkpoint
    if not any(each.corrupt_at_load or each.corrupt_later for each in (checkpoint, *checkpoint.tiers)):
        return ""
    return f"; a bad one is tried {plural(scenario.recovery.load_attempts, 'time')}, then an older one"


def _rewinds(scenario: Scenario) -> str:
    return "; ".join(f"{plural(each.back, 'step')} back after step {count(each.at_step)}" for each in scenario.rewinds)


def _lost(scenario: Scenario) -> str:
    return "the survivors go on in place" if scenario.recovery.in_place else _POLICIES[scenario.recovery.policy]


def _restart(forecast: Forecast) -> str:
    return f"from the failure to the first step it takes {duration(forecast.restart_s)} on average"


def _reading(scenario: Scenario) -> str:
    loader = scenario.loader
    name = f"loader {loader.preset}" if loader.preset else "a loader of its own"
    usual = {key: field.default for key, field in type(loader).model_fields.items()}
    stated = loader.model_dump(exclude={"preset", "saves", "comes_back"})
    others = [f"{key} {_spelt(value)}" for key, value in stated.items() if value != usual[key]]
    parts = [f"a checkpoint saves {loader.saves}", f"a restart comes back: {loader.comes_back}", *others]
    return f"order {scenario.data.order}; {name}: {', '.join(parts)}"


def _storage(scenario: Scenario) -> str:
    storage, supply = scenario.storage, supply_of(scenario)
    if storage is None or supply is None:
        return ""
    name = storage.preset or "of its own"
    units = f", {plural(storage.units, 'unit')}" if storage.units > 1 else ""
    each = " in each node that reads" if storage.scope == "node" else ""
    comes = f"{supply.keeps_up:.3g} times what is asked for comes at most, by {supply.bottleneck}"
    waits = f"; each step waits {duration(supply.wait_ns / 1e9)} for its data" if supply.wait_ns else ""
    if supply.wait_error_ns > _UNSURE * supply.wait_ns:
        waits += f", with a standard error of {duration(supply.wait_error_ns / 1e9)}"
    return f"{name}{units}{each}, read by {supply.pattern}: {comes}{waits}"


def _poison(scenario: Scenario) -> str:
    poison = scenario.poison
    if poison is None:
        return ""
    number = round((poison.share or 0) * scenario.sizes.samples) if poison.samples is None else len(poison.samples)
    kill = "one of them crashes" if poison.together == 1 else f"{poison.together} of them in a batch crash"
    then = f"after {plural(poison.retries, 'retry', 'retries')}: {poison.act}"
    where = "at another step after each restart" if wanders(scenario) else "each time"
    return f"{plural(number, 'sample')}; {kill} a step {where}; {then}"


def _spelt(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
