"""`clustersim run`: one scenario, one or many replications."""

from typing import Annotated

import typer

from clustersim.cli.options import JsonOption, ScenarioArgument, SeedOption, SetOption, load
from clustersim.cli.output import emit_json


def run(
    scenario: ScenarioArgument,
    overrides: SetOption = None,
    replications: Annotated[int, typer.Option(min=1, help="How many runs, each with its own failures.")] = 1,
    seed: SeedOption = None,
    json: JsonOption = False,
) -> None:
    """Simulate a scenario, and count which data the final model saw."""
    from clustersim.study.replicate import replicate
    from clustersim.study.result import Result

    loaded = load(scenario, overrides)
    seed = loaded.run.seed if seed is None else seed
    result = Result(loaded, seed)
    for finished in replicate(loaded, replications, seed):
        result.add(finished)
    emit_json(result.as_json())
