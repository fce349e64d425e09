"""What a run costs, in one table of ratios: `python benchmarks/table.py`.

Times of a machine mean little, so each is put beside what the same machine needs for bare SimPy timeouts, in turns with
them and as a median. `--long` takes what needs minutes too, `--into README.md` puts the table where it stands there.
`--json FILE` stores every figure; `--before FILE` puts those of another commit beside them.
"""

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from measures import account, clock, process, storing, studies
from pasted import number, paste


class Row(NamedTuple):
    """One line of the table."""

    what: str
    found: float
    unit: str
    bar: float | None = None
    at_least: bool = False
    told: str = ""
    """What the figure was made of."""

    @property
    def met(self) -> bool:
        """Whether the figure is on the right side of its bar, if it has one."""
        return self.bar is None or (self.found >= self.bar if self.at_least else self.found <= self.bar)


QUICK = {measure.__name__: measure for part in (clock, account, process) for measure in part.MEASURES}
LONG = {measure.__name__: measure for part in (account, studies, storing, process) for measure in part.LONG}
MEASURES = {**QUICK, **LONG, **{measure.__name__: measure for measure in account.ALONE}}


def rows(names: Sequence[str]) -> list[Row]:
    """The rows of these measures, measured now."""
    found: list[Row] = []
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        found += [Row(*line) for line in MEASURES[name]()]
    return found


def page(found: Sequence[Row], before: dict[str, float]) -> str:
    """The table in Markdown, with what another commit found if there is such."""
    with_before = " before |" if before else ""
    lines = [f"| what | found | bar | met |{with_before}", "|---|---|---|---|" + ("---|" if before else "")]
    for row in found:
        told = f" ({row.told})" if row.told else ""
        bar = "" if row.bar is None else f"{'at least' if row.at_least else 'at most'} {number(row.bar)}{row.unit}"
        met = "" if row.bar is None else "yes" if row.met else "**no**"
        line = f"| {row.what} | {number(row.found)}{row.unit}{told} | {bar} | {met} |"
        if before:
            line += f" {number(before[row.what])}{row.unit} |" if row.what in before else " |"
        lines.append(line)
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, store."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--only", nargs="+", choices=MEASURES, help="measure these")
    asked.add_argument("--long", action="store_true", help="measure what takes minutes too")
    asked.add_argument("--into", type=Path, metavar="PAGE", help="put the table into a page that has a place for it")
    asked.add_argument("--json", type=Path, metavar="FILE", help="store the figures")
    asked.add_argument("--before", type=Path, metavar="FILE", help="the figures of another commit, to stand beside")
    options = asked.parse_args(arguments)
    before = json.loads(options.before.read_text())["figures"] if options.before else {}
    found = rows(options.only or (QUICK | LONG if options.long else QUICK))
    machine = {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "seconds for 1,000,000 timeouts of one process": round(clock.million_timeouts(), 2),
    }
    shown = f"{page(found, before)}\n\n{', '.join(f'{what}: {value}' for what, value in machine.items())}."
    print(shown)
    if options.into:
        paste(options.into, "performance", shown)
    if options.json:
        figures = {row.what: row.found for row in found}
        options.json.write_text(json.dumps({**machine, "figures": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
