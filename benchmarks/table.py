"""What a run costs, in one table of ratios: `python benchmarks/table.py`.

Times of a machine mean little, so each is put beside what the same machine needs for bare SimPy timeouts, in turns with
them and as a median. `--json FILE` stores every figure; `--before FILE` puts those of another commit beside them.
"""

import argparse
import json
import platform
import sys
from pathlib import Path
from typing import NamedTuple

from measures import account, clock, process, studies


class Row(NamedTuple):
    """One line of the table."""

    what: str
    found: float
    unit: str
    bar: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the figure is on the right side of its bar."""
        return self.found >= self.bar if self.at_least else self.found <= self.bar


MEASURES = {measure.__name__: measure for part in (clock, account, studies, process) for measure in part.MEASURES}


def rows(names: list[str]) -> list[Row]:
    """The rows of these measures, measured now; all of them take some minutes."""
    found: list[Row] = []
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        found += [Row(*line) for line in MEASURES[name]()]
    return found


def page(found: list[Row], before: dict[str, float]) -> str:
    """The table in Markdown."""
    with_before = " before |" if before else ""
    lines = [f"| what | found | bar | met |{with_before}", "|---|---|---|---|" + ("---|" if before else "")]
    for row in found:
        bar = f"{'at least' if row.at_least else 'at most'} {row.bar:g}{row.unit}"
        line = f"| {row.what} | {row.found:.3g}{row.unit} | {bar} | {'yes' if row.met else '**no**'} |"
        if before:
            line += f" {before[row.what]:.3g}{row.unit} |" if row.what in before else " |"
        lines.append(line)
    return "\n".join(lines)


def main() -> None:
    """Measure, print, store."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--only", nargs="+", choices=MEASURES, default=list(MEASURES), help="measure these")
    asked.add_argument("--json", type=Path, metavar="FILE", help="store the figures")
    asked.add_argument("--before", type=Path, metavar="FILE", help="the figures of another commit, to stand beside")
    options = asked.parse_args()
    before = json.loads(options.before.read_text())["figures"] if options.before else {}
    found = rows(options.only)
    print(page(found, before))
    print(
        f"\nPython {platform.python_version()}; {clock.million_timeouts():.2f} s for 1,000,000 timeouts of one process."
    )
    if options.json:
        figures = {row.what: row.found for row in found}
        options.json.write_text(json.dumps({"python": platform.python_version(), "figures": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
