"""Label every measured row, for each ending, deterministic or stochastic, before anything is compared.

The rule: a row is *deterministic* in an ending if its whole histogram is the same whatever the seeds of its orders,
draws and buffers are; otherwise *stochastic*. The composition of the variant is played under 40 seeds; no measured
count is looked at. The reason (`table.REASONS`) says why. Run it after a composition has changed: it writes labels.csv.
"""

import csv
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from measured.compositions import composition
from measured.literal_model import key, play
from measured.table import ENDINGS, HERE, rows

SEEDS = range(40)


def outcomes(row):
    """What the row's composition gives under each seed."""
    return [play(row, seed) for seed in SEEDS]


def reason(row, ending, played, deterministic):
    """Why it is the same for every seed, or what makes it differ: a key of REASONS."""
    parts, order = composition(row.loader, row.version)
    if played[0] is None:
        return "refusal"
    if deterministic:
        return "whole" if set(played[0][ending]) == {row.epochs} else "places"
    if order == "with-replacement":
        return "replacement"
    if parts.buffer:
        return "buffer"
    if parts.comes_back.startswith("reshuffle") or parts.order_epoch == "first" or parts.permutes == "part":
        return "fresh order"
    return "layout's order" if order == "samples-in-shards" else "two epochs"


def main():
    """Write labels.csv."""
    alike = {key(row): row for row in rows()}
    with ProcessPoolExecutor() as pool:
        played = dict(zip(alike, pool.map(outcomes, alike.values(), chunksize=8), strict=True))
    kinds = defaultdict(list)
    for row in rows():
        for ending in ENDINGS:
            runs = played[key(row)]
            same = all(one == runs[0] if one is None else one[ending] == runs[0][ending] for one in runs)
            label = "deterministic" if same else "stochastic"
            why = reason(row, ending, runs, same)
            kinds[row.loader, row.version, row.config, ending, label, why].append(row.scenario)
    with (HERE / "labels.csv").open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["loader", "version", "config", "ending", "label", "reason", "scenarios"])
        out.writerows([*kind, " ".join(scenarios)] for kind, scenarios in kinds.items())


if __name__ == "__main__":
    main()
