"""The wait of a step for its data, simulated: ranks, workers, prefetch depth, shards, and a store that all share.

Every rank has `workers` processes. Worker w of A makes the batches of the steps w, w + A, ... one after another, and
holds at most `prefetch` of them that no step has taken. A step begins when all ranks have its batch and the step before
is over; what lies between the two is its wait.

A lane of the store serves requests in the order in which they come: first at its rate of operations, then at its
bandwidth; then the node takes the bytes in, and the latency, drawn for each request, comes on top. Nothing of this
depends on how many shards there are: a shard's size is drawn when a reader comes to it.

It is the state of a job that has run for a while: buffers are full, and readers begin in the middle of their shards and
blocks.
"""

import math
from collections import defaultdict
from collections.abc import Generator
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import simpy
from numpy.typing import NDArray

from clustersim.laws import draw
from clustersim.storage.patterns import Access
from clustersim.storage.store import NS, Reading, Store
from clustersim.streams import Hashed

_NORMAL = NormalDist()
# Fetches of each worker that a mean is taken over, at least.
_WINDOWS = 8
# Runs of steps by whose means the spread of long legs is told.
_RUNS = 20
# Less than a millionth of a sample is rounding.
_ROUNDING = 1e-6
_Process = Generator[simpy.Event, None, None]


@dataclass(frozen=True)
class Waits:
    """How long steps waited for their data."""

    wait_ns: NDArray[np.int64]
    """One a step, int64[steps]."""
    step_ns: int
    """Time of a step that does not wait."""
    turn: int = 1
    """Steps in which each worker of a rank makes a batch: waits may come and go with them."""

    @property
    def mean_ns(self) -> float:
        """Mean wait of a step."""
        return float(self.wait_ns.mean())

    @property
    def sd_ns(self) -> float:
        """The standard deviation of the sum of n waits over sqrt(n), for n as of a leg: they depend on each other.

        By the means of 20 runs of whole turns of the workers, or of as many turns as there are.
        """
        size = self.turn * max(1, len(self.wait_ns) // (_RUNS * self.turn))
        runs = self.wait_ns[: len(self.wait_ns) // size * size].reshape(-1, size).mean(axis=1)
        return float(runs.std(ddof=1) * math.sqrt(size)) if len(runs) > 1 else 0.0

    @property
    def error_ns(self) -> float:
        """The standard error of the mean wait, as these are so many steps and no more."""
        return self.sd_ns / math.sqrt(len(self.wait_ns))

    @property
    def share(self) -> float:
        """The share of the time that is spent waiting."""
        return self.mean_ns / (self.mean_ns + self.step_ns)

    def quantile_ns(self, share: float) -> float:
        """The wait that so large a share of the steps does not exceed."""
        return float(np.quantile(self.wait_ns, share))


@lru_cache(maxsize=256)
def simulate_waits(access: Access, reading: Reading, store: Store, steps: int) -> Waits:
    """The waits of `steps` steps, after as many as it takes until every worker holds what it may hold.

    Of whole turns of the workers, so some more steps perhaps: bursts come and go with them. The draws are always the
    same ones: the result is a function of its arguments.

    Raises:
        ValueError: a rank has no shard, so that no step would ever begin.
    """
    turn = reading.workers
    warm_up = 2 * max(turn * reading.prefetch, _window_steps(access, reading))
    steps = -(-steps // turn) * turn
    waits = np.array(_Micro(access, reading, store, warm_up + steps).run()[warm_up:], dtype=np.int64)
    waits.flags.writeable = False  # it is handed out again to who asks the same
    return Waits(waits, round(reading.step_s / NS), turn)


def least_steps(access: Access, reading: Reading) -> int:
    """Steps in which every worker comes to so many fetches that their mean means something."""
    return _WINDOWS * _window_steps(access, reading)


def _window_steps(access: Access, reading: Reading) -> int:
    """Steps that a worker's fetch lasts: it makes the batches of every A-th step of its rank."""
    return math.ceil(access.fetch_samples * reading.workers / reading.rank_batch)


class _Line:
    """A server that takes requests in the order in which they come; times in ns."""

    __slots__ = ("_free",)

    def __init__(self) -> None:
        self._free = 0.0

    def serve(self, ready: float, service: float) -> float:
        """When a request is served that is ready then and takes so long."""
        self._free = max(ready, self._free) + service
        return self._free


class _Micro:
    """One simulation of some steps."""

    def __init__(self, access: Access, reading: Reading, store: Store, steps: int) -> None:
        self.env = simpy.Environment()
        self.access, self.reading, self.store, self.steps = access, reading, store, steps
        self.step_ns = round(reading.step_s / NS)
        self.decode_ns = round(reading.decode_s / NS)
        share = access.fetch_bytes / access.fetch_requests
        self._operation = 1 / store.operations / NS
        self._transfer = share / store.bandwidth / NS
        if access.remade:  # the copy in the making takes its part of the bandwidth
            self._transfer *= 1 + reading.sample_bytes / store.shuffle_bandwidth * (
                store.lanes * store.bandwidth / access.sample_bytes
            )
        self._intake = share / store.client_bandwidth / NS
        self._lanes = [(_Line(), _Line()) for _ in range(store.lanes)]
        self._nodes = [_Line() for _ in range(reading.nodes)]
        self._latency = Hashed(0, 0, "feed", "latency")
        self._missing: defaultdict[int, int] = defaultdict(lambda: reading.ranks)  # batches of a step, not yet there
        self._arrived: dict[int, simpy.Event] = {}  # a step whose last batch the trainer waits for
        self._taken: dict[int, simpy.Event] = {}  # a step that workers wait for to be taken
        self._begun = 0  # steps that took their batches

    def run(self) -> list[int]:
        """The wait of each step in ns."""
        waits: list[int] = []
        for rank in range(self.reading.ranks):
            working = self.reading.workers_of(rank) if self.access.ahead else self.reading.workers
            if working == 0:
                raise ValueError(f"rank {rank} has no shard to read: there are {self.reading.shards}")
            for worker in range(working):
                self.env.process(self._work(rank, worker, working))
        self.env.run(until=self.env.process(self._train(waits)))
        return waits

    def _train(self, waits: list[int]) -> _Process:
        for step in range(self.steps):
            due = self.env.now
            if self._missing[step]:
                yield self._arrived.setdefault(step, self.env.event())
            del self._missing[step]
            waits.append(int(self.env.now - due))
            self._begun = step + 1
            if step in self._taken:
                self._taken.pop(step).succeed()
            yield self.env.timeout(self.step_ns)

    def _work(self, rank: int, worker: int, working: int) -> _Process:
        reader = _Reader(self, rank, worker)
        samples = self.reading.batch_of(rank)
        for step in range(worker, self.steps, working):
            held = step - self.reading.prefetch * working
            if held >= self._begun:
                yield self._taken.setdefault(held, self.env.event())
            yield from reader.make(samples)
            self._missing[step] -= 1
            if not self._missing[step] and step in self._arrived:
                self._arrived.pop(step).succeed()

    def fetched(self, rank: int, reader: int, number: int, part: float) -> int:
        """When the requests of a reader's fetch of that number, issued now, have all been answered; ns.

        Of the last window of a shard only a part is left to read.
        """
        operations, transfers = self._lanes[rank * self.store.lanes // self.reading.ranks]
        node = self._nodes[rank * self.reading.nodes // self.reading.ranks]
        most, done = self.access.fetch_requests, 0.0
        requests = math.ceil(most * part - _ROUNDING)
        size = most * part / requests  # of what a request of a whole fetch has
        for request in range(number * most, number * most + requests):
            served = transfers.serve(operations.serve(self.env.now, self._operation), self._transfer * size)
            taken_in = node.serve(served, self._intake * size)
            done = max(done, taken_in + draw(self.store.latency, self._latency, reader, request))
        return math.ceil(done)


class _Reader:
    """A worker's own state: what it has fetched and not yet used, and how much of its shard is left."""

    _OPENS, _SIZES, _STARTS = (Hashed(0, 0, "feed", name) for name in ("open", "shard size", "start"))

    def __init__(self, micro: _Micro, rank: int, worker: int) -> None:
        self._micro = micro
        self._rank = rank
        self._number = rank + worker * micro.reading.ranks
        self._fetches = 0
        self._left = 0.0  # samples that are fetched and not used
        if micro.access.ahead or micro.access.pattern == "block-shuffle":  # in the middle of what is fetched
            self._left = float(int(micro.access.fetch_samples * self._STARTS.uniform(self._number, 0)))
        self._next: int | None = None  # when the next window will be there; None: it is not on its way
        self._turn = 0  # of the shard that is being read, among this reader's
        self._to_fetch = self._size(0) * self._STARTS.uniform(self._number, 1)  # of that shard

    def make(self, samples: int) -> _Process:
        """Make so many samples ready."""
        env, decode = self._micro.env, self._micro.decode_ns
        fetch = self._window if self._micro.access.ahead else self._fetch
        while samples:
            while self._left < 1 - _ROUNDING:
                there = fetch()
                if there > env.now:
                    yield env.timeout(there - env.now)
                if self._micro.access.ahead and self._to_fetch > _ROUNDING:
                    self._next = self._issue(self._window_samples)
            ready = min(samples, int(self._left + _ROUNDING))
            self._left -= ready
            samples -= ready
            if decode:
                yield env.timeout(ready * decode)

    def _fetch(self) -> int:
        """Ask for the next block, sample or list: when it will be there."""
        self._left += self._micro.access.fetch_samples
        return self._issue(self._micro.access.fetch_samples)

    def _window(self) -> int:
        """Go on to the next window of the shard, or to the next shard: when it will be there."""
        there, self._next = self._next, None
        opens = 0
        if self._to_fetch <= _ROUNDING:
            self._turn += 1
            self._to_fetch = self._size(self._turn)
            opens = draw(self._micro.store.open, self._OPENS, self._number, self._turn)
        taken = self._window_samples
        if there is None:
            there = self._issue(taken)
        self._left += taken
        self._to_fetch -= taken
        return there + opens

    @property
    def _window_samples(self) -> float:
        """Samples of the next window of the shard."""
        return min(self._micro.access.fetch_samples, self._to_fetch)

    def _issue(self, samples: float) -> int:
        self._fetches += 1
        part = samples / self._micro.access.fetch_samples
        return self._micro.fetched(self._rank, self._number, self._fetches, part)

    def _size(self, turn: int) -> float:
        """Samples of this reader's shard of that turn: lognormal around the mean."""
        reading = self._micro.reading
        if not reading.shard_spread:
            return reading.shard_samples
        shard = (self._number + turn * reading.readers) % reading.shards
        spread = reading.shard_spread
        size = math.exp(spread * _NORMAL.inv_cdf(self._SIZES.uniform(shard, 0)) - spread**2 / 2)
        return max(1.0, reading.shard_samples * size)
