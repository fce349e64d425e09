"""Arguments and options that several commands take, spelled once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from clustersim.cli.usage import whole_number

if TYPE_CHECKING:
    from clustersim.scenario import Scenario

ScenarioArgument = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A scenario file, or the bare name of a shipped one.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help='Change a key, as in --set checkpoint.every="20 min"; may be repeated. A number picks from a '
        "list, as in failures.0.rate; an empty value removes the key, as in --set run.wall_time=",
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option(parser=whole_number(0, 2**63 - 1), metavar="N", help="Instead of the scenario's own seed."),
]
ReplicationOption = Annotated[
    int,
    typer.Option(parser=whole_number(0, 2**63 - 1), metavar="N", help="Number of the replication, from 0."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


def load(scenario: str, overrides: list[str] | None) -> Scenario:
    """The scenario that a command line names, with its changes; a later one of the same key wins.

    Raises:
        ScenarioError: either is wrong.
    """
    from clustersim.scenario import load_scenario, parse_override

    return load_scenario(scenario, dict(map(parse_override, overrides or ())))
