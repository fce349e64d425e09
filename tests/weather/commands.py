"""Every command that writes, small; and what may lie where it has written when something came between."""

import json
from pathlib import Path

import pandas as pd

from clustersim.cli.main import main

RESTARTS = "step_reached,step_restarted_from\n100,90\n500,400\n900,\n"
STUDY = ["--replications", "3", "--workers", "1", "--out", "out"]
BY_STEPS = ["--set", "run.wall_time=", "--set", "run.steps=40000"]
RESUMED = {
    "sweep": ["sweep", "small", "--vary", "loader.preset=restore,epoch", *STUDY],
    "intervals": ["intervals", "small", *STUDY],
    "capacity": ["capacity", "small", "--by", "16 d", "--spares", "1,2", *BY_STEPS, *STUDY],
    "loaders": ["loaders", "small", "--presets", "restore,epoch", *STUDY],
}
"""Those that `--resume` goes on with."""

COMMANDS = RESUMED | {
    "run": ["run", "small", "--replications", "3", "--out", "out"],
    "replay": ["replay", "restarts.csv", "small", "--loader", "restore,epoch", "--out", "out"],
    "report": ["report", "stored", "--out", "page.html"],
    "workshop": ["workshop", "--out", "picture.png"],
}


def prepare() -> None:
    """Make what the commands read, in the current directory: restarts to replay, and a stored run to report."""
    Path("restarts.csv").write_text(RESTARTS)
    assert main(["run", "small", "--out", "stored"]) == 0


def check_files(folder: Path) -> None:
    """What is there under a name that is read is whole."""
    for path in folder.rglob("*"):
        if path.name.startswith(".") or path.is_dir():
            continue
        if path.suffix == ".parquet":
            pd.read_parquet(path)
        elif path.suffix == ".json":
            json.loads(path.read_text())
        elif path.suffix == ".html":
            assert path.read_text().rstrip().endswith("</html>")
        elif path.suffix == ".png":
            assert path.read_bytes().endswith(b"IEND\xaeB`\x82")
