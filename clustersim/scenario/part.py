"""What every table of a scenario has in common."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, model_validator

from clustersim.scenario.errors import unknown_key


class Part(BaseModel):
    """A table of the scenario: frozen, and it knows all its keys. Attribute docstrings go into the JSON Schema."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _knows_every_key(cls, values: object) -> object:
        # pydantic would refuse the key too, but cannot name the nearest one.
        if isinstance(values, Mapping):
            for key in values:
                if key not in cls.model_fields:
                    raise unknown_key(key, list(cls.model_fields))
        return values
