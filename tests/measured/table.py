"""The measured rows: real loaders, crashed and restarted, and the ids that the final model saw.

`rows.csv` holds one row for each run of a real library. N samples in `shards` shards, global batch B, E epochs.
`attempts` are the lives of the job, `ranks@checkpoint/crash`, in steps: each next one restarts from that checkpoint.
For both endings (E: the loop runs to the end of epoch E; T: E N / B steps) the extra and missing views against E views
of every sample, and the histogram `times seen:samples`. `error` says how a run failed or was refused.
`labels.csv` says of each row and ending whether it is deterministic; see `label.py` for the rule.

    python tests/measured/table.py MEASUREMENTS.json      writes rows.csv from the file that the harness left
"""

import csv
import json
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
ENDINGS = ("E", "T")
REASONS = {
    "refusal": "whether it comes back is decided by the layouts and the position alone",
    "whole": "every epoch is read once and whole, in whatever order",
    "places": "what is read twice or never is a number of places in one order, or whole shards of one order",
    "replacement": "shards are drawn with replacement",
    "buffer": "which samples a shuffle buffer holds is drawn",
    "fresh order": "two independent orders of one epoch overlap by chance",
    "layout's order": "inside a shard the order is another one for another layout",
    "two epochs": "what one epoch repeats or loses and what another pads or has cut off overlap by chance",
}
FIELDS = ["row", "loader", "version", "config", "N", "shards", "B", "E", "scenario", "attempts", "error"]
COUNTED = [f"{ending}_{what}" for ending in ENDINGS for what in ("extra", "missing", "histogram")]


@dataclass(frozen=True)
class Row:
    """One run of a real library; `histograms` is empty where it failed."""

    row: int
    loader: str
    version: str
    config: str
    samples: int
    shards: int
    batch: int
    epochs: int
    scenario: str
    attempts: tuple
    error: str
    histograms: dict

    @property
    def steps(self):
        return self.epochs * self.samples // self.batch

    def damage(self, ending):
        return damage(self.histograms[ending], self.epochs)

    @property
    def kind(self):
        """What a label is given to: the variant, the sizes and what happened."""
        return self.loader, self.version, self.config, self.scenario


def damage(histogram, epochs):
    """Extra and missing views against `epochs` views of every sample, and the samples that were never seen."""
    extra = sum(count * max(0, seen - epochs) for seen, count in histogram.items())
    missing = sum(count * max(0, epochs - seen) for seen, count in histogram.items())
    return extra, missing, histogram.get(0, 0)


def _attempt(text):
    ranks, _, rest = text.partition("@")
    checkpoint, _, crash = rest.partition("/")
    return int(ranks), int(checkpoint) if checkpoint else None, int(crash) if crash else None


def _histogram(text):
    return {int(seen): int(count) for seen, count in (pair.split(":") for pair in text.split())}


def rows():
    """All measured rows, in order."""
    with (HERE / "rows.csv").open(newline="") as file:
        return [
            Row(
                int(line["row"]),
                line["loader"],
                line["version"],
                line["config"],
                int(line["N"]),
                int(line["shards"]),
                int(line["B"]),
                int(line["E"]),
                line["scenario"],
                tuple(_attempt(text) for text in line["attempts"].split()),
                line["error"],
                {} if line["error"] else {ending: _histogram(line[f"{ending}_histogram"]) for ending in ENDINGS},
            )
            for line in csv.DictReader(file)
        ]


@cache
def labels():
    """(kind of a row, ending) -> (label, reason)."""
    found = {}
    with (HERE / "labels.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            for scenario in line["scenarios"].split():
                kind = line["loader"], line["version"], line["config"], scenario
                found[kind, line["ending"]] = line["label"], line["reason"]
    return found


def write_rows(measurements):
    """Write `rows.csv` from the file of measurements (JSON)."""
    with (HERE / "rows.csv").open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(FIELDS + COUNTED)
        for number, one in enumerate(json.loads(Path(measurements).read_text())["results"]):
            config = one["config"]
            attempts = " ".join(
                str(a["ranks"]) + (f"@{a['ckpt_step']}/{a['crash_step']}" if a["ckpt_step"] is not None else "")
                for a in one["attempts"]
            )
            counted = []
            for key in ("run_to_E_epochs", "run_to_T_steps"):
                result = one.get(key)
                seen = sorted(result["hist"].items(), key=lambda pair: int(pair[0])) if result else []
                counted += [result["extra"], result["missing"]] if result else ["", ""]
                counted.append(" ".join(f"{times}:{count}" for times, count in seen))
            sizes = [config[k] for k in ("name", "N", "shards", "B", "E")]
            out.writerow(
                [number, one["loader"], one["version"], *sizes, one["scenario"], attempts, one["error"] or "", *counted]
            )


if __name__ == "__main__":
    write_rows(sys.argv[1])
