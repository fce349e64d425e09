"""`clustersim intervals`: checkpoint intervals over the same failures, beside Young's and Daly's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from clustersim.cli.comparison import (
    EngineOption,
    OutOption,
    ResumeOption,
    SchedulerOption,
    WorkersOption,
    under_way,
)
from clustersim.cli.options import JsonOption, ScenarioArgument, SeedOption, SetOption, load
from clustersim.cli.outcome import UNFINISHED
from clustersim.cli.output import complain, emit_json, emit_page, table
from clustersim.cli.picture import drawable, write_picture
from clustersim.cli.usage import whole_number
from clustersim.cli.words import count, duration, plural, share

if TYPE_CHECKING:
    from rich.console import RenderableType

    from clustersim.study.intervals import Best, Intervals


def intervals(
    scenario: ScenarioArgument,
    every: Annotated[
        str | None,
        typer.Option(metavar="A,B,C", help='Intervals, as in "2 min,5 min,100 steps".  [default: 9 around Young\'s]'),
    ] = None,
    loaders: Annotated[
        str, typer.Option(metavar="A,B", help="Presets whose damage is counted.")
    ] = "restore,epoch,reshuffle,no-rewind",
    replications: Annotated[
        int, typer.Option(parser=whole_number(2), metavar="N", help="How many runs of each interval and loader.")
    ] = 20,
    out: OutOption = None,
    resume: ResumeOption = False,
    engine: EngineOption = "local",
    workers: WorkersOption = None,
    scheduler: SchedulerOption = None,
    overrides: SetOption = None,
    seed: SeedOption = None,
    json: JsonOption = False,
) -> None:
    """Compare checkpoint intervals over the same failures."""
    from clustersim.study.intervals import around
    from clustersim.study.intervals import intervals as compare

    loaded = load(scenario, overrides)
    presets = _listed(loaders)
    try:
        lengths = around(loaded) if every is None else _listed(every)
    except ValueError as error:
        raise typer.BadParameter(str(error).removeprefix("every: "), param_hint="--every") from None
    with under_way(len(lengths) * len(presets) * replications, out) as tell:
        found = compare(
            loaded,
            lengths,
            presets,
            replications,
            seed=seed,
            engine=engine,
            workers=workers,
            scheduler=scheduler,
            out=out,
            resume=resume,
            progress=tell,
        )
    if out is not None and drawable():
        from analysis.intervals import PICTURE, figure

        write_picture(figure(found.table, found.marks, loaded.name), out / PICTURE)
    if json:
        emit_json(_as_json(found, loaded.name))
    else:
        emit_page(*_page(found, loaded.name, presets, replications))
    unfinished = int(found.table["unfinished"].sum())
    if unfinished:
        complain(f"{unfinished} of {len(found.study.table)} runs did not finish")
        raise typer.Exit(UNFINISHED)


def _listed(text: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in text.split(",")))


def _page(found: Intervals, name: str, presets: list[str], replications: int) -> list[RenderableType]:
    shown = table("every", "training", "ETTR", "rolled back", *presets)
    for row in found.table.to_dict("records"):
        shown.add_row(
            row["interval"],
            duration(row["interval_s"]),
            _with_half(row, "ettr"),
            count(row["rolled_back_steps"]),
            *(_with_half(row, f"damage_{preset}") for preset in presets),
        )
    seed = found.study.manifest["seed"]
    return [
        f"{name} (seed {seed}, {plural(len(found.table), 'interval')}, {plural(replications, 'replication')} each)",
        "",
        answer(found),
        "",
        shown,
        "",
        "Means ± half of their 95 % intervals; every interval met the same failures. Rolled back: steps. Under each",
        "loader: its extra and missing views together, for each planned view.",
    ]


def _with_half(row: dict[Any, Any], figure: str) -> str:
    """A share, and half of its 95 % interval where it varies, in per cent."""
    half = (row[f"{figure}_ci95_high"] - row[f"{figure}_ci95_low"]) / 2
    return share(row[figure]) + (f" ± {100 * half:.2g}" if half else "")


_DALY = "Daly's"


def answer(found: Intervals) -> str:
    """The best interval in a sentence, by how much it differs from the formulas, and what of that the rate explains."""
    best, low, high = found.best
    lengths = found.table["interval_s"]
    told = f"Best interval by simulation: {duration(best)} (95 %: {duration(low)} to {duration(high)})"
    if best in (lengths.min(), lengths.max()):
        told += f", the {'shortest' if best == lengths.min() else 'longest'} that was tried"
    formulas = {"Young's": found.young_s, _DALY: found.daly_s}
    told += "".join(f"; {_beside(found.best, whose, at)}" for whose, at in formulas.items() if at is not None) + "."
    differs = found.daly_s is not None and not low <= found.daly_s <= high
    if differs and found.mtbf_s and found.met_mtbf_s and found.daly_met_s:
        met = f"The runs were interrupted every {duration(found.met_mtbf_s)}, where the formulas take "
        told += f" {met}{duration(found.mtbf_s)}; by that {_beside(found.best, _DALY, found.daly_met_s)}."
    return told


def _beside(best: Best, whose: str, at: float) -> str:
    """How much longer or shorter the best interval is than one by formula, with the 95 % interval of that."""
    by, low, high = (seconds / at - 1 for seconds in best)
    if low <= 0 <= high:
        return f"{whose} {duration(at)} agrees ({_longer(low)} to {_longer(high)})"
    near, far = sorted((abs(low), abs(high)))
    return f"it is {_longer(by)} than {whose} {duration(at)} (95 %: {share(near)} to {share(far)})"


def _longer(by: float) -> str:
    return f"{share(abs(by))} {'longer' if by > 0 else 'shorter'}"


def _as_json(found: Intervals, name: str) -> dict[str, Any]:
    return {
        "scenario": name,
        **found.marks,
        "intervals": found.table.to_dict("records"),
        "provenance": dict(found.study.manifest),
    }
