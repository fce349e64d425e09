"""The tables of a run as pandas DataFrames; column names carry units, and definitions are those of the docs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from clustersim.account import Damage, Ledger
from clustersim.history import HOUR_NS
from clustersim.scenario.checkpoint import MAIN_TIER

if TYPE_CHECKING:
    from clustersim.run import Run


def ledger(run: Run) -> pd.DataFrame:
    """planned, seen, samples: how many samples were planned p times and seen s times; it sums to N.

    In a mixture after a column `corpus`, and for each corpus by itself.
    """
    return _of_each(run, [pd.DataFrame(ledger.table._asdict()) for ledger in run.ledgers])


def shards(run: Run) -> pd.DataFrame:
    """shard; samples; planned_views, views; extra, missing; never: samples planned and never seen.

    In a mixture after a column `corpus`; each corpus counts its own shards.
    """
    return _of_each(run, [_by_cell(ledger) for ledger in run.ledgers]).rename(columns={"cell": "shard"})


def by_corpus(run: Run) -> pd.DataFrame:
    """corpus; samples; planned_views, views; extra, missing; never: samples planned and never seen."""
    found = [_by_cell(ledger).drop(columns="cell").sum().to_frame().T for ledger in run.ledgers]
    return _of_each(run, found)


def _by_cell(ledger: Ledger) -> pd.DataFrame:
    return pd.DataFrame(ledger.by_cell()._asdict())


def _of_each(run: Run, frames: list[pd.DataFrame]) -> pd.DataFrame:
    """A frame of each corpus, one after the other, and in a mixture its name in front."""
    if len(frames) == 1:
        return frames[0]
    named = [pd.DataFrame({"corpus": each.name, **frame}) for each, frame in zip(run.corpora, frames, strict=True)]
    return pd.concat(named, ignore_index=True)


def legs(run: Run) -> pd.DataFrame:
    """leg; start, stop, kept, lineage_stop (steps); data (degree); nodes; times; saves; ended_by.

    Steps [start, lineage_stop) are part of the final model.
    """
    rows = run.history.legs
    return pd.DataFrame(
        {
            "leg": [leg.leg for leg in rows],
            "start": [leg.start for leg in rows],
            "stop": [leg.stop for leg in rows],
            "kept": [leg.kept for leg in rows],
            "lineage_stop": run.history.lineage_stops(),
            "data": [leg.data for leg in rows],
            "nodes": [leg.nodes for leg in rows],
            "begin_h": [leg.begin_ns / HOUR_NS for leg in rows],
            "end_h": [leg.end_ns / HOUR_NS for leg in rows],
            "step_s": [leg.step_ns / 1e9 for leg in rows],
            "stall_s": [leg.stall_ns / 1e9 for leg in rows],
            "saves": [leg.saves[0] for leg in rows],
            "ended_by": [leg.ended_by for leg in rows],
        }
    )


def events(run: Run) -> pd.DataFrame:
    """time_h; kind, cause; node (-1: the job; of a domain its first); where it was; leg.

    Kinds: failure, false alarm, detection (a silent failure, or what is slow, is seen), misdiagnosis (this node is
    taken out instead), retirement (the node is given up), repair (the node, or the one in its place, is back), slow
    (the node, or the job, is slow from now on), maintenance (the node, or the whole machine, is to leave), service
    (the node is back from that), start (a cold spare is up), borrowing (a node is taken from other work), bad
    checkpoint (one of the tier that stands as cause could not be read, or what was trained from it went bad), from
    scratch (no checkpoint was left, the job starts at step 0).
    """
    rows = run.history.happenings
    return pd.DataFrame(
        {
            "time_h": [row.time_ns / HOUR_NS for row in rows],
            "kind": [row.kind for row in rows],
            "cause": [row.cause for row in rows],
            "node": np.array([row.node for row in rows], dtype=np.int64),
            "where": [row.where for row in rows],
            "leg": np.array([row.leg for row in rows], dtype=np.int64),
        }
    )


def checkpoints(run: Run) -> pd.DataFrame:
    """leg, tier, step (the first that a restart from it trains), durable_h, in_lineage: the final model passed it.

    One row for each that became durable, whether it was retained or not, by leg and tier. The last row is the final
    checkpoint, if the end of the run made one.
    """
    names = [MAIN_TIER, *(tier.name for tier in run.scenario.checkpoint.tiers)]
    stops = run.history.lineage_stops()
    legs: list[int] = []
    tiers: list[str] = []
    steps: list[int] = []
    durable_h: list[float] = []
    for leg in run.history.legs:
        for tier, saves in enumerate(leg.saves):
            legs += [leg.leg] * saves
            tiers += [names[tier]] * saves
            steps += [leg.start + leg.timetable.step_of(tier, number) for number in range(saves)]
            durable_h += [(leg.begin_ns + leg.timetable.durable_at(tier, number)) / HOUR_NS for number in range(saves)]
    if run.history.final_save:
        legs.append(len(stops) - 1)
        tiers.append(MAIN_TIER)
        steps.append(run.steps)
        durable_h.append(run.history.wall_ns / HOUR_NS)
    leg_column, step_column = np.array(legs, dtype=np.int64), np.array(steps, dtype=np.int64)
    in_lineage = step_column <= np.array(stops)[leg_column]
    return pd.DataFrame(
        {
            "leg": leg_column,
            "tier": tiers,
            "step": step_column,
            "durable_h": np.array(durable_h, dtype=float),
            "in_lineage": in_lineage,
        }
    )


def carries(run: Run) -> pd.DataFrame:
    """One row a restart of the lineage that lost what packers held of documents; no row where nothing can be lost.

    step (with which it began), packers; lost_tokens of them all; documents_seen_in_part, documents_never_seen.
    """
    lost = run.lost_carries
    names = ("step", "packers", "lost_tokens", "documents_seen_in_part", "documents_never_seen")
    columns = lost or [np.array([], dtype=np.int64)] * len(names)
    return pd.DataFrame(dict(zip(names, columns, strict=True)))


def time(run: Run) -> pd.DataFrame:
    """bucket, hours, share of the wall time, node_hours (of the nodes held); the hours sum to the wall time."""
    wall_ns = run.history.wall_ns
    return pd.DataFrame(
        {
            "bucket": list(run.time_ns),
            "hours": [ns / HOUR_NS for ns in run.time_ns.values()],
            "share": [ns / wall_ns if wall_ns else 0.0 for ns in run.time_ns.values()],
            "node_hours": [ns / HOUR_NS for ns in run.node_time_ns.values()],
        }
    )


def sample(run: Run, number: int, limit: int) -> pd.DataFrame:
    """leg, step, epoch, offset, fate of each read of a sample, in order.

    fate: "kept", "rolled back", "in flight", or "taken out" of its batch, by what is done about poison.
    """
    if not 0 <= number < run.scenario.sizes.samples:
        raise ValueError(f"no sample {number}: they are numbered 0 to {run.scenario.sizes.samples - 1}")
    corpus = run.corpus_of(number)
    low, high = np.array(corpus.taken_out, dtype=np.int64).reshape(-1, 2).T
    frames = []
    for kept in (True, False):
        found, leg = corpus.story(number, kept, limit)
        trained = found.step < np.array([leg.stop for leg in run.history.legs])[leg]
        fate = "kept" if kept else np.where(trained, "rolled back", "in flight")
        if kept and len(low):
            place = found.epoch * corpus.loader.spaces.size + found.offset
            run_of = np.searchsorted(low, place, side="right") - 1
            fate = np.where((run_of >= 0) & (place < high[run_of]), "taken out", "kept")
        frames.append(
            pd.DataFrame({"leg": leg, "step": found.step, "epoch": found.epoch, "offset": found.offset, "fate": fate})
        )
    return pd.concat(frames).sort_values(["leg", "step", "epoch"], ignore_index=True)


def damage(run: Run) -> pd.DataFrame:
    """One row a restart: what it cost, and the lineage through the leg after it against the plan to that step.

    restart (the number of the leg that it begins); cause; interrupted_h, restarted_h; step_reached,
    step_restarted_from; data_before, data_after (degree); discarded_views; lineage_views, extra_views, missing_views
    (so far); exact: "identity" or "distribution", as in `Run.exact`. On the way to an end that is exact several
    permutations may be under way, so the rows may be a draw where the run's own counts are not.
    """
    rows = run.history.legs
    kept, so_far = _so_far(run)
    samples_before = run.scenario.sizes.batches.before
    before, after = rows[:-1], rows[1:]
    return pd.DataFrame(
        {
            "restart": [leg.leg for leg in after],
            "cause": [leg.ended_by for leg in before],
            "interrupted_h": [leg.end_ns / HOUR_NS for leg in before],
            "restarted_h": [leg.begin_ns / HOUR_NS for leg in after],
            "step_reached": [leg.stop for leg in before],
            "step_restarted_from": [leg.start for leg in after],
            "data_before": [leg.data for leg in before],
            "data_after": [leg.data for leg in after],
            "discarded_views": [
                samples_before(last.stop) - samples_before(leg.start) for last, leg in zip(before, after, strict=True)
            ],
            "lineage_views": [samples_before(steps) for steps in kept[1:]],
            "extra_views": np.sum([each.extra for each in so_far], axis=0)[1:],
            "missing_views": np.sum([each.missing for each in so_far], axis=0)[1:],
            "exact": "identity" if all(each.exact == "identity" for each in so_far) else "distribution",
        }
    )


def damage_by_corpus(run: Run) -> pd.DataFrame:
    """corpus, restart; extra_views, missing_views (so far); exact: the damage of each corpus by itself.

    The restarts of a corpus follow each other; over the corpora they sum to `damage`.
    """
    found = [
        pd.DataFrame(
            {
                "restart": [leg.leg for leg in run.history.legs[1:]],
                "extra_views": each.extra[1:],
                "missing_views": each.missing[1:],
                "exact": each.exact,
            }
        )
        for each in _so_far(run)[1]
    ]
    return _of_each(run, found)


def _so_far(run: Run) -> tuple[list[int], list[Damage]]:
    """For each leg the steps of the lineage at its end, and of each corpus the damage then."""
    # A run that ended behind steps that an earlier leg kept has lost them for good.
    kept = [min(leg.kept, run.steps) for leg in run.history.legs]
    ends = np.maximum.accumulate(kept)
    ends[-1] = max(ends[-1], run.planned_steps)
    return kept, [each.damage(ends, run.by_identity) for each in run.corpora]
