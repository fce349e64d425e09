"""Writes docs/loaders.md, the catalogue of loaders: every preset, crashed and restarted here.

python docs/make_loaders.py
"""

import re
import statistics
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import clustersim as cs
from clustersim.scenario import load_scenario, preset_parts, presets

PAGE = Path(__file__).parent / "loaders.md"
RUNS = 10
# The checkpoints that are restarted from, and the ranks at first and after each.
SAME = {
    "once": ([20], [4, 4]),
    "later epoch": ([60], [4, 4]),
    "twice": ([10, 30], [4, 4, 4]),
    "epoch's end": ([40], [4, 4]),
}
OTHER = {"4 to 3": ([20], [4, 3]), "4 to 2": ([20], [4, 2]), "2 to 4": ([20], [2, 4])}
COLUMNS = SAME | OTHER
# Not at a shard's end, as the ones before are.
WITHIN = {f"{name}, within shards": ([25], ranks) for name, (_, ranks) in OTHER.items()}
HISTORIES = COLUMNS | WITHIN
PLAIN = ("restore", "epoch", "reshuffle", "unseen-remainder", "restart-run", "no-rewind")
BUFFER = 64

INTRODUCTION = f"""\
# Loaders

<!-- Written by docs/make_loaders.py. -->

Every preset, crashed and restarted: 960 samples in 24 shards, 24 of them a step, so 40 steps an epoch; 2 epochs, 4
ranks. The job goes back to a checkpoint in the middle of epoch 0 (once) or of epoch 1 (later epoch), to two of one
epoch (twice), to one at an epoch's last step, or it goes on with other ranks. Buffers hold {BUFFER} samples.

A cell is extra / missing views, against one view an epoch of every sample; ~ is the mean of {RUNS} runs. In an *exact*
one all batches are those that were planned. The last column is what to save so that the same ranks are exact and other
ranks have 0 / 0, and the keys of `[loader]` that say it; with them all these runs were made again.
"""

# If a part of the loader is one of these, then save that instead: in words, and as keys (None: not said).
MENDS: list[tuple[str, Iterable[object], str, Mapping[str, object]]] = [
    ("comes_back", ("restart-epoch", "restart-run", "next-epoch", "continue"), "the position", {"comes_back": "exact"}),
    ("comes_back", ("reshuffle", "reshuffle-epoch"), "the order's seed or generator", {"comes_back": "exact"}),
    ("saves", ("epoch", "nothing"), "", {"saves": "samples"}),
    ("reshuffle_lasts", ("epoch", "for-good"), "", {"reshuffle_lasts": None}),
    ("keeps_count", (True,), "", {"keeps_count": False}),
    ("order_epoch", ("first", "since-start"), "the epoch, before its order is made", {"order_epoch": "own"}),
    ("counted_at", ("issued",), "what is trained, not fetched", {"counted_at": "trained", "prefetch": 0}),
    ("buffer_saved", (False,), "what the buffer holds", {"buffer_saved": True}),
    ("miscount", ("doubled",), "each batch counted once", {"miscount": "none"}),
    ("miscount", ("rank-as-global",), "the count of all ranks", {"miscount": "none"}),
    ("epoch_edge", ("old", "finished"), "at an epoch's end, the next epoch", {"epoch_edge": "new"}),
]
# What may help when the ranks change, if the preset says the first key.
DIVIDED = [
    ("samples, not steps, and nothing that is filled up", {"saves": "samples", "last_batch": "short"}),
    ("the position of all ranks", {"on_layout_change": "reshard", "missing_state": "fresh"}),
    ("what no rank has read, dealt out anew", {"on_layout_change": "redivide", "missing_state": "fresh"}),
    ("one order of all samples, which the ranks divide", {"permutes": "epoch", "partition": "strided"}),
    (
        "one order of all samples, which the ranks divide",
        {"reader_seeds": "own", "permutes": "epoch", "partition": "strided"},
    ),
]


# What a preset that means another order comes to on the same ranks.
EXACT: dict[object, tuple[str, ...]] = {"remainder": ("exact", "0 / 0")}


class Preset:
    """A preset, with parts changed, and what becomes of each history."""

    def __init__(self, name: str, changes: Mapping[str, object]) -> None:
        parts = {**preset_parts(name, name), **changes}
        self.loader = {key: BUFFER if key == "buffer" else part for key, part in parts.items() if part is not None}
        needs = re.search(r'Needs data\.order = "([a-z-]+)"', presets()[name])
        self.order = needs[1] if needs else "shuffle"
        self._cells: dict[str, str] = {}

    def cell(self, history: str) -> str:
        """What one of the histories comes to: extra / missing, "exact" or "refuses"."""
        if history not in self._cells:
            self._cells[history] = self._simulated(*HISTORIES[history])
        return self._cells[history]

    def sound(self, histories: Iterable[str], cells: Iterable[str] = ("exact", "0 / 0")) -> bool:
        """Whether each of the histories comes to one of these cells."""
        return all(self.cell(history) in cells for history in histories)

    def _simulated(self, checkpoints: list[int], ranks: list[int]) -> str:
        scenario = self.scenario(checkpoints, ranks)
        if scenario.loader.on_layout_change == "refuse" and len(set(ranks)) > 1:
            return "refuses"
        drawn: list[tuple[Any, Any]] = []
        for seed in range(RUNS):
            run = cs.simulate(scenario, seed=seed)
            if run.history.outcome == "refused":
                return "refuses"
            figures = run.summary()
            drawn.append((figures["extra_views_ideal"], figures["missing_views_ideal"]))
            if drawn == [(0, 0)] and figures["identical_steps_share"] == 1:
                return "exact"
        if len(set(drawn)) == 1:
            return " / ".join(str(figure) for figure in drawn[0])
        return " / ".join(f"~{statistics.mean(figures):.0f}" for figures in zip(*drawn, strict=True))

    def scenario(self, checkpoints: list[int], ranks: list[int]) -> cs.Scenario:
        """A job of these ranks, one after another, that each go back to one of the checkpoints."""
        crashes = [(checkpoint + 3, after) for checkpoint, after in zip(checkpoints, ranks[1:], strict=True)]
        if ranks[0] < max(ranks):  # a job that grows begins with a crash
            crashes.insert(0, (0, ranks[0]))
        return load_scenario(
            {
                "run": {"epochs": 2},
                "model": {"global_batch": 24, "step_time": "1 s"},
                "cluster": {"nodes": max(ranks), "gpus_per_node": 1},
                "failures": [{"cause": "crash", "at_steps": [c[0] for c in crashes], "data": [c[1] for c in crashes]}],
                "checkpoint": {"every": "5 steps"},
                "data": {"samples": 960, "shards": 24, "order": self.order},
                "loader": self.loader,
            }
        )


def helps(name: str, keys: Mapping[str, object]) -> bool:
    """Whether a preset with these parts, if they go together, is sound on other ranks."""
    try:
        return Preset(name, keys).sound(OTHER | WITHIN)
    except cs.ScenarioError:
        return False


def mend(name: str, preset: Preset) -> str:
    """What to save so that it comes back exactly, and the keys that say so; empty if it does."""
    words, keys = [], dict[str, Any]()
    if not preset.sound(SAME, EXACT.get(preset.loader["comes_back"], ("exact",))):
        loader = preset.scenario(*SAME["once"]).loader.model_dump()
        for part, values, word, changes in MENDS:
            needless = (part == "epoch_edge" and preset.cell("epoch's end") == "exact") or (
                part == "buffer_saved" and not loader["buffer"]
            )
            if loader[part] in values and not needless:
                words += [word] * bool(word)
                keys |= changes
    mended = Preset(name, keys) if keys else preset
    if not mended.sound(SAME, EXACT.get(mended.loader["comes_back"], ("exact",))):
        return "nothing makes it exact"
    if "refuses" in map(mended.cell, OTHER):
        words.append("it refuses other ranks")
    elif not mended.sound(OTHER | WITHIN):
        for word, changes in DIVIDED:
            if next(iter(changes)) in preset.loader and helps(name, keys | changes):
                words.append(word)
                keys |= changes
                break
        else:
            words.append("on the same ranks only")
    said = ", ".join(f"`{key} = {_toml(value)}`" for key, value in keys.items() if value is not None)
    return "; ".join(words) + (f": {said}" if said else "")


def _toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def row(name: str) -> str:
    """A preset's row of the table."""
    preset = Preset(name, {})
    return f"| `{name}` | {' | '.join(map(preset.cell, COLUMNS))} | {mend(name, preset)} |"


def page() -> Iterator[str]:
    """The lines of the page."""
    told = presets()
    yield INTRODUCTION
    plain = [name for name in PLAIN if name in told]
    for title, names in (("Plain ones", plain), ("Of libraries", [name for name in told if name not in plain])):
        yield f"## {title}\n"
        yield f"| preset | {' | '.join(COLUMNS)} | to make it exact, save |"
        yield "|---|" + "---|" * (len(COLUMNS) + 1)
        yield from (row(name) for name in names)
        yield ""
    yield "## What each saves and loses\n"
    yield "`clustersim presets NAME` prints it with the parts that a preset is composed of.\n"
    for name in (*plain, *(name for name in told if name not in plain)):
        first, _, rest = told[name].partition("\n")
        yield f"**`{name}`**: {first} {' '.join(rest.split())}\n"


if __name__ == "__main__":
    PAGE.write_text("\n".join(page()).rstrip() + "\n", "utf-8")
