"""What goes out: answers to stdout, one line for whatever went wrong to stderr."""

import json
import os
import sys


def emit(text: str) -> None:
    """Print an answer. A reader that has gone away is no error: what is left has nobody to read it."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # Python flushes stdout once more when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def emit_json(value: object) -> None:
    """Print one JSON object. Raises ValueError for NaN, which JSON does not know."""
    emit(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def complain(line: str) -> None:
    """Say on stderr, in one line, what went wrong."""
    print(line, file=sys.stderr, flush=True)
