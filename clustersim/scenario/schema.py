"""The JSON Schema of scenario files, by which editors check and complete them.

After a change of the models write `scenarios/scenario.schema.json` anew:
`json.dumps(json_schema(), indent=2, ensure_ascii=False)` and a newline.
"""

from typing import Any

from clustersim.scenario.scenario import Scenario


def json_schema() -> dict[str, Any]:
    """The schema (draft 2020-12) of what a file may say: keys, units and choices, not how its parts fit together."""
    schema = Scenario.model_json_schema(mode="validation")
    # Loading fills these in: the name from the file's, the parts of the data loader and of the storage from presets.
    schema["required"] = [key for key in schema["required"] if key not in ("name", "loader")]
    for table in ("Loader", "Storage"):
        del schema["$defs"][table]["required"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "clustersim scenario"}
