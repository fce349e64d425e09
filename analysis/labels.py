"""What the points of a stored study are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def labels(manifest: Mapping[str, Any]) -> list[str]:
    """What each point sets, without the tables of its keys: "every 5 min, spares 2".

    Args:
        manifest: of the study (study.json).
    """
    points = manifest["design"]["points"]
    return [", ".join(f"{key.rpartition('.')[2]} {value}" for key, value in point.items()) for point in points]
