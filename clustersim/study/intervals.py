"""How the checkpoint interval changes what a run gets done: a sweep around Young's interval, and its best."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustersim.forecast import forecast
from clustersim.scenario import Scenario, load_scenario
from clustersim.study.engines import EngineName
from clustersim.study.spread import half_width
from clustersim.study.store import write_whole
from clustersim.study.study import Study
from clustersim.study.sweep import Source, sweep
from clustersim.theory import daly

LOADERS = ("restore", "epoch", "reshuffle", "no-rewind")
"""The presets whose damage is counted unless others are named."""

TABLE = "intervals.parquet"
"""The table of intervals beside those of a stored study."""

BEST = "intervals.json"
"""And its best interval, beside those by formula."""

_AROUND = 9
# Of the fit.
_TERMS = 4
# Places on the fitted curve that are compared, a 1,000th of its length apart.
_PLACES = 1001
_RESAMPLES = 2000
_ROUNDING = 1e-12


class Best(NamedTuple):
    """The interval that the fit puts highest, and the 95 % interval of it; seconds of training between saves."""

    best_s: float
    ci95_low_s: float
    ci95_high_s: float


class Intervals(NamedTuple):
    """What checkpoint intervals come to over the same failures."""

    table: pd.DataFrame
    """One row an interval; see `intervals`."""
    best: Best
    young_s: float | None
    """By Young's formula at the scenario's mean time between interruptions; None without random failures."""
    daly_s: float | None
    """By Daly's."""
    mtbf_s: float | None
    """The mean time between interruptions that both take, of the scenario's rates in the long run."""
    met_mtbf_s: float | None
    """What it was in the first loader's runs: nodes that are new fail at other rates. None without interruptions."""
    daly_met_s: float | None
    """Daly's interval at that."""
    study: Study
    """The sweep that it rests on: for each interval, a point a loader."""

    @property
    def marks(self) -> dict[str, float | None]:
        """The best interval with its ends, those by formula and what they take; the names say which, in seconds."""
        formulas = ("young_s", "daly_s", "mtbf_s", "met_mtbf_s", "daly_met_s")
        return {**self.best._asdict(), **{name: getattr(self, name) for name in formulas}}


def intervals(
    scenario: Source,
    every: Sequence[str] | None = None,
    loaders: Sequence[str] = LOADERS,
    replications: int = 20,
    *,
    seed: int | None = None,
    engine: EngineName = "local",
    workers: int | None = None,
    scheduler: str | None = None,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    progress: Callable[[float], object] | None = None,
) -> Intervals:
    """Checkpoint intervals over the same failures: useful share of time, lost steps, and the damage of each loader.

    Intervals that are shorter than the write of a checkpoint are simulated, and left out of the fit of the best.

    The table has, shortest interval first, the columns interval (as it was asked), interval_s (whole steps of training
    between saves), ettr with ettr_ci95_low and ettr_ci95_high, rolled_back_steps (both of the first loader's runs),
    unfinished (runs, of all loaders), and damage_<loader>: extra and missing views together for each planned view, over
    all replications, with damage_<loader>_ci95_low and _ci95_high.

    Args:
        scenario: a scenario, or what `load_scenario` takes.
        every: at least four intervals, as checkpoint.every takes them; if None, nine around Young's (`around`).
        loaders: presets whose damage is counted; the first one's runs give the ETTR.
        replications: of each interval and loader, at least 2.
        seed, engine, workers, scheduler: as in `sweep`.
        out: a directory to store the study in as it goes, and in the end the table as intervals.parquet and the best
            interval as intervals.json.
        resume: go on with the study that `out` holds, if it does.
        progress: called now and then with the number of finished runs, out of intervals * loaders * replications.

    Raises:
        ScenarioError: the scenario, an interval or a preset is wrong.
        ValueError: another argument is; fewer than four different intervals can be fitted; or none is named, and
            without random failures there is no Young's interval.
        DirectoryRefused: `out` cannot be used; a ValueError.
        OSError: `out` cannot be written.
    """
    base = load_scenario(scenario)
    lengths = {text: _seconds(base, text) for text in (around(base) if every is None else every)}
    _fitted(lengths, forecast(base).write_s)  # before anything is simulated
    asked = sorted(lengths, key=lengths.__getitem__)
    points = [{"checkpoint.every": text, "loader.preset": loader} for text in asked for loader in loaders]
    study = sweep(
        base,
        points,
        replications,
        seed=seed,
        engine=engine,
        workers=workers,
        scheduler=scheduler,
        out=out,
        resume=resume,
        progress=progress,
    )
    found = of_study(study)
    if out is not None:
        write_whole(Path(out) / TABLE, found.table.to_parquet)
        write_whole(Path(out) / BEST, lambda temporary: temporary.write_text(json.dumps(found.marks, indent=2) + "\n"))
    return found


def of_study(study: Study) -> Intervals:
    """What a finished study comes to whose points cross checkpoint.every with loader.preset.

    Raises:
        ValueError: its points set other keys, or not every interval with every loader; or its intervals cannot be
            fitted, see `intervals`.
    """
    points = study.manifest["design"]["points"]
    if any(set(point) != {"checkpoint.every", "loader.preset"} for point in points):
        raise ValueError("expected a study over checkpoint.every and loader.preset, found other keys")
    every, loaders = (list(dict.fromkeys(point[key] for point in points)) for key in points[0])
    if len(points) != len(every) * len(loaders):
        raise ValueError("expected every interval with every loader, found some of them")
    base = load_scenario(study.manifest["scenario"])
    expected = forecast(base)
    lengths = {text: _seconds(base, text) for text in every}
    fitted = _fitted(lengths, expected.write_s)
    asked = sorted(lengths, key=lengths.__getitem__)
    table = pd.DataFrame([_row(study, text, lengths[text], loaders) for text in asked])
    ettr = np.array([_runs(study, text, loaders[0])["ettr"] for text in fitted], dtype=np.float64)
    best = best_interval(np.array([lengths[text] for text in fitted]), ettr)
    mean_h = expected.interruption_mean_h
    met_s = _met_s(study, loaders[0])
    return Intervals(
        table,
        best,
        expected.young_s,
        expected.daly_s,
        None if mean_h is None else 3600 * mean_h,
        met_s,
        None if met_s is None else daly(expected.save_s, met_s),
        study,
    )


def _fitted(lengths: Mapping[str, float], write_s: float) -> list[str]:
    """The intervals that the fit takes, the shortest first.

    Raises:
        ValueError: they are too few.
    """
    asked = sorted(lengths, key=lengths.__getitem__)
    # Saves that wait for the one before, or are left out, make a step in the curve: no part of a smooth fit.
    fitted = [text for text in asked if lengths[text] >= write_s]
    if len(np.unique([lengths[text] for text in fitted])) < _TERMS:
        told = f"at least {_TERMS} intervals of different lengths, no shorter than a write ({write_s:g} s)"
        raise ValueError(f"every: expected {told}, found {', '.join(asked)}")
    return fitted


def around(scenario: Scenario) -> list[str]:
    """Nine different numbers of steps, each sqrt(2) times the last, from a quarter of Young's interval on.

    Those that are shorter than the write of a checkpoint are left out, and longer ones taken.

    Raises:
        ValueError: there are no random failures.
    """
    expected = forecast(scenario)
    if expected.young_s is None:
        raise ValueError(
            "every: expected intervals, as without random failures there is no Young's interval; found none"
        )
    steps: dict[int, None] = {}
    for power in count(-4):
        number = max(1, round(expected.young_s * 2 ** (power / 2) / expected.step_s))
        if number * expected.step_s >= expected.write_s:
            steps[number] = None
        if len(steps) == _AROUND:
            break
    return [f"{number} steps" for number in steps]


def best_interval(interval_s: NDArray[np.float64], ettr: NDArray[np.float64]) -> Best:
    """The best interval by a least-squares fit of 1 / mean ETTR = a + b / interval + c interval + d interval^2.

    That is the complete model of Daly (2006), wall time over useful time, up to the cube of interval / MTBF; cut one
    term earlier it puts the best 2 to 5 % too short. The best is kept within the intervals that were simulated. Its
    95 % interval is by percentiles over resampled replications, each resampled at all intervals at once.

    Args:
        interval_s: seconds, float64[intervals], four or more different ones.
        ettr: float64[intervals, replications], of the same replications at each. Intervals at which nothing got done
            are left out.

    Raises:
        ValueError: something got done at fewer than four intervals.
    """
    alive = ettr.mean(axis=1) > 0
    if len(np.unique(interval_s[alive])) < _TERMS:
        raise ValueError(f"every: expected at least {_TERMS} intervals at which a run gets something done, found fewer")
    lengths, shares = interval_s[alive], ettr[alive]
    picks = np.random.default_rng(0).integers(shares.shape[1], size=(_RESAMPLES, shares.shape[1]))
    resampled = np.maximum(shares[:, picks].mean(axis=2), np.finfo(np.float64).tiny)
    low, high = np.percentile(_peaks(lengths, resampled), (2.5, 97.5)).tolist()
    return Best(float(_peaks(lengths, shares.mean(axis=1, keepdims=True))[0]), low, high)


def _peaks(lengths: NDArray[np.float64], means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where the fit is best, float64[draws]; means: float64[intervals, draws]."""
    terms = np.linalg.lstsq(_shape(lengths), 1 / means, rcond=None)[0]
    places = np.geomspace(lengths.min(), lengths.max(), _PLACES)
    best: NDArray[np.float64] = places[(_shape(places) @ terms).argmin(axis=0)]
    return best


def _shape(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """The terms of the fit, float64[intervals, terms]."""
    return np.stack([np.ones_like(lengths), 1 / lengths, lengths, lengths**2], axis=1)


def _seconds(base: Scenario, text: str) -> float:
    return forecast(load_scenario(base, {"checkpoint.every": text})).interval_s


def _runs(study: Study, text: str, loader: str) -> pd.DataFrame:
    table = study.table
    return table[(table["checkpoint.every"] == text) & (table["loader.preset"] == loader)]


def _met_s(study: Study, loader: str) -> float | None:
    """Wall time over interruptions, of a loader's runs at all intervals."""
    runs = study.table[study.table["loader.preset"] == loader]
    interruptions = int(runs["interruptions"].sum())
    return 3600 * float(runs["wall_h"].sum()) / interruptions if interruptions else None


def _row(study: Study, text: str, seconds: float, loaders: Sequence[str]) -> dict[str, object]:
    runs = {loader: _runs(study, text, loader) for loader in loaders}
    ettr = runs[loaders[0]]["ettr"].to_numpy(np.float64)
    half = half_width(ettr)
    return {
        "interval": text,
        "interval_s": seconds,
        "ettr": ettr.mean(),
        "ettr_ci95_low": ettr.mean() - half,
        "ettr_ci95_high": ettr.mean() + half,
        "rolled_back_steps": runs[loaders[0]]["rolled_back_steps"].mean(),
        "unfinished": sum(int((own["outcome"] != "done").sum()) for own in runs.values()),
        **{f"damage_{loader}{end}": part for loader, own in runs.items() for end, part in _damage(own).items()},
    }


def _damage(runs: pd.DataFrame) -> dict[str, float]:
    """The damage of a loader's runs for each planned view, and the ends of its 95 % interval.

    That of a ratio of two sums, to first order (Cochran, Sampling Techniques, 1977, 6.3).
    """
    views, planned = (runs["extra_views"] + runs["missing_views"]).to_numpy(np.float64), runs["planned_views"]
    ratio = float(views.sum() / planned.sum())
    left_over = views / planned.mean() - ratio * (planned / planned.mean()).to_numpy(np.float64)
    # What is left over where runs are alike is the rounding of floats.
    half = half_width(left_over) if np.ptp(left_over) > _ROUNDING else 0.0
    return {"": ratio, "_ci95_low": ratio - half, "_ci95_high": ratio + half}
