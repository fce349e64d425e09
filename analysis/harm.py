"""What repeated and missing data cost: effective tokens and predicted loss, with what the law leaves out beside them.

The law is that of Muennighoff et al. (arXiv 2305.16264): of D tokens, U of them unique, R = D / U - 1 repeats are worth

    D' = U + U R* (1 - exp(-R / R*))        R* = 15.39

fresh tokens, and likewise for parameters beyond those that U tokens call for; the loss is E + A / N'^a + B / D'^b. The
law knows how often the data was repeated on average. So the wasted compute, the samples that were never seen and how
many were seen how often stand beside it, always.

`python -m analysis.harm DIR` prints the harm of what `clustersim run --out`, `sweep --out` and the like left.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from analysis.axes import by_count, count
from analysis.labels import labels
from analysis.output import as_text, draw, refuse, say
from analysis.spread import mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The fit of the paper: logarithms of A, B and E, exponents of parameters and of tokens, and how fast repeats wear out.
_A, _B, _E = math.exp(6.255414), math.exp(7.3049974), math.exp(0.6254804)
_ALPHA = _BETA = 0.3526596
_TOKENS_WEAR, _PARAMETERS_WEAR = 15.387756, 5.309743
# The largest of its runs.
_MOST_PARAMETERS, _MOST_TOKENS = 9e9, 900e9
# Seen so many times as often as the plan's samples are on average, a sample is no part of an even repetition.
_FAR_MORE = 10
# The numbers of times that are printed together.
_TIMES = (0, 1, 2, 3, 4, 5, 10, 30, 100)
# The figures that are printed.
_PRINTED = ("effective_tokens_lost", "loss_added", "wasted_compute_share", "never_seen_share", "most_seen")

LIMITS = (
    "The law repeats the data evenly: every sample as often as any other. A few samples that come again and again do "
    "more harm than it says: 0.1 % of the data repeated 100 times cost a model of 800 M parameters half of its size "
    "(Hernandez et al., arXiv 2205.10487).",
    "It counts unique tokens, not which: a corpus, a language or the newest documents may be what is missing.",
    "It predicts the loss on unseen text, and neither memorised text nor the order in which data came.",
)
"""What the law does not know, in words."""


class Stored(NamedTuple):
    """What this analysis reads of a run or a study; both tables have the columns point and replication."""

    ledger: pd.DataFrame
    """planned, seen, samples: how many samples were planned and seen how often."""
    figures: pd.DataFrame
    """steps, rolled_back_steps, lineage_views, step_s, feed_tokens_per_s; one row a replication."""
    name: str
    """Of the scenario."""
    points: list[str]
    """What each point sets; a single empty text for a run."""
    parameters: float | None
    """Of the model, None if the scenario does not say."""


def effective_tokens(tokens: float, unique: float) -> float:
    """What so many tokens are worth in fresh ones, so many of them being unique."""
    return _worth(unique, tokens, _TOKENS_WEAR)


def loss(parameters: float, tokens: float, unique: float) -> float:
    """The predicted loss in nats a token of a model after so many tokens, of which so many are unique.

    Parameters beyond the best number for the unique tokens wear out as repeats do.
    """
    # The number of parameters for which so many fresh tokens are the best use of compute: both grow by powers of it.
    base: float = (_ALPHA * _A / (_BETA * _B)) ** (1 / (_ALPHA + _BETA))
    best: float = base * (unique * base) ** (_BETA / _ALPHA)
    worth = _worth(min(parameters, best), parameters, _PARAMETERS_WEAR)
    found: float = _E + _A / worth**_ALPHA + _B / effective_tokens(tokens, unique) ** _BETA
    return found


def _worth(unique: float, number: float, wear: float) -> float:
    repeats = max(number / unique - 1, 0)
    return unique + unique * wear * -math.expm1(-repeats / wear)


def load(directory: Path) -> Stored:
    """Read what a run or a study left in a directory.

    Raises:
        OSError: it holds neither.
    """
    study = directory / "study.json"
    if study.exists():
        manifest = json.loads(study.read_text("utf-8"))
        scenario = manifest["scenario"]
        points = labels(manifest)
        ledger, figures = (pd.read_parquet(directory / f"{name}.parquet") for name in ("ledger", "table"))
    else:
        scenario = json.loads((directory / "run.json").read_text("utf-8"))["provenance"]["scenario"]
        ledger, figures = (pd.read_parquet(directory / name).assign(point=0) for name in ("ledger", "summary"))
        points = [""]
    return Stored(ledger, figures, scenario["name"], points, scenario["model"].get("parameters"))


def harm(stored: Stored, parameters: float | None = None) -> pd.DataFrame:
    """One row a point and replication: what the lineage is worth beside its plan.

    Columns: point, replication; for the plan (planned_) and the final model (seen_) tokens, unique_tokens,
    effective_tokens and, if the number of parameters is known, loss; effective_tokens_lost and loss_added, plan against
    model; wasted_compute_share, steps rolled back of all steps trained; never_seen_samples and never_seen_share of
    those planned; most_seen, how often the most seen sample was; and far_more_samples, seen ten times as often as the
    plan's samples on average, or more.

    Args:
        stored: the tables.
        parameters: of the model, instead of the scenario's.

    Raises:
        ValueError: the scenario does not say how many tokens a sample has, or no step was done.
    """
    known = stored.parameters if parameters is None else parameters
    ledgers = dict(iter(stored.ledger.groupby(["point", "replication"])))
    rows = []
    for _, run in stored.figures.iterrows():
        key = run["point"], run["replication"]
        tokens = (run["feed_tokens_per_s"] or math.nan) * run["step_s"] * run["steps"] / max(1, run["lineage_views"])
        if not tokens > 0:
            expected = "runs with steps and tokens a sample (model.sequence_length or data.tokens_per_document)"
            raise ValueError(f"expected {expected}, found none in replication {key[1]} of point {key[0]}")
        row = {"point": key[0], "replication": key[1]}
        for side in ("planned", "seen"):
            row |= _worth_of(side, ledgers[key], tokens, known)
        row["effective_tokens_lost"] = row["planned_effective_tokens"] - row["seen_effective_tokens"]
        if known is not None:
            row["loss_added"] = row["seen_loss"] - row["planned_loss"]
        rows.append(row | _beside(ledgers[key], run))
    return pd.DataFrame(rows)


def _worth_of(side: str, ledger: pd.DataFrame, tokens: float, parameters: float | None) -> dict[str, float]:
    """The figures of the plan or of the final model, by the views of a ledger."""
    views = float((ledger[side] * ledger["samples"]).sum()) * tokens
    unique = float(ledger.loc[ledger[side] > 0, "samples"].sum()) * tokens
    found = {
        f"{side}_tokens": views,
        f"{side}_unique_tokens": unique,
        f"{side}_effective_tokens": effective_tokens(views, unique),
    }
    return found if parameters is None else {**found, f"{side}_loss": loss(parameters, views, unique)}


def _beside(ledger: pd.DataFrame, run: pd.Series[Any]) -> dict[str, float]:
    """What the law does not know."""
    planned, seen, samples = (ledger[name] for name in ("planned", "seen", "samples"))
    never = int(samples[(planned > 0) & (seen == 0)].sum())
    average = (planned * samples).sum() / samples[planned > 0].sum()
    return {
        "wasted_compute_share": run["rolled_back_steps"] / (run["steps"] + run["rolled_back_steps"]),
        "never_seen_samples": never,
        "never_seen_share": never / samples[planned > 0].sum(),
        "most_seen": int(seen[samples > 0].max()),
        "far_more_samples": int(samples[seen >= _FAR_MORE * average].sum()),
    }


def concentration(stored: Stored) -> pd.DataFrame:
    """One row a point and number of times: point, times, planned_samples and seen_samples, means over replications."""
    replications = stored.figures.groupby("point")["replication"].nunique()
    sides = [
        stored.ledger.groupby(["point", side])["samples"]
        .sum()
        .rename_axis(["point", "times"])
        .rename(f"{side}_samples")
        for side in ("planned", "seen")
    ]
    found = pd.concat(sides, axis=1).fillna(0.0).sort_index().reset_index()
    per_run = found["point"].map(replications)
    return found.assign(
        planned_samples=found["planned_samples"] / per_run, seen_samples=found["seen_samples"] / per_run
    )


def binned(stored: Stored) -> pd.DataFrame:
    """`concentration` with 6 to 10 times, 11 to 30 and so forth taken together; times is a text."""
    found = concentration(stored)
    edges = np.searchsorted(_TIMES, found["times"])
    words = [
        str(high) if high == low + 1 else f"{low + 1}-{high}" for low, high in zip((-1, *_TIMES), _TIMES, strict=False)
    ]
    times = np.array([*words, f">{_TIMES[-1]}"])
    summed = (
        found.drop(columns="times")
        .groupby([found["point"].rename("of"), edges], sort=False)
        .agg({"point": "first", "planned_samples": "sum", "seen_samples": "sum"})
    )
    summed.insert(1, "times", times[summed.index.get_level_values(1)])
    return summed.reset_index(drop=True)


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a point: the mean over replications of each figure of `harm`, with its _ci95_low and _ci95_high."""
    found = []
    for point, runs in rows.groupby("point"):
        row: dict[str, object] = {"point": point}
        for name in rows.columns.drop(["point", "replication"]):
            figure, low, high = mean(runs[name].to_numpy(np.float64))
            row |= {name: figure, f"{name}_ci95_low": low, f"{name}_ci95_high": high}
        found.append(row)
    return pd.DataFrame(found)


def _printed(stored: Stored, rows: pd.DataFrame) -> str:
    """The summary for people: a line a point, means and half of their intervals."""
    found = summary(rows)
    shown = pd.DataFrame({"point": [stored.points[point] for point in found["point"]]})
    for name in _PRINTED:
        if name in found:
            half = (found[f"{name}_ci95_high"] - found[f"{name}_ci95_low"]) / 2
            shown[name] = [f"{each:,.4g} ± {part:,.2g}" for each, part in zip(found[name], half, strict=True)]
    return shown.to_string(index=False)


def limits(stored: Stored, rows: pd.DataFrame, parameters: float | None = None) -> list[str]:
    """What the law does not know, and where these runs lie outside of what it was fitted to; a sentence or two each."""
    said = list(LIMITS)
    known = stored.parameters if parameters is None else parameters
    most = rows["seen_tokens"].max()
    if (known or 0) > _MOST_PARAMETERS or most > _MOST_TOKENS:
        size = "" if known is None else f"{count(known)} parameters and "
        fitted = f"{count(_MOST_PARAMETERS)} parameters and {count(_MOST_TOKENS)} tokens"
        said.append(f"It was fitted up to {fitted}; {size}{count(float(f'{most:.3g}'))} tokens lie beyond.")
    if known is None:
        said.append("Without the number of parameters (model.parameters, or --parameters) there is no loss.")
    if rows["far_more_samples"].any():
        most_seen = count(rows["most_seen"].max())
        far = f"{_FAR_MORE} times as often as planned on average, and more"
        said.append(f"Here samples were seen {far}, up to {most_seen} times: it says too little.")
    return said


def figure(stored: Stored, title: str) -> Figure:
    """Draw how many samples were planned and seen how often, a line a point."""
    from matplotlib.figure import Figure as Drawn

    drawn = Drawn(figsize=(8, 4.8), layout="constrained", dpi=110)
    axes = drawn.add_subplot()
    found = concentration(stored)
    for _, rows in found.groupby("point"):
        label = f"seen, {stored.points[rows['point'].iloc[0]]}".removesuffix(", ").replace("$", r"\$")
        axes.plot(rows["times"], rows["seen_samples"].replace(0, np.nan), "-", marker=".", label=label)
    first = found[found["point"] == found["point"].min()]
    axes.plot(first["times"], first["planned_samples"].replace(0, np.nan), "ks--", fillstyle="none", label="planned")
    axes.set(xlabel="times that the final model saw a sample", ylabel="samples, mean of a run", yscale="log")
    by_count(axes.yaxis)
    ticks = [tick for tick in (0, 1, 2, 3, 5, 10, 30, 100, 300, 1000, 10_000) if tick <= found["times"].max()]
    axes.set_xscale("symlog", linthresh=5)  # even up to 5, then by factors
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.set_xlim(left=-0.3)
    axes.legend(frameon=False)
    # What a scenario says is shown as it is: a dollar sign begins no formula.
    axes.set_title(f"{title}: how many samples were seen how often".replace("$", r"\$"))
    return drawn


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the harm of a stored run or study, what stands beside the law, and its limits; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m analysis.harm", description=__doc__.partition("\n")[0])
    parser.add_argument("directory", type=Path, metavar="DIR", help="what a run or a study left (--out)")
    parser.add_argument(
        "--parameters", type=float, metavar="N", help="of the model, as in 8e9 (default: the scenario's)"
    )
    parser.add_argument("--picture", type=Path, metavar="FILE", help="also draw how many samples were seen how often")
    options = parser.parse_args(arguments)
    try:
        stored = load(options.directory)
        rows = harm(stored, options.parameters)
    except (OSError, ValueError) as error:
        return refuse(options.directory, "clustersim run --out", error)
    times = as_text(binned(stored))
    known = "\n".join(f"- {line}" for line in limits(stored, rows, options.parameters))
    code = say(_printed(stored, rows), times, known)
    return code if options.picture is None else code or draw(lambda: figure(stored, stored.name), options.picture)


if __name__ == "__main__":
    sys.exit(main())
