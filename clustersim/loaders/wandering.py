"""Poison that a run meets, at another step after each restart where the loader comes back in another order.

Nobody knows beforehand at which step it crashes the job, nor how often before something else ends the leg at the same
instant: the clock asks as each leg begins. What happened, and what was done about it, follows from the history alone.
"""

from typing import NamedTuple

from clustersim.history import History, Refused
from clustersim.loaders.follow import Follower
from clustersim.loaders.parts import Position
from clustersim.loaders.poison import Deadly, Ints, Poison, Policy, Trail, places_of
from clustersim.loaders.remainder import RemainderSpaces
from clustersim.loaders.sequence import SequenceLoader

_KEEP = 1000  # orders in which the samples' offsets are kept

CAUSE = "poison"
"""What a leg that poison crashed was ended by."""


class Found(NamedTuple):
    """What poison did to a run, and what the policy did about it."""

    acted_at: tuple[int, ...]
    """The steps that crashed so often that the policy acted: there the record was found, nowhere else."""
    taken_out: tuple[tuple[int, int], ...]
    """Runs [from, to) of positions of the lineage that are read and not trained on, by the policy; rising."""


class Wandering(Follower):
    """Follows a loader through a run, and says where poison crashes each leg.

    Each trial of a search crashes too, at the step that is searched. One that meets other poison before crashes there,
    as any leg does, and is still to come; if the policy acts there, that step is searched first.
    """

    def __init__(self, loader: SequenceLoader, poison: Poison, policy: Policy, steps: int) -> None:
        """`steps`: of the run, at most."""
        super().__init__(loader)
        self._sequence = loader
        self._poison = poison
        self._epochs = range(-(-steps * loader.batch // loader.size))
        self._steps = steps
        self._trail = Trail(poison, loader.batch, policy)
        self._trials: list[int] = []  # the steps of those that are still to come, the next one last
        self._own = places_of(poison, loader.spaces_to_count, 0, self._epochs)
        self._places = self._own
        self._kept: dict[tuple[int, int], Ints] = {}
        self._met: Deadly | None = None  # of the leg that has begun

    def begin(self, step: int, degree: int, goes_on: bool = False) -> int | Refused | None:
        """A leg begins: how many steps the loader will deliver (None: no end)."""
        delivered = super().begin(step, degree, goes_on)
        if isinstance(delivered, Refused):
            return delivered
        self._places = self._places_from(self._begun[-1][1])
        self._met = self._trail.next_deadly(self._places, step, self._steps)
        return delivered

    def crash(self) -> int | None:
        """The step at which poison crashes the leg that has begun; None if it does not."""
        met = [] if self._met is None else [self._met.step]
        return min(met + self._trials[-1:], default=None)

    def end(self, stop: int, read: int, ended_by: str = "") -> None:
        """The leg is over: steps below `stop` were trained, below `read` were read."""
        super().end(stop, read, ended_by)
        if ended_by != CAUSE:
            return
        if self._trials and stop == self._trials[-1]:
            self._trials.pop()
            return
        assert self._met is not None
        if self._trail.crash(self._met):
            self._trials += [self._met.step] * self._trail.trials_each

    def found(self, history: History) -> Found:
        """What was found in a finished history. The object must have followed no other."""
        taken_out: list[tuple[int, int]] = []
        goes_on = False
        for leg, stop in zip(history.legs, history.lineage_stops(), strict=True):
            self.begin(leg.start, leg.data, goes_on)
            taken_out += self._trail.quarantined(self._places, leg.start, stop)
            self.end(leg.stop, leg.read, leg.ended_by)
            goes_on = leg.goes_on
        taken_out += self._trail.skipped(history.legs[-1].kept)
        return Found(tuple(self._trail.acted_at), tuple(sorted(taken_out)))

    def _places_from(self, at: Position) -> Ints:
        """The positions of each sample in each epoch for a leg that begins there, int64[epochs, samples]."""
        if at.family == 0:
            return self._own
        spaces, epoch = self._sequence.spaces, at.samples // self._sequence.size
        if self._sequence.parts.reshuffle_lasts == "for-good":
            return places_of(self._poison, spaces, at.family, self._epochs)
        places = self._own.copy()
        if isinstance(spaces, RemainderSpaces):
            places[epoch] = epoch * spaces.size + self._offsets_in(spaces, at.family, epoch)
        else:
            places[epoch : epoch + 1] = places_of(self._poison, spaces, at.family, range(epoch, epoch + 1))
        return places

    def _offsets_in(self, spaces: RemainderSpaces, family: int, epoch: int) -> Ints:
        """Where each sample lies in an epoch whose remainder was shuffled again and again, int64[samples].

        One shuffle of what the leg before had left, as a rule: its offsets are kept.
        """
        chain = []
        while family and (family, epoch) not in self._kept:
            chain.append(family)
            family = spaces.parent_of(family)
        offsets = self._kept[family, epoch] if family else self._own[epoch] - epoch * spaces.size
        if len(self._kept) > _KEEP:
            self._kept.clear()
        for after in reversed(chain):
            offsets = self._kept[after, epoch] = spaces.moved(after, epoch, offsets)
        return offsets
