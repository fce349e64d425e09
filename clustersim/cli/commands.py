"""The commands and what each is for: a command's module is imported when it is called, not to list them all."""

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

SUMMARIES = {
    "run": "Simulate a scenario, and count which data the final model saw.",
    "sweep": "Simulate a scenario at many points over the same failures.",
    "loaders": "Compare the loader presets over the same failures.",
    "intervals": "Compare checkpoint intervals over the same failures.",
    "capacity": "Compare plans of nodes, spares and repair slots by their finish date and cost.",
    "replay": "Count which data a real run's restarts repeated or lost, under any loader.",
    "fit": "Fit laws to the times between failures and the repair times of a trace, as part of a scenario.",
    "feed": "Say whether the store feeds the job, for each access pattern.",
    "poison": "Hunt a record of death through an epoch, for each way to come back.",
    "validate": "Simulate published scenarios, and say whether ours agrees with what was published.",
    "report": "Make one HTML page of a stored result, which opens offline.",
    "workshop": "Play a run of 240 documents and one failure under three loaders.",
    "sample": "List the steps that read a sample, and which of them were kept.",
    "check": "Say what is wrong with a scenario, or what it comes to.",
    "presets": "List the loader presets, or those of storage, or explain one.",
    "schema": "Print the JSON Schema of scenario files.",
}
"""By name, in the order of the help: the docstring of the function of that name in the module of that name."""


def new_app(**settings: Any) -> typer.Typer:
    """An app that leaves completion, colours and tracebacks as they are."""
    return typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None, **settings)


class Commands(TyperGroup):
    """Lists every command by its summary alone, and imports the one that is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Name, command and the arguments that are left to it; fails in the context's way if there is no such one."""
        name, _, left = super().resolve_command(ctx, args)
        alone = new_app()
        alone.command(name)(getattr(import_module(f"clustersim.cli.{name}"), str(name)))
        return name, typer.main.get_command(alone), left


def add_commands(app: typer.Typer) -> None:
    """Give an app of the class `Commands` its list."""
    for name, summary in SUMMARIES.items():
        app.command(name, help=summary)(_listed)


def _listed() -> None:
    """Stands for a command in the list."""
