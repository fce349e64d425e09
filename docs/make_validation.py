"""Writes docs/validation.md: published figures, ours beside each.

python docs/make_validation.py [DIR]     (DIR: where the traces are)
"""

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from clustersim.cli.validate import HEADS, cells
from clustersim.study.validate import QUICK_REPLICATIONS, REPLICATIONS, validate
from clustersim.study.validate_rows import ROWS

PAGE = Path(__file__).parent / "validation.md"

INTRODUCTION = f"""\
# Validation

<!-- Written by docs/make_validation.py. -->

Published figures, and what clustersim makes of the published inputs. `clustersim validate` simulates them again, each
from a file of [`scenarios/validation`](../scenarios/validation) with {REPLICATIONS} replications, in about a minute on
two cores. It exits with 1 if a figure that it claims is off. Some rows of it, with {QUICK_REPLICATIONS} replications:

```bash
clustersim validate --quick --only V2,V11
```
"""

HOW = """\
## How a row is decided

*Ours* is the mean over replications ± its standard error. *Expected* is what it is compared with: many printed figures
are roundings of a closed form, or one draw of what a program gives; then it is that form, computed from the published
inputs, or the pooled mean ± its standard error.

- **z ... within ±3**: ours less what is expected, over the root of both squared errors. By chance a sound row falls
  outside in one of 180 seeds with 30 replications, in one of 70 with 10; `--seed` tries others.
- **z ... ≥**: *more than* was published. Ours less that, in standard errors, is at least Student's one-sided 95 %
  quantile: the lower 95 % bound of ours lies above it.
- **every digit**: a trace is replayed and nothing is random; ours rounds to what was printed.

`--json` has the same numbers unrounded; `--out DIR` stores every replication of every row, and goes on
with `--resume` where it was interrupted.

## The sources
"""

NOTES = {
    "V1": "Mean time to failure is 1 / (nodes x rate), with 6.50 failures per 1000 node-days.",
    "V2": "Printed are values of a first-order formula (0.684 and 0.932), rounded. Expected is the complete model, in "
    "which failures strike during restarts too.",
    "V3": "At Young's interval, with saves that stop the training. Printed are values of the first-order formula, "
    "which leaves out failures during saves and restarts.",
    "V4": "Wall time = M exp(R/M) (exp((interval + save)/M) - 1) useful / interval; times in minutes.",
    "V5": "Printed are the means of 30 runs, a low draw; expected is pooled with 30 more seeds of the same program "
    "(11,175.5 ± 13 failures, 9,875.7 ± 4.3 h).",
    "V6": "5,145 of 6,249 steps, where a job goes on without the replica group that is killed; the error is that of as "
    "many throws. Kills are evenly spaced, one in each step at most; random ones at this rate leave exp(-10.9 / 61.9), "
    "83.9 %.",
    "V7": "584 faults of 400 servers in 348 days, replayed. The trace does not come with clustersim: `--traces DIR` "
    "says where it is; without it the row is not run.",
    "V11": "419 unexpected and 47 planned interruptions in 54 days. Interval and restart times are not published: the "
    "scenario states its own.",
}


def page(table: pd.DataFrame) -> Iterator[str]:
    """The lines of the page."""
    yield INTRODUCTION
    yield f"| {' | '.join(HEADS)} |"
    yield "|---|---|" + "---:|" * (len(HEADS) - 3) + "---|"
    yield from (f"| {' | '.join(cells(row))} |" for row in table.to_dict("records"))
    yield ""
    yield HOW
    for row in ROWS:
        file = f"[`{row.scenario}.toml`](../scenarios/validation/{row.scenario}.toml)"
        told = f"- **{row.name}**, {row.source}. {file}: {NOTES[row.name]}"
        yield textwrap.fill(told, 120, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)


if __name__ == "__main__":
    found = validate(traces=sys.argv[1] if len(sys.argv) > 1 else None)
    PAGE.write_text("\n".join(page(found)).rstrip() + "\n", "utf-8")
