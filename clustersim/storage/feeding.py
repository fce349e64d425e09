"""What a scenario's storage does to the clock: the wait of each step for its data, and the way back of a loader."""

from typing import NamedTuple

from clustersim.history import Refused
from clustersim.loaders.follow import Follower
from clustersim.scenario import Scenario
from clustersim.scenario.storage import Pattern
from clustersim.storage.bounds import Resource, bottleneck, margin, preparation_s, replay_s
from clustersim.storage.compile import pattern_of, reading_of, replays, store_of
from clustersim.storage.copying import CopiesBehind
from clustersim.storage.patterns import Access, access_of
from clustersim.storage.store import NS, Reading, Store
from clustersim.storage.waiting import Waits, least_steps, simulate_waits

# Steps that are simulated for a mean wait, and the fetches that they may take together.
_LEAST_STEPS, _MOST_STEPS, _FETCHES = 50, 1000, 200_000


def wait_ns(scenario: Scenario, degree: int) -> int:
    """Mean wait of a step for its data with `degree` replicas; 0 where the scenario names no storage.

    It is the scenario's own: the same in every replication.
    """
    return 0 if scenario.storage is None else round(_waits(scenario, degree).mean_ns)


def _waits(scenario: Scenario, degree: int) -> Waits:
    access, reading, store = _fed(scenario, degree)
    steps = min(max(_LEAST_STEPS, int(_FETCHES / (reading.batch / access.fetch_samples))), _MOST_STEPS)
    return simulate_waits(access, reading, store, max(steps, least_steps(access, reading)))


def _fed(scenario: Scenario, degree: int) -> tuple[Access, Reading, Store]:
    assert scenario.storage is not None
    reading = reading_of(scenario, degree)
    store = store_of(scenario.storage, reading.nodes)
    return access_of(pattern_of(scenario), reading, store), reading, store


class StoredFeed:
    """The clock's `training.plan.Feed` where the scenario names a storage: coming back takes its time.

    A saved position costs an open and a batch, a lost buffer its refill, and a saved count of batches that all of the
    epoch before it is read again; a copy that is made behind the run is begun anew. `follower` is asked what it is
    asked without a storage, if it decides anything.
    """

    def __init__(self, scenario: Scenario, follower: Follower | None) -> None:
        self._scenario = scenario
        self._follower = follower
        self._fed: dict[int, tuple[Access, Reading, Store]] = {}
        self._copies: CopiesBehind | None = None
        access, reading, store = self._fed_with(scenario.sizes.data)
        if access.remade:
            making_ns = round(preparation_s(access, reading, store) / NS)
            self._copies = CopiesBehind(scenario.sizes, making_ns, self._step_ns)

    def _fed_with(self, degree: int) -> tuple[Access, Reading, Store]:
        if degree not in self._fed:
            self._fed[degree] = _fed(self._scenario, degree)
        return self._fed[degree]

    def _step_ns(self, degree: int) -> int:
        return self._scenario.sizes.step_ns(degree) + wait_ns(self._scenario, degree)

    def begin(self, step: int, degree: int, goes_on: bool = False) -> int | Refused | None:
        """A leg begins: how many steps the loader will deliver (None: no end)."""
        if self._copies is not None:
            self._copies.begin(step, degree, goes_on)
        return None if self._follower is None else self._follower.begin(step, degree, goes_on)

    def resume_ns(self, step: int, degree: int) -> int:
        """How long the loader takes to come back to a step, until its first batch is there."""
        sizes = self._scenario.sizes
        read = sizes.batches.before(step)
        again = read % sizes.samples // sizes.batch if replays(self._scenario.loader) else 0
        own_ns = 0 if self._follower is None else self._follower.resume_ns(step, degree)
        copied_ns = 0 if self._copies is None else self._copies.wait_ns(step, degree)
        return own_ns + copied_ns + round(replay_s(again, *self._fed_with(degree)) / NS)

    def crash(self) -> int | None:
        """The step at which what is read crashes the leg that has begun; None if it does not."""
        return None if self._follower is None else self._follower.crash()

    def end(self, stop: int, read: int, ended_by: str) -> None:
        """The leg is over: steps below `stop` were trained, below `read` were read."""
        if self._copies is not None:
            self._copies.end(stop)
        if self._follower is not None:
            self._follower.end(stop, read, ended_by)


def clock_feed(scenario: Scenario, follower: Follower | None) -> StoredFeed | Follower | None:
    """What the clock asks of the data: the storage, the loader if it decides anything, or nothing."""
    return follower if scenario.storage is None else StoredFeed(scenario, follower)


class Supply(NamedTuple):
    """How well the run's own pattern is fed at full degree."""

    pattern: Pattern
    keeps_up: float
    """What comes at most, over what is asked for."""
    bottleneck: Resource
    wait_ns: int
    """Mean wait of a step."""
    wait_error_ns: float
    """The standard error of that mean, which is simulated."""


def supply_of(scenario: Scenario) -> Supply | None:
    """How well the scenario's storage feeds it; None where it names none."""
    if scenario.storage is None:
        return None
    access, reading, store = _fed(scenario, scenario.sizes.data)
    least = bottleneck(access, reading, store)
    waits = _waits(scenario, scenario.sizes.data)
    return Supply(access.pattern, margin(least, reading), least.resource, round(waits.mean_ns), waits.error_ns)
