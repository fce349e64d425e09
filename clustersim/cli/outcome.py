"""Runs that did not come to their end: the words that say when and why, and the exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clustersim.cli.words import duration

if TYPE_CHECKING:
    from clustersim.history import Outcome
    from clustersim.study.result import Result

UNFINISHED = 1
"""The exit code: the simulation could not finish, or its answer could not be written; what was finished is kept."""

_OUTCOMES: dict[Outcome, str] = {
    "done": "done",
    "starved": "starved",
    "limit": "was given up",
    "refused": "was refused by its loader",
    "no progress": "got nowhere",
}


def how_it_ended(outcome: Outcome, reason: str, wall_ns: int) -> str:
    """When and why, in one line."""
    return f"{_OUTCOMES[outcome]} after {duration(wall_ns / 1e9)}: {reason}"


def unfinished(result: Result) -> list[str]:
    """When and why the run did not come to its end, or how many of several did not and the first of them."""
    if not result.unfinished:
        return []
    first = result.unfinished[0]
    line = how_it_ended(first.outcome, first.reason, first.wall_ns)
    if result.replications == 1:
        return [line]
    many = f"{len(result.unfinished)} of {result.replications} replications did not finish"
    return [f"{many}; replication {first.replication} {line}"]
