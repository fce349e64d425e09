"""How many of the measured rows does a model reproduce?

    python tests/measured/compare.py                      the literal loader
    python tests/measured/compare.py --model clustersim   scenarios through cs.simulate

A deterministic row (see label.py) is *exact* if extra, missing and the whole histogram agree. A stochastic one is
*within* its law if extra, missing and never seen each lie among what the seeds gave, or pass a t test of one more draw
against them, at 1 % over all tests together (Bonferroni). Exit 1 if fewer than 97 % of all deterministic rows are
exact, those that the model cannot compose included, or if it misses a row that misses.py does not name.
"""

import argparse
import sys
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
from scipy.stats import t as student

sys.path.insert(0, str(Path(__file__).parents[1]))

from measured import misses
from measured.table import ENDINGS, damage, labels, rows

LEVEL = 0.01
VERDICTS = ("exact", "within", "off", "outside", "broken", "not composed")
MISSED = VERDICTS[2:]


def played(model, seeds, row):
    """The outcomes of a row under some seeds; the error's text if the model breaks, so that the other rows are told."""
    drawn = any(labels()[row.kind, ending][0] == "stochastic" for ending in ENDINGS)
    try:
        return [import_module(model).play(row, seed) for seed in range(seeds if drawn else 1)]
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def within(measured, drawn, level):
    """Whether a measured figure may be one more draw from the law that gave `drawn`, at a two-sided level."""
    drawn = np.array(drawn, dtype=float)
    if drawn.min() <= measured <= drawn.max():
        return True
    if drawn.std() == 0:
        return False
    count = len(drawn)
    z = (measured - drawn.mean()) / (drawn.std(ddof=1) * np.sqrt(1 + 1 / count))
    return 2 * student.sf(abs(z), count - 1) >= level


def verdict(row, ending, label, outcomes, level):
    """What becomes of a row and ending."""
    if outcomes is None:
        return "not composed"
    if isinstance(outcomes, str):
        return "broken"
    good, bad = ("exact", "off") if label == "deterministic" else ("within", "outside")
    if row.error or None in outcomes:
        return good if row.error and not any(outcomes) else bad
    if label == "deterministic":
        return good if outcomes[0][ending] == row.histograms[ending] else bad
    drawn = [damage(one[ending], row.epochs) for one in outcomes]
    figures = zip(damage(row.histograms[ending], row.epochs), zip(*drawn, strict=True), strict=True)
    return good if all(within(measured, ours, level) for measured, ours in figures) else bad


def compare(model, seeds, select):
    """(row, ending, label, verdict) of all rows whose name holds `select`."""
    said, chosen = labels(), [row for row in rows() if select in f"{row.loader} | {row.version}"]
    key = import_module(model).key
    alike = {key(row): row for row in chosen if key(row) is not None}
    with ProcessPoolExecutor() as pool:
        found = dict(zip(alike, pool.map(partial(played, model, seeds), alike.values(), chunksize=4), strict=True))
    tests = 3 * sum(said[row.kind, ending][0] == "stochastic" for row in chosen for ending in ENDINGS)
    level = LEVEL / max(1, tests)
    for row in chosen:
        for ending in ENDINGS:
            label = said[row.kind, ending][0]
            yield row, ending, label, verdict(row, ending, label, found.get(key(row)), level)


def report(results):
    """Print the rows by loader and the misses with their reasons; whether the bar is met."""
    table, total, named, unnamed = defaultdict(Counter), Counter(), Counter(), []
    for row, ending, label, said in results:
        table[row.loader, row.version][said, ending] += 1
        total[label, said] += 1
        if said in MISSED:
            if why := misses.reason(row):
                named[row.loader, row.version, why, label] += 1
            else:
                unnamed.append(
                    f"row {row.row}: {row.loader}, {row.version}, {row.config} {row.scenario} {ending} {said}"
                )
    print("loader, version: " + ", ".join(VERDICTS) + " (E + T)")
    for (loader, version), counts in table.items():
        cells = [f"{counts[said, 'E']} + {counts[said, 'T']}".rjust(8) for said in VERDICTS]
        print(" ".join(cells), f" {loader}, {version}")
    exact = total["deterministic", "exact"]
    asked = exact + sum(total["deterministic", said] for said in MISSED)
    share = exact / asked if asked else 1.0
    print(f"\ndeterministic: {exact} of {asked} exact ({share:.2%})")
    inside, outside = total["stochastic", "within"], total["stochastic", "outside"]
    print(f"stochastic: {inside} of {inside + outside} within their law")
    left = sum(count for (_, said), count in total.items() if said == "not composed")
    print(f"not composed: {left}")
    for (loader, version, why, label), count in named.items():
        print(f"known miss, {count} {label}: {loader}, {version}: {why}")
    for line in unnamed:
        print(f"miss: {line}")
    return share >= 0.97 and not unnamed


def main():
    """Read the options, compare, say so."""
    options = argparse.ArgumentParser(description="How many of the measured rows does a model reproduce?")
    options.add_argument("--model", choices=["literal", "clustersim"], default="literal")
    options.add_argument("--seeds", type=int, default=40, help="draws from each stochastic law")
    options.add_argument("--select", default="", help="only variants whose `loader | version` holds this text")
    chosen = options.parse_args()
    sys.exit(0 if report(compare(f"measured.{chosen.model}_model", chosen.seeds, chosen.select)) else 1)


if __name__ == "__main__":
    main()
