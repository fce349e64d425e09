"""Streams: what yields sample ids one by one, and can say where it stands."""

from itertools import pairwise
from random import Random


class RefusedError(Exception):
    """A loader that does not come back, with the reason."""


class Shards:
    """Reads lists of samples, `together` of them in turn (contiguous groups of lists), one group after another if 1.

    It reads every sample and hands on those whose number in the input is keep[0] modulo keep[1].
    """

    def __init__(self, lists, together=1, keep=(0, 1)):
        groups = max(1, min(together, len(lists)))
        size, longer = divmod(len(lists), groups)
        cuts = [k * size + min(k, longer) for k in range(groups + 1)]
        self.groups = [[x for one in lists[a:b] for x in one] for a, b in pairwise(cuts)]
        self.read, self.turn, self.keep = [0] * groups, 0, keep
        self.length = sum(len(group) for group in self.groups)

    def next(self):
        while True:
            sample = self._next()
            if sample is None or (sum(self.read) - 1) % self.keep[1] == self.keep[0]:
                return sample

    def _next(self):
        for _ in self.groups:
            k, self.turn = self.turn, (self.turn + 1) % len(self.groups)
            if self.read[k] < len(self.groups[k]):
                self.read[k] += 1
                return self.groups[k][self.read[k] - 1]
        return None

    def state(self):
        return {"read": list(self.read), "turn": self.turn}

    def load(self, state):
        if len(state["read"]) < len(self.groups) or state["turn"] >= len(self.groups):
            raise RefusedError("the state names another number of shards that are read together")
        self.read, self.turn = state["read"][: len(self.groups)], state["turn"]


class Queue:
    """Shards that wait for a reader, common to all readers of a job."""

    def __init__(self, shards):
        self.todo = list(shards)


class FromQueue:
    """One shard of the queue after another, each sample by sample."""

    def __init__(self, queue):
        self.queue, self.shard, self.read = queue, [], [0]

    def next(self):
        if self.read[0] == len(self.shard):
            if not self.queue.todo:
                return None
            self.shard, self.read = self.queue.todo.pop(0), [0]
        self.read[0] += 1
        return self.shard[self.read[0] - 1]

    @property
    def length(self):
        return len(self.shard) + sum(len(shard) for shard in self.queue.todo)

    def unfinished(self):
        return [self.shard] if self.read[0] < len(self.shard) else []

    def state(self):
        return {"read": list(self.read)}


class Stream:
    """Shards behind a shuffle buffer (or none), of which every `keep`-th sample is kept."""

    def __init__(self, shards, parts, random, keep=(0, 1)):
        self.shards, self.parts, self.random, self.keep = shards, parts, random, keep
        self.buffer, self.ready, self.yielded = [], [], 0
        self.window, self.window_start, self.window_key = 0, 0, random.random()

    def next(self):
        while True:
            sample = self._next()
            self.yielded += sample is not None
            if sample is None or (self.yielded - 1) % self.keep[1] == self.keep[0]:
                return sample

    def _next(self):
        size, pull = self.parts.buffer, self.shards.next
        if size == 0:
            return pull()
        if self.ready:
            return self.ready.pop()
        if self.parts.buffer_kind == "lazy":
            return self._lazily(size)
        if self.parts.buffer_kind == "window":
            return self._from_window(size)
        if self.parts.buffer_kind == "chunk":
            self.ready = [sample for _ in range(size) if (sample := pull()) is not None][::-1]
            return self.ready.pop() if self.ready else None
        while (sample := pull()) is not None:
            if self.parts.buffer_kind == "classic" and len(self.buffer) == size:
                k = self.random.randrange(size)
                out, self.buffer[k] = self.buffer[k], sample
                return out
            self.buffer.append(sample)
            if self.parts.buffer_kind == "half-flush" and len(self.buffer) >= size:
                self.random.shuffle(self.buffer)
                self.buffer, self.ready = self.buffer[: size // 2], self.buffer[size // 2 :]
                return self.ready.pop()
        if self.parts.buffer_kind == "classic":
            return self.buffer.pop(self.random.randrange(len(self.buffer))) if self.buffer else None
        self.random.shuffle(self.buffer)
        self.buffer, self.ready = [], self.buffer
        return self.ready.pop() if self.ready else None

    def _lazily(self, size):
        """Fill up first, then take one out: between two samples the buffer has a hole."""
        while len(self.buffer) < size and (sample := self.shards.next()) is not None:
            self.buffer.append(sample)
        return self.buffer.pop(self.random.randrange(len(self.buffer))) if self.buffer else None

    def _from_window(self, size):
        """Every window of the stream is shuffled for itself, the same way whoever comes back to it."""
        self.window_start = sum(self.shards.read)
        while len(self.ready) < size and (sample := self.shards.next()) is not None:
            self.ready.append(sample)
        Random(f"{self.window_key} {self.window_start}").shuffle(self.ready)
        return self.ready.pop() if self.ready else None

    def batch(self, size):
        rows = []
        while len(rows) < size and (sample := self.next()) is not None:
            rows.append(sample)
        return rows

    def state(self):
        state = self.shards.state() | {"yielded": self.yielded}
        if self.parts.buffer_kind == "window":
            used = sum(self.shards.read) - self.window_start - len(self.ready)
            return state | {"read": [self.window_start], "used": used}
        if self.parts.buffer_saved:
            state |= {"buffer": list(self.buffer), "ready": list(self.ready), "random": self.random.getstate()}
        return state

    def load(self, state):
        self.shards.load(state)
        self.yielded = state["yielded"]
        for _ in range(state.get("used", 0)):
            self._next()
        if "buffer" in state:
            self.buffer, self.ready = list(state["buffer"]), list(state["ready"])
            self.random.setstate(state["random"])


class Reader:
    """A rank's side of the loader: streams (workers) that deliver whole batches in turn."""

    def __init__(self, streams, batch, parts):
        self.streams, self.batch, self.parts = streams, batch, parts
        self.turn, self.batches = 0, 0  # whose turn it is; batches that count as delivered in this pass
        self.snapshot = None
        self.slice = (0, 1)  # which slice of a global batch it keeps
        self.ahead = []  # batches fetched ahead, where the state holds them

    def next(self):
        """The next batch, None if no stream has one."""
        if not self.parts.prefetch_saved:
            return self._fetch()
        while len(self.ahead) <= self.parts.prefetch and (rows := self._fetch()) is not None:
            self.ahead.append(rows)
        return self.ahead.pop(0) if self.ahead else None

    def _fetch(self):
        for _ in self.streams:
            stream, self.turn = self.streams[self.turn], (self.turn + 1) % len(self.streams)
            rows = stream.batch(self.batch * self.slice[1])
            rows = rows[self.batch * self.slice[0] :][: self.batch]
            if not rows or (self.parts.last_batch == "drop" and len(rows) < self.batch):
                continue
            self.batches += 1
            if self.batches % self.parts.snapshot_every == 0:
                self.snapshot = self._state()
            return rows
        return None

    def _state(self):
        streams = [stream.state() for stream in self.streams]
        return {"streams": streams, "turn": self.turn, "batches": self.batches, "ahead": list(self.ahead)}

    def state(self):
        """Where it stands, or where it stood at the last snapshot and how many batches it has delivered since."""
        if self.parts.snapshot_every == 1:
            return self._state() | {"since": 0}
        last = self.snapshot or {"streams": None, "turn": 0, "batches": 0, "ahead": []}
        return last | {"since": self.batches - last["batches"]}

    def load(self, state):
        if state["streams"] is not None:
            for stream, its in zip(self.streams, state["streams"], strict=True):
                stream.load(its)
            self.turn, self.batches = state["turn"], state["batches"]
            self.ahead = list(state["ahead"])
            self.snapshot = {k: state[k] for k in ("streams", "turn", "batches", "ahead")}
        for _ in range(state["since"]):
            if self.next() is None and self.parts.past_end == "refuse":
                raise RefusedError("the position lies behind the end of the part")
