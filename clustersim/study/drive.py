"""The loop of a sweep: gives out replications, takes in their rows, and sees which points have enough."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from typing import NamedTuple

from clustersim.scenario import Scenario
from clustersim.study.engines import Engine, EngineError
from clustersim.study.gathered import Gathered
from clustersim.study.provenance import versions
from clustersim.study.rule import Rule, unknown_figure
from clustersim.study.work import Done, Row, Task, work

BATCH = 64
"""The most replications of a task: what is given out anew if its worker dies."""
_SHARES = 4
"""A worker's part of what is left is cut into so many tasks, so that none waits long for the last one."""
_DEATHS = 3
"""So many deaths of workers without a result in between are no accident any more."""


class Stretch(NamedTuple):
    """Replications [first, stop) that are to be computed, of points that share their histories."""

    group: int
    points: tuple[int, ...]
    first: int
    stop: int


class Drive:
    """One sweep's loop. The rows that it takes in are a function of scenarios, seed and rule, never of the engine."""

    def __init__(
        self,
        scenarios: Sequence[Scenario],
        groups: Sequence[Sequence[int]],
        rule: Rule,
        seed: int | None,
        gathered: Gathered,
        keep: Callable[[Sequence[Row]], object],
        progress: Callable[[float], object] | None = None,
    ) -> None:
        """Prepare the loop.

        Args:
            scenarios: one a point.
            groups: the points' numbers, in groups that share histories.
            rule: how many replications each point gets.
            seed: instead of the scenarios' own.
            gathered: takes in the rows; what it holds already is not computed again.
            keep: called with the rows of each result before they are gathered.
            progress: called with the replications that are done, those that a point does not need any more included.
        """
        self._scenarios = scenarios
        self._rule = rule
        self._seed = seed
        self._gathered = gathered
        self._keep = keep
        self._progress = progress
        self._todo: deque[Stretch] = deque()
        self._given: dict[Future[Done], Stretch] = {}
        self._rounds = [self._rounds_of(group, points) for group, points in enumerate(groups)]
        self._left_in_round = [0] * len(groups)
        self._spared = 0
        self._versions = versions()
        self._deaths = 0

    def run(self, engine: Engine) -> None:
        """Go on until every point has enough replications.

        Raises:
            EngineError: the engine is lost, or its workers die again and again.
            ValueError: runs have no figure of the rule's name.
        """
        for group in range(len(self._rounds)):
            self._next_round(group)
        self._tell()
        try:
            while self._todo or self._given:
                self._give(engine)
                for future in wait(self._given, return_when=FIRST_COMPLETED).done:
                    # A death takes all that was given with it.
                    if future in self._given:
                        self._take(engine, future)
        finally:
            for future in self._given:
                future.cancel()

    def _rounds_of(self, group: int, points: Sequence[int]) -> Iterator[list[Stretch]]:
        """What a group lacks until the next look, look by look; points that have enough are left out."""
        lacking = list(points)
        for look in self._rule.looks():
            yield list(self._lacks(group, lacking, look))
            if self._rule.figure is not None:
                enough = [point for point in lacking if self._rule.narrow(self._gathered.values(point, look))]
                self._spared += len(enough) * (self._rule.replications - look)
                lacking = [point for point in lacking if point not in enough]

    def _lacks(self, group: int, points: Sequence[int], look: int) -> Iterator[Stretch]:
        """The replications below `look` that are not there, in stretches that all lack the same points."""
        begun: Stretch | None = None
        for replication in range(look):
            lacking = tuple(point for point in points if not self._gathered.has(point, replication))
            if begun is not None and lacking == begun.points:
                begun = begun._replace(stop=replication + 1)
                continue
            if begun is not None:
                yield begun
            begun = Stretch(group, lacking, replication, replication + 1) if lacking else None
        if begun is not None:
            yield begun

    def _next_round(self, group: int) -> None:
        for stretches in self._rounds[group]:
            if stretches:
                self._todo.extend(stretches)
                self._left_in_round[group] = sum(stretch.stop - stretch.first for stretch in stretches)
                return

    def _give(self, engine: Engine) -> None:
        """Keep every worker busy, and more tasks ready for them."""
        workers = max(1, engine.workers)
        ahead = engine.ahead
        while self._todo and len(self._given) < ahead:
            waiting = sum(stretch.stop - stretch.first for stretch in self._todo)
            size = max(1, min(BATCH, waiting // (_SHARES * workers)))
            whole = self._todo.popleft()
            stretch = whole._replace(stop=min(whole.stop, whole.first + size))
            if stretch.stop < whole.stop:
                # To the end, so that all points grow alike.
                self._todo.append(whole._replace(first=stretch.stop))
            points = tuple((point, self._scenarios[point]) for point in stretch.points)
            task = Task(points, stretch.first, stretch.stop, self._seed, engine.patience_s)
            try:
                future = engine.executor.submit(work, task)
            except engine.deaths as error:
                self._todo.appendleft(stretch)
                self._bury(engine, error)
                return
            self._given[future] = stretch

    def _take(self, engine: Engine, future: "Future[Done]") -> None:
        stretch = self._given.pop(future)
        try:
            done = future.result()
        except CancelledError:
            raise EngineError("the scheduler is lost") from None
        except engine.deaths as error:
            self._todo.appendleft(stretch)
            self._bury(engine, error)
            return
        self._check(done)
        self._deaths = 0
        self._keep(done.rows)
        self._gathered.add(done.rows)
        if done.stop < stretch.stop:
            self._todo.appendleft(stretch._replace(first=done.stop))
        self._left_in_round[stretch.group] -= done.stop - stretch.first
        if not self._left_in_round[stretch.group]:
            self._next_round(stretch.group)
        self._tell()

    def _bury(self, engine: Engine, error: BaseException) -> None:
        """Take back what the dead were given, and go on without them."""
        self._deaths += 1
        if self._deaths > _DEATHS:
            raise EngineError(
                f"workers died {self._deaths} times without a result in between ({type(error).__name__}); a script "
                'sweeps under `if __name__ == "__main__":`, or with workers=1'
            ) from None
        if engine.die_together:
            lost = [each for each in self._given if not each.done() or each.exception() is not None]
            self._todo.extendleft(self._given.pop(future) for future in lost)
        engine.replace()

    def _check(self, done: Done) -> None:
        """Rows of other versions would not be the same bytes; rows without the figure would never be enough."""
        for name, version in self._versions.items():
            if done.versions.get(name) != version:
                raise EngineError(f"expected workers with {name} {version}, found {done.versions.get(name)}")
        figure, row = self._rule.figure, done.rows[0]
        known = [name for name, value in row.items() if isinstance(value, (int, float)) and name not in _NO_FIGURES]
        if figure is not None and figure not in known:
            raise ValueError(unknown_figure(figure, known))

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(self._gathered.count + self._spared)


_NO_FIGURES: Mapping[str, None] = dict.fromkeys(("point", "replication", "seed"))
