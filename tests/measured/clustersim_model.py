"""The simulator, composed as `compositions.py` says, playing a measured row: a scenario's keys through `simulate`."""

from collections import Counter

from measured.compositions import composition
from measured.literal_model import key as literal_key

from clustersim import ScenarioError, load_scenario, simulate

SAME_NAME = [
    *("partition", "permutes", "uneven", "readers", "canonical", "interleave", "unfinished_shard"),
    *("comes_back", "reshuffle_lasts", "order_epoch", "epoch_edge", "past_end", "miscount", "snapshot_every"),
    *("buffer", "buffer_kind", "buffer_saved", "prefetch_saved"),
]
OTHER_WORD = {
    "saves": {"steps": "batches"},
    "on_layout_change": {"keep-local": "keep"},
    "buffer_seed": {"never": "fresh"},
}
OTHER_ORDER = {"samples-in-shards": "shard-shuffle", "sequential-once": "shuffle-once"}


def loader_keys(parts, epochs):
    """The `[loader]` table of a composition."""
    usual = type(parts)()
    keys = {name: getattr(parts, name) for name in SAME_NAME if getattr(parts, name) != getattr(usual, name)}
    for name, words in OTHER_WORD.items():
        keys[name] = words.get(getattr(parts, name), getattr(parts, name))
    keys["comes_back"] = parts.comes_back
    if parts.rank_batch:
        keys |= {"saves": "steps", "rank_batch": "constant"}
    if parts.partition == "global":
        if keys["on_layout_change"] == "keep":
            del keys["on_layout_change"]
    elif parts.missing_state != "fresh":
        keys["missing_state"] = parts.missing_state
    if not parts.buffer:
        del keys["buffer_seed"]
    if parts.prefetch:
        keys |= {"counted_at": parts.counted_at, "prefetch": parts.prefetch}
    if parts.workers > 1:
        keys["readers_per_rank"] = parts.workers
    if parts.passes != "epoch":
        keys["repeats"] = epochs if parts.passes == "repeat" else 0
    if parts.loop_counter == "kept":
        keys["keeps_count"] = True
    if parts.partition != "global" or parts.rank_batch or parts.miscount != "none" or "keeps_count" in keys:
        keys["last_batch"] = parts.last_batch
    return keys


def scenario_of(row, ending):
    """The scenario that crashes as the row did, raises ScenarioError if it cannot be composed."""
    parts, order = composition(row.loader, row.version)
    order = "shuffle" if (parts.partition, parts.permutes) == ("contiguous", "part") else OTHER_ORDER.get(order, order)
    ranks = [ranks for ranks, _, _ in row.attempts]
    nodes = max(ranks)
    crashes = [checkpoint + 3 for _, checkpoint, _ in row.attempts[:-1]]
    first = [] if ranks[0] == nodes else [0]  # a job that begins on fewer ranks than it may have
    return load_scenario(
        {
            "name": "crash and restart",
            "run": {"epochs": row.epochs} if ending == "E" else {"steps": row.steps},
            "model": {"global_batch": parts.rank_batch * nodes or row.batch, "step_time": "1 s"},
            "cluster": {"nodes": nodes, "gpus_per_node": 1},
            "failures": [
                {"cause": "crash", "at_steps": first + crashes, "data": [ranks[0]] * len(first) + ranks[1:]},
            ]
            if first + crashes
            else [],
            "checkpoint": {"every": "5 steps"},
            "data": {"samples": row.samples, "shards": row.shards, "order": order},
            "loader": loader_keys(parts, row.epochs),
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
