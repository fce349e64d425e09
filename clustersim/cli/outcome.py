"""Runs that did not come to their end: the line that says when and why, and the exit code."""

from clustersim.cli.words import duration
from clustersim.history import Outcome

UNFINISHED = 1
"""The exit code: the simulation could not finish, and what was finished is kept."""

_OUTCOMES: dict[Outcome, str] = {
    "done": "done",
    "starved": "starved",
    "limit": "was given up",
    "no progress": "got nowhere",
}


def how_it_ended(outcome: Outcome, reason: str, wall_ns: int) -> str:
    """When and why, in one line."""
    return f"{_OUTCOMES[outcome]} after {duration(wall_ns / 1e9)}: {reason}"
