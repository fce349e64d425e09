"""Follow a loader through the legs of a history: from where did each leg read, and which of it did the model keep?"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from clustersim.history import History, Refused
from clustersim.loaders.parts import Delivered, Loader


class _Begun(NamedTuple):
    """Of the lineage so far, a leg and those that went on: first step, state in the checkpoint of it, its position.

    `live` is the state that it came back from, which its survivors still know; one that went on had no checkpoint's.
    """

    step: int
    saved: Any
    at: Any
    live: Any


@dataclass(frozen=True)
class Reads:
    """What was read, leg by leg: what the lineage kept, and what was rolled back (with the step in flight)."""

    kept: list[Delivered]
    loader: Loader
    rest: list[tuple[Any, int, int]]  # from which position, which step and how many steps on: what was rolled back

    @cached_property
    def discarded(self) -> list[Delivered]:
        """What was rolled back; few ask for it."""
        return [self.loader.advance(at, step, steps).stretch for at, step, steps in self.rest]


class Follower:
    """Takes a loader through a run, leg by leg; the clock may ask it while the run goes on (`training.plan.Feed`)."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._lineage: list[_Begun] = []
        self._reached: Any = None
        self._degree = 0
        self._begun: list[tuple[int, Any]] = []

    def begin(self, step: int, degree: int, goes_on: bool = False) -> int | Refused | None:
        """A leg begins at `step` with `degree` replicas: how many steps the loader will deliver (None: no end).

        One that goes on does not come back from a checkpoint: to the survivors the step that failed is undone, and
        another number of them is to the loader as a restart from a state that was saved there.
        """
        if not self._begun:
            at = self._loader.start(degree)
            saved = self._loader.save(at)
            self._lineage.append(_Begun(step, saved, at, saved))
        elif goes_on and degree == self._degree:
            begun, at = self._begun[-1]
            at = self._loader.advance(at, begun, step - begun).position
        else:
            passed = self._leave(step)
            saved = self._saved(passed, step, self._loader.parts.state_ahead)
            live = self._live(passed, step) if goes_on else saved
            resumed = self._loader.resume(live, self._reached, degree, leg=len(self._begun))
            if isinstance(resumed, Refused):
                return resumed
            at = resumed
            self._lineage.append(_Begun(step, saved, at, live))
        self._degree = degree
        self._begun.append((step, at))
        return self._loader.steps_left(at, step)

    def resume_ns(self, step: int, degree: int) -> int:
        """How long the loader takes to come back to a step: no time, as no loader says otherwise."""
        return 0

    def crash(self) -> int | None:
        """The step at which what is read crashes the leg that has begun: there is none."""
        return None

    def end(self, stop: int, read: int, ended_by: str = "") -> None:
        """The leg is over: steps below `stop` were trained, below `read` were read; by what makes no difference."""
        step, at = self._begun[-1]
        self._reached = self._loader.advance(at, step, read - step).position

    def _leave(self, step: int) -> _Begun:
        """The leg of the lineage that passed `step`; those that began there or later leave the lineage."""
        while self._lineage[-1].step > step:
            self._lineage.pop()
        return self._lineage.pop() if self._lineage[-1].step == step else self._lineage[-1]

    def _live(self, begun: _Begun, step: int) -> Any:
        """The loader's state before `step` in those who survive in it, whatever a checkpoint of it holds."""
        return begun.live if begun.step == step else self._saved(begun, step, 0)

    def _saved(self, begun: _Begun, step: int, ahead: int) -> Any:
        """The loader's state in the checkpoint of `step` that a leg has made, or has come from.

        It is the state of `ahead` steps later, whether they were trained or not; or earlier, but of this leg.
        """
        steps = step + ahead - begun.step
        if begun.step == step or steps <= 0:
            return begun.saved
        return self._loader.save(self._loader.advance(begun.at, begun.step, steps).position)

    def reads(self, history: History) -> Reads:
        """All that was read in a finished history that this object has followed."""
        kept: list[Delivered] = []
        rest: list[tuple[Any, int, int]] = []
        for (step, at), leg, stop in zip(self._begun, history.legs, history.lineage_stops(), strict=True):
            first = self._loader.advance(at, step, stop - step)
            kept.append(first.stretch)
            rest.append((first.position, stop, leg.read - stop))
        return Reads(kept, self._loader, rest)


def follow(history: History, loader: Loader) -> Reads:
    """Recount a finished history under a loader."""
    follower = Follower(loader)
    goes_on = False
    for leg in history.legs:
        follower.begin(leg.start, leg.data, goes_on)
        follower.end(leg.stop, leg.read)
        goes_on = leg.goes_on
    return follower.reads(history)


def plan(loader: Loader, ranks: int, steps: int) -> list[Delivered]:
    """What the loader reads in the same run without failures, the first layout throughout."""
    return [loader.advance(loader.start(ranks), 0, steps).stretch]
