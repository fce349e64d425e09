"""What a result rests on, in a few lines: the assumptions that matter most."""

from rich.table import Table

from clustersim.cli.breakage import failures_in_words, lasts, maintenance_in_words
from clustersim.cli.output import table
from clustersim.cli.words import count, duration, plural, share
from clustersim.forecast import Forecast
from clustersim.loaders.taken_out import wanders
from clustersim.scenario import Scenario
from clustersim.scenario.checkpoint import Medium, Tier
from clustersim.scenario.cluster import Cluster
from clustersim.scenario.quantities import LIMIT
from clustersim.storage.feeding import supply_of

_UNSURE = 0.01  # of a mean wait, from where on its error is worth a word
_POLICIES = {
    "spare": "lost nodes are replaced by spares, then waited for",
    "wait": "lost nodes are waited for",
    "shrink": "goes on with the replicas that remain",
}
_GROWS = {
    "next-interruption": "takes nodes that are back when it is interrupted",
    "at-once": "restarts at once for nodes that are back",
    "next-checkpoint": "restarts at the next checkpoint for nodes that are back",
}

_SURVIVES = {
    "process": "failures that take no node",
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
        ("failures", failures_in_words(scenario, forecast)),
        ("maintenance", maintenance_in_words(scenario)),
        ("checkpoint", _checkpoint(scenario, forecast)),
        ("recovery", f"{_lost(scenario)}; {_restart(scenario, forecast)}"),
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
        said.append(f"{plural(cluster.cold.nodes, 'cold spare')} up after {lasts(cluster.cold.start_up)}")
    if cluster.borrowed is not None:
        said.append(f"{plural(cluster.borrowed.nodes, 'node')} to borrow after {lasts(cluster.borrowed.after)}")
    if cluster.repair_slots is not None:
        said.append(plural(cluster.repair_slots, "repair slot"))
    if cluster.nodes_per_domain is not None:
        said.append(f"domains of {plural(cluster.nodes_per_domain, 'node')}")
    return "; ".join([f"{nodes}, {', '.join(said)}", plural(forecast.data_parallel, "replica"), *_worse(cluster)])


def _worse(cluster: Cluster) -> list[str]:
    """Which nodes are worse than others, and when one is given up."""
    said, lemons, retirement = [], cluster.lemons, cluster.retirement
    if lemons is not None:
        cured = ", until they are repaired" if lemons.cured_by_repair else ""
        said.append(f"{share(lemons.share)} of the nodes are lemons, which fail {lemons.times:g} times as often{cured}")
    if retirement is not None:
        if retirement.within is not None:
            often = f"{plural(retirement.failures or 0, 'failure')} within {duration(retirement.within / 1e9)}"
            given_up = f"after {often}"
        else:
            halved = f"which halves in {duration((retirement.half_life or 0) / 1e9)}"
            given_up = f"at a score of {retirement.score:g}, {halved}"
        replaced = "for good" if retirement.replaced == LIMIT else f"and replaced after {lasts(retirement.replaced)}"
        said.append(f"a node is given up {given_up}, {replaced}")
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


def _checkpoint(scenario: Scenario, forecast: Forecast) -> str:
    checkpoint = scenario.checkpoint
    every = f"every {plural(forecast.interval_steps, 'step')} ({duration(forecast.interval_s)} of training)"
    by = f" by {str(checkpoint.every).capitalize()}'s formula" if checkpoint.every.by in ("young", "daly") else ""
    by = ", adapted at each restart" if checkpoint.every.by == "adaptive" else by
    stall, write = duration(forecast.save_s), duration(forecast.write_s)
    tiers = "".join(
        f"; every {tier.every} to {tier.name}, which survives {_survived(tier)}{_kept(tier)}"
        for tier in checkpoint.tiers
    )
    saved = f"training stands still for {stall}, and the save is durable {write} later"
    if forecast.write_s > forecast.interval_s:
        saved += f", one that falls due meanwhile {'waits' if checkpoint.when_busy == 'wait' else 'is left out'}"
    if not checkpoint.final_checkpoint:
        saved += ", what is not when the time is up is lost"
    return f"{every}{by}; {saved}{_kept(checkpoint)}{tiers}{_tried(scenario)}"


def _survived(tier: Tier) -> str:
    """What a tier survives; of copies on several nodes or domains, that all but one are lost."""
    if tier.survives in _SURVIVES:
        return _SURVIVES[tier.survives]
    lost = tier.copies - 1
    return f"the loss of {'a' if lost == 1 else count(lost)} {tier.survives}{'' if lost == 1 else 's'}"


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
    """What is done where nodes are lost, and of a job that may be smaller how small and how it grows."""
    recovery, sizes = scenario.recovery, scenario.sizes
    if recovery.policy != "shrink":
        return _POLICIES[recovery.policy]
    divides = f", and only divisors of {sizes.divided}" if sizes.uneven_refused else ""
    said = ["the survivors go on in place" if recovery.in_place else _POLICIES["shrink"]]
    said[0] += f", at least {count(sizes.min_data)}{divides}"
    if recovery.batch == "shrinks":
        said.append("each replica keeps its part of the batch")
    said.append("others join when they are back" if recovery.in_place else _GROWS[recovery.grow_back])
    return "; ".join(said)


def _restart(scenario: Scenario, forecast: Forecast) -> str:
    recovery, restart = scenario.recovery, f"takes {duration(forecast.restart_s)} on average"
    if not recovery.in_place:
        return f"from the failure to the first step it {restart}"
    regroup, rejoin = lasts(recovery.regroup), lasts(recovery.rejoin)
    in_place = f"a failure costs the step in flight and {regroup} to regroup, one that joins heals for {rejoin}"
    return f"{in_place}; a restart, where too few are left, {restart}"


def _reading(scenario: Scenario) -> str:
    loader = scenario.loader
    name = f"loader {loader.preset}" if loader.preset else "a loader of its own"
    usual = {key: field.default for key, field in type(loader).model_fields.items()}
    stated = loader.model_dump(exclude={"preset", "saves", "comes_back"})
    others = [f"{key} {_spelt(value)}{_held(scenario, key)}" for key, value in stated.items() if value != usual[key]]
    parts = [f"a checkpoint saves {loader.saves}", f"a restart comes back: {loader.comes_back}", *others]
    skipped = sum(end - begin for begin, end in scenario.data.skipped)
    passes = f"; {plural(skipped, 'position')} are passed over" if skipped else ""
    return f"order {scenario.data.order}; {name}: {', '.join(parts)}{passes}"


def _held(scenario: Scenario, key: str) -> str:
    """Of a buffer that no reader fills, what it holds at most: all that the reader with the most samples has."""
    sizes, loader = scenario.sizes, scenario.loader
    readers = 1 if loader.partition == "queue" else sizes.data * loader.readers_per_rank
    parts = sizes.shards if "shards" in loader.partition else sizes.samples
    most = -(-parts // readers) * sizes.samples // parts
    return f", of which a reader fills {count(most)} at most" if key == "buffer" and loader.buffer > most else ""


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
