"""The simulator, composed as `compositions.py` says, playing a measured row: a scenario's keys through `simulate`."""

from collections import Counter

from measured.compositions import composition
from measured.literal_model import key as literal_key

from clustersim import ScenarioError, load_scenario, simulate

SAME_NAME = [
    *("partition", "permutes", "dealt_to", "uneven", "canonical", "interleave", "unfinished_shard", "missing_state"),
    *("comes_back", "reshuffle_lasts", "order_epoch", "epoch_edge", "past_end", "miscount", "snapshot_every"),
    *("counted_in", "taken_for", "takes_back", "state_ahead", "last_batch", "on_layout_change"),
    *("buffer", "buffer_kind", "buffer_saved", "reader_seeds", "prefetch", "prefetch_saved"),
]
OTHER_ORDER = {"samples-in-shards": "nested-shuffle", "sequential-once": "sequential"}


def loader_keys(parts, epochs):
    """The `[loader]` table of a composition; what a part has as usual is not said."""
    usual = type(parts)()
    keys = {name: getattr(parts, name) for name in SAME_NAME if getattr(parts, name) != getattr(usual, name)}
    keys |= {"saves": parts.saves, "comes_back": parts.comes_back}
    one_sequence = parts.partition == "global"
    if parts.saves == "nothing" and parts.comes_back == "exact":
        keys["comes_back"] = "restart-run"
    if parts.rank_batch:
        keys |= {"rank_batch": "constant", "uneven": "pad"}
    elif parts.saves == "steps":
        keys["saves"] = "batches"
    if parts.on_layout_change == "keep-local" and not one_sequence:
        keys["on_layout_change"] = "keep"
    if keys["comes_back"] not in ("exact", "reshuffle"):
        keys.pop("past_end", None)  # there is no position
    if parts.counted_at == "issued" and parts.prefetch:
        keys["counted_at"] = "issued"
    if parts.buffer and parts.buffer_seed == "never":
        keys["buffer_seed"] = "fresh"
    if parts.workers > 1:
        keys["readers_per_rank"] = parts.workers
    if parts.passes != "epoch":
        keys["repeats"] = (
            epochs if parts.passes == "repeat" else epochs + 2
        )  # a stream that goes on beyond the run's end
    if parts.loop_counter == "kept":
        keys["keeps_count"] = True
    return keys | {"last_batch": parts.last_batch}


def composed(parts, order, epochs):
    """The `[loader]` table and the order of the data of a composition."""
    keys = loader_keys(parts, epochs)
    if order == "with-replacement":
        keys["partition"] = "shards"
    elif order == "sequential-once":
        keys["order_epoch"] = "same"
    elif order == "sequential" and parts.permutes == "part" and parts.partition == "contiguous":
        order = "shuffle"  # of each part: the epoch itself lies as it lies
    return keys, OTHER_ORDER.get(order, order)


def scenario_of(row, ending):
    """The scenario that crashes as the row did; raises ScenarioError if no keys compose it."""
    parts, order = composition(row.loader, row.version)
    keys, order = composed(parts, order, row.epochs)
    ranks = [parts.readers or ranks for ranks, _, _ in row.attempts]  # whatever the ranks, the same readers
    nodes = max(ranks)
    crashes = [checkpoint + 3 for _, checkpoint, _ in row.attempts[:-1]]
    first = [] if ranks[0] == nodes else [0]  # a job that begins on fewer ranks than it may have
    return load_scenario(
        {
            "name": "crash and restart",
            # Around an endless stream the loop counts the steps of its epochs, so both endings are one.
            "run": {"epochs": row.epochs} if ending == "E" and parts.passes != "endless" else {"steps": row.steps},
            "model": {"global_batch": row.batch, "step_time": "1 s"},
            "cluster": {"nodes": nodes, "gpus_per_node": 1},
            "failures": [
                {"cause": "crash", "at_steps": first + crashes, "data": [ranks[0]] * len(first) + ranks[1:]},
            ]
            if first + crashes
            else [],
            "checkpoint": {"every": "5 steps"},
            "data": {"samples": row.samples, "shards": row.shards, "order": order},
            "loader": keys,
        }
    )


def key(row):
    """What the outcome depends on; None if the simulator has no keys for the composition."""
    try:
        scenario_of(row, "E")
    except ScenarioError:
        return None
    return literal_key(row)


def play(row, seed):
    """Histograms {ending: {times seen: samples}}, None if the loader refuses to come back."""
    found = {}
    for ending in ("E", "T"):
        run = simulate(scenario_of(row, ending), seed=seed)
        if run.history.outcome == "refused":
            return None
        found[ending] = Counter()
        for seen, samples in zip(run.ledger.seen, run.ledger.samples, strict=True):
            found[ending][int(seen)] += int(samples)
    return {ending: {seen: samples for seen, samples in counts.items() if samples} for ending, counts in found.items()}
