"""`clustersim run`: one scenario, one or many replications."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clustersim.cli.options import JsonOption, ScenarioArgument, SeedOption, SetOption, load
from clustersim.cli.outcome import UNFINISHED, how_it_ended
from clustersim.cli.output import complain, emit, emit_page

if TYPE_CHECKING:
    from clustersim.study.result import Result
    from clustersim.study.store import Store


def run(
    scenario: ScenarioArgument,
    overrides: SetOption = None,
    replications: Annotated[int, typer.Option(min=1, help="How many runs, each with its own failures.")] = 1,
    seed: SeedOption = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Store all tables as Parquet, and run.json, in a new directory.")
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
    problems += _unfinished(result)
    for problem in problems:
        complain(problem)
    if problems:
        raise typer.Exit(UNFINISHED)


def _store(out: Path, result: Result, replications: int) -> Store:
    from clustersim.study.provenance import provenance
    from clustersim.study.store import DirectoryRefused, Store

    try:
        return Store(out, provenance(result.scenario, result.seed, replications))
    except DirectoryRefused as error:
        raise typer.BadParameter(str(error), param_hint="'--out'") from None


def _gather(result: Result, replications: int, store: Store | None) -> list[str]:
    """Simulate one replication after the other, each stored as soon as it is done; what stopped it early, if any."""
    from clustersim.study.replicate import replicate

    try:
        with _progress(replications) as advance:
            for finished in replicate(result.scenario, replications, result.seed):
                if store is not None:
                    store.add(finished)
                result.add(finished)
                advance()
    except KeyboardInterrupt:
        return [f"stopped by Ctrl-C with {result.replications} of {replications} replications done; they are kept"]
    except OSError as error:
        return [f"{_told(error)}; {result.replications} of {replications} replications are kept"]
    return []


@contextmanager
def _progress(replications: int) -> Iterator[Callable[[], object]]:
    """A bar on stderr, where that is a terminal; yields what moves it on by one replication."""
    if replications == 1 or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = ("replications", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=replications)
        yield lambda: bar.advance(task)


def _finish(store: Store, text: str) -> list[str]:
    try:
        store.finish(text)
    except OSError as error:
        return [f"{_told(error)}; the tables are kept"]
    return []


def _told(error: OSError) -> str:
    where = f" ({error.filename})" if error.filename else ""
    return f"could not write: {error.strerror or error}{where}"


def _unfinished(result: Result) -> list[str]:
    """When and why the run did not come to its end, or how many of several did not and the first of them."""
    if not result.unfinished:
        return []
    first = result.unfinished[0]
    line = how_it_ended(first.outcome, first.reason, first.wall_ns)
    if result.replications == 1:
        return [line]
    many = f"{len(result.unfinished)} of {result.replications} replications did not finish"
    return [f"{many}; replication {first.replication} {line}"]
