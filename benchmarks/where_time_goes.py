"""Where the time of a Llama run goes, stage by stage and room by room: `python benchmarks/where_time_goes.py`.

`--into docs/performance.md` puts it where it stands there.
"""

import argparse
import cProfile
import pstats
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from measures.clock import LLAMA, events_and_failures, run_clock, with_damage, with_tables
from measures.timing import medians_s
from pasted import paste

import clustersim
from clustersim import simulate

_HOME = Path(clustersim.__file__).parent
_LIBRARIES = ("simpy", "numpy", "pandas", "pyarrow", "pydantic")
_PROFILED = 5


def stages() -> list[tuple[str, float]]:
    """Each stage of a run and its seconds, the median of several runs."""
    clock, followed, summed, tables, whole = medians_s(
        run_clock(LLAMA), lambda: simulate(LLAMA), lambda: simulate(LLAMA).summary(), with_tables, with_damage
    )
    return [
        ("the clock: failures, repairs, legs, saves", clock),
        ("what the legs read: the loader is followed over them", followed - clock),
        ("the account and the summary", summed - followed),
        ("ledger, legs, events, checkpoints, time as tables", tables - summed),
        ("the table of damage: a count at each restart", whole - tables),
    ]


def rooms() -> list[tuple[str, float]]:
    """The rooms and libraries that a run and its tables take time in, and the share of each, the largest first."""
    with_damage()  # imports what it takes
    profiled = cProfile.Profile()
    profiled.enable()
    for _ in range(_PROFILED):
        with_damage()
    profiled.disable()
    spent: Counter[str] = Counter()
    for (file, _, _), (_, _, own, _, callers) in pstats.Stats(profiled).stats.items():  # type: ignore[attr-defined]
        if file == "~":  # what is built in counts where it is called
            for (caller, _, _), (_, _, own_there, _) in callers.items():
                spent[_room(caller)] += own_there
        else:
            spent[_room(file)] += own
    return [(room, own / spent.total()) for room, own in spent.most_common()]


def _room(file: str) -> str:
    path = Path(file)
    if path.is_relative_to(_HOME):
        first, *others = path.relative_to(_HOME).parts
        return f"`{first}/`" if others else f"`{first}`"
    return next((library for library in _LIBRARIES if library in path.parts), "Python's own library")


def page(of_stages: Sequence[tuple[str, float]], of_rooms: Sequence[tuple[str, float]]) -> str:
    """Both in Markdown; rooms below one per cent go without saying."""
    events, failures = events_and_failures(LLAMA)
    whole = sum(seconds for _, seconds in of_stages)
    lines = ["| stage | ms | share |", "|---|---|---|"]
    lines += [f"| {stage} | {1e3 * seconds:.1f} | {seconds / whole:.0%} |" for stage, seconds in of_stages]
    lines += ["", f"The clock has {failures} failures and {events:,} events in it.", ""]
    lines += ["| room or library | share |", "|---|---|"]
    lines += [f"| {room} | {share:.0%} |" for room, share in of_rooms if share >= 0.01]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--into", type=Path, metavar="PAGE", help="put it into a page that has a place for it")
    options = asked.parse_args(arguments)
    shown = page(stages(), rooms())
    print(shown)
    if options.into:
        paste(options.into, "profile", shown)


if __name__ == "__main__":
    main()
