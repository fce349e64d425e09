"""Damage after each of many restarts, where thousands of readers lose what their buffers hold at every one of them.

To count each beginning of such a run for itself costs as much as the whole run does. But each side goes through one
epoch after another, and through each from its start on: what an epoch leaves is taken in once, and one that goes on is
known by how far each shard was pulled, and how much of that has come out.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustersim.account import Damage
from clustersim.account.blocks import layout
from clustersim.account.fronts import Front, Past
from clustersim.account.spaces import BlockSpaces
from clustersim.loaders.deal import Sharded
from clustersim.loaders.pulls import Pull

Ints = NDArray[np.int64]

_ZONE = 4  # buffers: what one holds lies within so many times its size behind the last sample that it has pulled


class _Epoch(NamedTuple):
    """One that a side has begun."""

    front: Front
    first: Pull  # its first flow
    alone: Front  # how far that one has come


def damage_by_fronts(
    spaces: BlockSpaces, planned: Sequence[Pull], seen: Sequence[Pull], steps: Ints, rng: np.random.Generator
) -> Damage | None:
    """Extra and missing views before each step, as `account.damage`; None where a side does not go straight on.

    It goes straight if each flow of an epoch begins where the one before had pulled to, and the first at its start.

    Args:
        spaces: the orders of the shards.
        planned: the flows of the plan.
        seen: those of the lineage.
        steps: int64[steps], never falling.
        rng: the stream of random numbers.
    """
    if not (_goes_straight(planned) and _goes_straight(seen)):
        return None
    alike = sum(1 for _ in _read_alike(planned, seen))
    sides = (_begun(spaces, side[alike:], steps.tolist()) for side in (planned, seen))
    nothing = Front(*(np.zeros(len(spaces.block_starts) - 1, np.int64),) * 2)
    past, found, planned_over, seen_over = Past(np.diff(spaces.block_starts), rng), [], 0, 0
    for in_plan, in_lineage in zip(*sides, strict=True):
        # What the plan is through with does not care any more where in a shard it was read.
        for epoch in in_plan[planned_over:-1]:
            past.take(epoch.front.read, -1)
            planned_over += 1
        for epoch in in_lineage[seen_over : min(len(in_plan), len(in_lineage)) - 1]:
            past.take(epoch.front.read, 1)
            seen_over += 1
        own, common = (in_plan[-1].front, nothing) if in_plan else (nothing, nothing)
        ahead = in_lineage[seen_over:]
        if in_plan and ahead and in_plan[-1].first.is_same(ahead[0].first):
            common = Front(*map(np.minimum, in_plan[-1].alone, ahead[0].alone))
        found.append(past.damage(own, [epoch.front for epoch in ahead], common))
    extra, missing = np.array(found, dtype=np.int64).reshape(-1, 2).T
    return Damage(extra, missing, "distribution")


def _goes_straight(flows: Sequence[Pull]) -> bool:
    epochs = [list(group) for _, group in groupby(flows, key=lambda flow: flow.epoch)]
    if len({epoch[0].epoch for epoch in epochs}) < len(epochs):
        return False
    for epoch in epochs:
        if epoch[0].base.any() or not isinstance(epoch[0].part.deal, Sharded):
            return False
        if any(flow.begun.any() for flow in epoch) or not all(a.precedes(b) for a, b in pairwise(epoch)):
            return False
    return True


def _read_alike(planned: Sequence[Pull], seen: Sequence[Pull]) -> Iterator[Pull]:
    """The flows that both sides begin with, and read from the same to the same step."""
    for ours, theirs in zip(planned, seen, strict=False):
        if not ours.is_same(theirs) or ours.part.steps != theirs.part.steps:
            return
        yield ours


def _begun(spaces: BlockSpaces, flows: Sequence[Pull], steps: Sequence[int]) -> Iterator[list[_Epoch]]:
    """The epochs that a side has begun before each step, the last of which may go on."""
    nothing = Front(*(np.zeros(len(spaces.block_starts) - 1, np.int64),) * 2)
    over: list[_Epoch] = []  # after the flows that are over, and with the one that goes on
    now: list[_Epoch] = []
    at = 0
    for step in steps:
        while at < len(flows) and flows[at].part.step < step:
            flow = flows[at].below(step)
            if over and over[-1].first.epoch == flow.epoch:
                front = _pulled_on(spaces, over[-1].front, flow)
                now = [*over[:-1], over[-1]._replace(front=front)]
            else:
                front = _pulled_on(spaces, nothing, flow)
                now = [*over, _Epoch(front, flow, front)]
            if flow.part.steps < flows[at].part.steps:
                break
            over, at = now, at + 1
        yield now


def _pulled_on(spaces: BlockSpaces, front: Front, flow: Pull) -> Front:
    """How far an epoch has come with a flow that begins where the front is.

    What the buffers hold lies within a zone behind what they have pulled, in each shard as much as is expected there.
    """
    part = flow.part
    base, pulled, ended = map(part.by_reader, (flow.base, flow.pulled, flow.ended))
    assert isinstance(part.deal, Sharded)
    runs = part.deal.runs(base, pulled, np.arange(len(base)))
    order, begins = layout(spaces, part.family, part.epoch)
    place = np.searchsorted(begins, runs.start, side="right") - 1
    zone = np.minimum(pulled - base, _ZONE * flow.buffer.size)[runs.reader]
    before = (pulled[runs.reader] - runs.tick) - zone  # samples of the run's reader, from its start to the zone
    bounds = np.clip(np.stack([-before, runs.stop - runs.start - before]), 0, zone)
    held = (pulled - base - ended)[runs.reader] * bounds // np.maximum(zone, 1)
    reach, read = front.reach.copy(), front.read.copy()
    reach[order[place]] = runs.stop - begins[place]
    read[order[place]] += runs.stop - runs.start - (held[1] - held[0])
    return Front(reach, read)
