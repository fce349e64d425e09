"""`clustersim run`: one scenario, one or many replications."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clustersim.cli.options import JsonOption, ScenarioArgument, SeedOption, SetOption, load
from clustersim.cli.outcome import UNFINISHED, unfinished
from clustersim.cli.output import complain, could_not_write, emit, emit_page
from clustersim.cli.progress import progress_bar
from clustersim.cli.stopping import stopped_by
from clustersim.cli.usage import path_to, whole_number

if TYPE_CHECKING:
    from clustersim.study.result import Result
    from clustersim.study.store import Store


def run(
    scenario: ScenarioArgument,
    overrides: SetOption = None,
    replications: Annotated[
        int,
        typer.Option(parser=whole_number(1), metavar="N", help="How many runs, each with its own failures."),
    ] = 1,
    seed: SeedOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=path_to("a directory's name"),
            metavar="DIR",
            help="Store all tables as Parquet, run.json, and trace.json for ui.perfetto.dev in a new directory.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Simulate a scenario, and count which data the final model saw."""
    from clustersim.study.result import Result

    loaded = load(scenario, overrides)
    result = Result(loaded, loaded.run.seed if seed is None else seed)
    store = None if out is None else _store(out, result, replications)
    problems = _gather(result, replications, store)
    if result.replications:
        text = result.text()
        if store is not None:
            problems += _finish(store, text)
        if json:
            emit(text)
        else:
            from clustersim.cli.run_page import run_page

            emit_page(*run_page(result))
    problems += unfinished(result)
    for problem in problems:
        complain(problem)
    if problems:
        raise typer.Exit(UNFINISHED)


def _store(out: Path, result: Result, replications: int) -> Store:
    from clustersim.study.provenance import provenance
    from clustersim.study.store import DirectoryRefused, Store, check_storable

    check_storable(result.scenario)
    try:
        return Store(out, provenance(result.scenario, result.seed, replications))
    except DirectoryRefused as error:
        raise typer.BadParameter(str(error), param_hint="--out") from None


def _gather(result: Result, replications: int, store: Store | None) -> list[str]:
    """Simulate one replication after the other, each stored as soon as it is done; what stopped it early, if any."""
    from clustersim.study.runs import runs

    try:
        with progress_bar(replications) as progress:
            for finished in runs(result.scenario, replications, result.seed, progress):
                if store is not None:
                    store.add(finished)
                result.add(finished)
    except KeyboardInterrupt as error:
        done = result.replications
        if done:
            kept = "done" if store is None else "done and kept"
            return [f"{stopped_by(error)}; {_many(done, replications)} {kept}"]
        return [f"{stopped_by(error)} before {'the run' if replications == 1 else 'a replication'} was done"]
    except OSError as error:
        return [f"{could_not_write(error)}; {_many(result.replications, replications)} kept"]
    return []


def _many(done: int, replications: int) -> str:
    if not done:
        return "nothing is"
    return f"{done} of {replications} replications {'is' if done == 1 else 'are'}"


def _finish(store: Store, text: str) -> list[str]:
    try:
        store.finish(text)
    except OSError as error:
        return [f"{could_not_write(error)}; the tables are kept"]
    return []
