"""The generated reference of scenario files is that of the models."""

import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def test_the_reference_of_scenarios_is_that_of_the_models():
    command = [sys.executable, "-c", "import make_reference; print(make_reference.text(), end='')"]
    made = subprocess.run(command, cwd=DOCS, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert made.stdout == (DOCS / "scenario.md").read_text(), "write it anew: python docs/make_reference.py"
