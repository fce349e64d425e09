"""What is wrong with a directory of tables that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq


def found(directory: Path, error: Exception) -> str:
    """What lies there, instead of what was expected: no such file, a damaged one, or the line of the error itself.

    Args:
        directory: that was read.
        error: what reading it raised.
    """
    if isinstance(error, FileNotFoundError):
        return f"no {error.filename or error}"  # pyarrow says the path alone
    damaged = next((path for path in sorted(directory.rglob("*")) if not _is_whole(path)), None)
    return str(error).partition("\n")[0] if damaged is None else f"{damaged}, which is damaged"


def _is_whole(path: Path) -> bool:
    """Whether a file is what its name says; of JSON and Parquet alone."""
    try:
        if path.suffix == ".json":
            json.loads(path.read_text("utf-8"))
        elif path.suffix == ".parquet":
            pq.read_table(path)
    except (OSError, ValueError):
        return False
    return True
