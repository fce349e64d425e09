"""Compositions as the literal loader and the engine know them, drawn at random of those that a scenario may say."""

from random import Random

from measured.clustersim_model import loader_keys

import literal
from literal.engine import parts_of

BATCH = 12
RANKS = [1, 2, 3, 4, 6]
# What the literal loader and the engine both know, and what no random number of theirs decides.
OTHER = {
    "workers": [2, 3],
    "uneven": ["pad", "drop"],
    "last_batch": ["drop", "pad"],
    "passes": ["repeat"],
    "saves": ["steps", "epoch", "nothing"],
    "snapshot_every": [3],
    "prefetch": [1, 2],
    "takes_back": [1, 2],
    "miscount": ["doubled", "last-leg"],
    "state_ahead": [-3, -1, 2],
    "dealt_to": ["first-ranks"],
    "counted_in": [4, 5],
    "taken_for": [1, 5, 7],
    "comes_back": ["restart-epoch", "next-epoch", "restart-run", "reshuffle"],
    "reshuffle_lasts": ["for-good"],
    "order_epoch": ["first"],
    "epoch_edge": ["old", "finished"],
    "loop_counter": ["kept"],
    "on_layout_change": ["reshard", "refuse", "redivide"],
    "missing_state": ["rank-0"],
    "past_end": ["restart-epoch", "refuse"],
    "canonical": [2, 3],
    "interleave": [2, 3],
    "unfinished_shard": ["skip"],
}
WHOLE_INPUT = ["filtered", "slices"]
BY_SHARD = ["shards", "contiguous-shards", "queue"]
PARTITIONS = ["global", "strided", "contiguous", *BY_SHARD, *WHOLE_INPUT]
BEHIND = [each for each in PARTITIONS if each not in ("queue", *WHOLE_INPUT)]  # that a buffer may stand before
WORKERS = {"strided": "strided", "shards": "shards", "contiguous": "side-by-side", "contiguous-shards": "side-by-side"}
EPOCHS = 3
# What draws by itself, and what is stated beside it.
DRAWS = {"buffer": [4, 15, 40], "permutes": ["part"], "comes_back": ["remainder"]}
BESIDE = {
    "workers": [2],
    "last_batch": ["drop"],
    "saves": ["epoch", "steps"],
    "state_ahead": [-2, 3],
    "buffer_kind": ["half-flush", "window", "chunk", "lazy"],
    "buffer_saved": [True],
    "buffer_seed": ["never"],
    "reader_seeds": ["shared"],
    "epoch_edge": ["old"],
    "on_layout_change": ["reshard", "refuse"],
    "missing_state": ["rank-0"],
    "past_end": ["restart-epoch", "refuse"],
}


def compared(chosen):
    """Whether the literal loader says the same as the engine: where shards are regrouped, not of all beside it.

    It reads the groups of all repeated epochs in turn, and knows neither an equal share of a position in groups nor how
    to take back some of it; and it takes up snapshots, where the engine takes up the position itself.
    """
    changed = chosen.get("on_layout_change")
    if "interleave" in chosen and ("passes" in chosen or "takes_back" in chosen or changed == "reshard"):
        return False
    return "snapshot_every" not in chosen or not ("interleave" in chosen or changed == "redivide")


def composed(chosen):
    """Literal parts, and the same as the engine's parts; None if a scenario may not say them together."""
    partition = chosen.get("partition", "global")
    if partition in WHOLE_INPUT:
        chosen = {**chosen, "passes": "repeat", "workers": 1}
    elif "workers" in chosen and partition != "global":
        chosen = {**chosen, "worker_split": WORKERS.get(partition, "shards")}
    stated = literal.Parts(**chosen)
    try:
        return stated, parts_of(loader_keys(stated, EPOCHS) | {"last_batch": stated.last_batch})
    except ValueError:
        return None


def compositions(count):
    """Those in which nothing but the order is random."""
    random, found = Random(0), []
    while len(found) < count:
        partition = random.choice(PARTITIONS)
        chosen = {name: random.choice(OTHER[name]) for name in random.sample(sorted(OTHER), random.randrange(6))}
        if "prefetch" in chosen:
            saved = partition in WHOLE_INPUT and random.random() < 0.5
            chosen |= {"prefetch_saved": True} if saved else {"counted_at": "issued"}
        made = composed({"partition": partition, **chosen}) if compared(chosen) else None
        if made is not None:
            found.append(made)
    return found


def drawing(count):
    """Those in which a buffer, a reader or a restart draws too."""
    random, found = Random(1), []
    while len(found) < count:
        part = random.choice(sorted(DRAWS))
        chosen = {name: random.choice(BESIDE[name]) for name in random.sample(sorted(BESIDE), random.randrange(5))}
        # Where the whole input is read behind a buffer, only the rules' points stay clear of its ragged end.
        chosen |= {part: random.choice(DRAWS[part]), "partition": random.choice(BEHIND)}
        made = composed(chosen)
        if made is not None:
            found.append(made)
    return found
