"""`clustersim schema`: what a scenario file may say, for editors."""

from clustersim.cli.output import emit_json


def schema() -> None:
    """Print the JSON Schema of scenario files."""
    from clustersim.scenario import json_schema

    emit_json(json_schema())
