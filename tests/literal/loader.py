"""A literal loader: readers that yield sample ids, real state dictionaries, one epoch after another."""

from copy import deepcopy

from literal.corpus import picked
from literal.streams import FromQueue, Queue, Reader, RefusedError, Shards, Stream


def run_of(things, k, count):
    """The k-th of `count` runs, the first of which hold one more where they do not come out even."""
    size, longer = divmod(len(things), count)
    return things[k * size + min(k, longer) :][: size + (k < longer)]


def batch_of(ramp, trained, full):
    """The size of the next batch of a trainer that has trained so many samples."""
    for until, batch in ramp:
        if trained < until:
            return batch
    return full


class Loader:
    """One process of a job: `ranks` ranks that read `batch` samples a step together, in an epoch of the corpus.

    `epochs` is E, which only streams that repeat the corpus themselves need to know.
    """

    def __init__(self, parts, corpus, batch, epochs, ranks, attempt=0):
        self.parts, self.corpus, self.epochs, self.ranks, self.attempt = parts, corpus, epochs, ranks, attempt
        one = parts.partition == "global"
        self.readers_count = 1 if one else parts.readers or ranks
        self.batch = parts.rank_batch * (ranks if one else 1) or batch // self.readers_count
        self.epoch, self.family, self.forgot_epoch = 0, 0, False
        self.steps, self.loop_steps, self.done = 0, 0, 0  # delivered: in the run; in the loop's epoch, by its count
        self.own_count, self.offset, self.left, self.queue = 0, 0, None, None
        self.order, self.dealt_from, self.dealt_anew = None, 0, None  # of an epoch that is dealt anew, by streams
        self.first_epoch, self.first_ranks = 0, ranks  # of this process; of the run
        self.trained = 0  # samples of the run so far, which the trainer knows
        self.readers = self.fresh_readers()
        self.whole = self.steps_at_start()  # of an epoch that is read from its start

    # What an epoch is made of

    @property
    def dealt(self):
        """The readers that an epoch is dealt to, of which some may be lost."""
        first = self.first_ranks if self.parts.dealt_to == "first-ranks" else 0
        return max(self.readers_count, first)

    def family_of(self, epoch):
        return self.family if epoch == self.epoch or self.parts.reshuffle_lasts == "for-good" else 0

    def epoch_shards(self, epoch):
        return self.corpus.epoch(self.family_of(epoch), self.order_epoch(epoch), self.ranks)

    def drawn(self, epoch, stream):
        """What a stream draws until it has its share of as many samples as there are; the last shard may be cut."""
        left, lists = -(-self.corpus.samples // (self.dealt * self.parts.workers)), []
        shards = iter(self.corpus.draws(self.family_of(epoch), self.order_epoch(epoch), stream))
        while left:
            lists.append(next(shards)[:left])
            left -= len(lists[-1])
        return lists

    def order_epoch(self, epoch):
        """The epoch that the seed knows of."""
        if self.parts.order_epoch == "since-start":
            return epoch - self.first_epoch
        return 0 if self.forgot_epoch else epoch

    def reader_lists(self, epoch, r):
        """The shards that reader r reads in one epoch, and which samples of them it keeps: (offset, every)."""
        parts, count = self.parts, self.dealt
        shards = self.epoch_shards(epoch)
        dealt_anew = self.left is not None and epoch == self.epoch
        if dealt_anew:
            shards = [self.left]
        if parts.canonical:
            shards = [self.canonical([x for shard in shards for x in shard])]
        if parts.partition in ("filtered", "slices"):
            return shards, (0, 1)
        if parts.partition == "contiguous-shards" and not dealt_anew:
            return run_of(shards, r, count), (0, 1)
        if parts.partition == "shards-or-rows" and len(shards) % count:
            return shards, (r, count)
        if parts.partition in ("shards", "shards-or-rows"):
            mine = shards[r::count]
            if parts.permutes == "part":
                about = (r, count) if parts.reader_seeds == "own" else ()
                random = self.corpus.part_random(self.family, self.order_epoch(epoch), *about)
                mine = picked(mine, random)
            return mine, (0, 1)
        ids = self.evened([x for shard in shards for x in shard])
        part = ids[r::count] if parts.partition == "strided" else run_of(ids, r, count)
        if parts.permutes == "part":
            self.corpus.part_random(self.family, self.order_epoch(epoch), r, count).shuffle(part)
        return [part], (0, 1)

    def evened(self, ids):
        """The epoch's order, filled up from its start or cut until it divides into streams, or their whole batches."""
        parts = self.parts
        unit = self.dealt * parts.workers * (1 if parts.last_batch in ("short", "span") else self.batch)
        if parts.last_batch == "pad" or parts.uneven == "pad":
            return ids + (ids * unit)[: -len(ids) % unit]
        return ids[: len(ids) - len(ids) % unit] if parts.uneven == "drop" else ids

    def canonical(self, ids):
        """Runs of the order, each filled up with its own first sample until the run's first ranks R divide it.

        Rank r of R reads the samples r, r + R, .. of all runs, one of each run in turn; so the global batches are made.
        """
        size, ranks = len(ids) // self.parts.canonical, self.first_ranks
        runs = [ids[k : k + size] for k in range(0, len(ids), size)]
        runs = [run + run[:1] * (-len(run) % ranks) for run in runs]
        by_rank = [[run[k] for k in range(r, len(runs[0]), ranks) for run in runs] for r in range(ranks)]
        share = self.batch // ranks
        return [x for k in range(0, len(by_rank[0]), share) for part in by_rank for x in part[k : k + share]]

    def worker_lists(self, lists, w):
        count, split = self.parts.workers, self.parts.worker_split
        if split == "shards":
            return lists[w::count]
        ids = [x for one in lists for x in one]
        if split == "strided":
            return [ids[w::count]]
        return [run_of(ids, w, count)]

    def side_by_side(self, epoch, r, w):
        """The run of samples, or of shards, of stream w of reader r."""
        shards, workers = self.epoch_shards(epoch), self.parts.workers
        if self.parts.partition == "contiguous-shards":
            return run_of(shards, r * workers + w, self.dealt * workers)
        ids = self.evened([x for shard in shards for x in shard])
        return [run_of(ids, r * workers + w, self.dealt * workers)]

    def fresh_reader(self, r):
        passes = {"epoch": 1, "repeat": self.epochs, "endless": 4 * self.epochs}[self.parts.passes]
        if self.parts.partition == "queue":
            return Reader([Stream(FromQueue(self.queue), self.parts, self.corpus.random())], self.batch, self.parts)
        streams = []
        for w in range(self.parts.workers):
            lists = []
            for epoch in range(self.epoch, self.epoch + passes):
                if self.parts.worker_split == "side-by-side":
                    mine, keep = self.side_by_side(epoch, r, w), (0, 1)
                elif self.corpus.order == "with-replacement":
                    mine, keep = self.drawn(epoch, w * self.readers_count + r), (0, 1)
                else:
                    mine, keep = self.reader_lists(epoch, r)
                    mine = self.worker_lists(mine, w) if self.parts.workers > 1 else mine
                lists += mine
            if self.dealt_anew is not None:
                lists = [self.dealt_anew[w * self.readers_count + r]]
            about = {
                "epoch": (self.order_epoch(self.epoch), self.family),
                "once": (),
                "never": (self.epoch, self.family, self.attempt),
            }[self.parts.buffer_seed]
            who = (r, w) if self.parts.reader_seeds == "own" else ()
            random = self.corpus.random("buffer", *who, *about)
            first = (r, self.readers_count) if self.parts.partition == "filtered" else (0, 1)
            streams.append(Stream(Shards(lists, self.parts.interleave, first), self.parts, random, keep))
        reader = Reader(streams, self.batch, self.parts)
        if self.parts.partition == "slices":
            reader.slice = (r, self.readers_count)
        return reader

    def fresh_readers(self):
        if self.parts.partition == "queue":
            self.queue = Queue(self.epoch_shards(self.epoch) if self.left is None else self.left)
        return [self.fresh_reader(r) for r in range(self.readers_count)]

    def begin_epoch(self, epoch):
        self.epoch, self.loop_steps, self.own_count, self.left = epoch, 0, 0, None
        self.order, self.dealt_from, self.dealt_anew = None, 0, None
        self.forgot_epoch = False
        if self.parts.reshuffle_lasts == "epoch":
            self.family = 0
        self.readers = self.fresh_readers()
        self.whole = self.steps_at_start()
        if self.parts.comes_back == "reapply" and self.offset:
            for reader in self.readers:
                for _ in range(self.offset):
                    reader.streams[0].next()

    # One step

    def steps_per_epoch(self):
        """Batches in an epoch that nothing has cut short."""
        return -(-self.corpus.samples // (self.batch * self.readers_count))

    def steps_at_start(self):
        """Steps until the first of the readers, which have just begun, has delivered all that it has."""
        up = 0 if self.parts.last_batch == "drop" else self.batch - 1
        return min(sum((s.shards.length + up) // self.batch for s in reader.streams) for reader in self.readers)

    def next_step(self):
        """The samples of one step, each with its epoch; None when the epoch is over."""
        if self.parts.loop_counter == "kept" and self.loop_steps >= self.whole:
            return None
        if self.parts.last_batch == "span":
            return self.spanning_step()
        batches = [reader.next() for reader in self.readers]
        if any(rows is None for rows in batches):
            return None
        passed = self.loop_steps // self.steps_per_epoch() if self.parts.passes == "endless" else 0
        step = [(self.epoch + passed, x) for rows in batches for x in rows]
        self.loop_steps += 1
        self.steps += 1
        self.own_count += self.batch // self.ranks
        return step

    def spanning_step(self):
        """A global batch that goes on in the next epoch where this one ends."""
        step, batch = [], batch_of(self.parts.ramp, self.trained, self.batch)
        while len(step) < batch or self.position() in self.parts.skip:
            skipped = self.position() in self.parts.skip
            sample = self.readers[0].streams[0].next()
            if sample is None:
                self.begin_epoch(self.epoch + 1)
            elif not skipped:
                step.append((self.epoch, sample))
        self.loop_steps += 1
        self.steps += 1
        self.trained += batch
        return step

    def position(self):
        """The next position of the endless sequence."""
        return self.epoch * self.corpus.samples + sum(self.readers[0].streams[0].shards.read)

    # States

    def at_end(self):
        """Whether some reader has nothing more to deliver in this epoch."""
        least = self.batch if self.parts.last_batch == "drop" else 1
        return any(all(self._left_of(s) < least for s in reader.streams) for reader in self.readers)

    @staticmethod
    def _left_of(stream):
        return max(0, stream.shards.length - sum(stream.shards.read)) + len(stream.buffer) + len(stream.ready)

    def state_dict(self):
        at_end = self.loop_steps > 0 and self.parts.passes == "epoch" and self.at_end()
        state = {
            "epoch": self.epoch,
            "steps": self.steps,
            "loop_steps": self.loop_steps,
            "readers": [reader.state() for reader in self.readers],
            "own_count": self.own_count,
            "ends": at_end and self.parts.epoch_edge != "new",
            "begins": self.loop_steps == 0,
            "offset": self.offset,
            "first_ranks": self.first_ranks,
            "batch": self.batch,
            "trained": self.trained,
        }
        if self.parts.counted_at == "issued" and self.loop_steps:
            for reader, its in zip(self.readers, state["readers"], strict=True):
                for stream, one in zip(reader.streams, its["streams"], strict=True):
                    ahead = deepcopy(stream.shards)
                    for _ in range(self.parts.prefetch * self.batch):
                        ahead.next()
                    one |= ahead.state()
        if self.parts.on_layout_change == "redivide":
            state |= {"order": self.in_steps(), "dealt_from": self.dealt_from, "dealt_anew": self.dealt_anew}
        if self.parts.partition == "queue":
            then = self.as_issued() if self.parts.counted_at == "issued" else self
            doing = [shard for reader in then.readers for shard in reader.streams[0].shards.unfinished()]
            state["left"] = (doing if self.parts.unfinished_shard == "again" else []) + then.queue.todo
        if self.parts.comes_back == "remainder":
            state["left"] = self._unread(self.readers[0])
        if at_end and self.parts.epoch_edge == "new":
            state |= {"epoch": self.epoch + 1, "loop_steps": 0, "readers": None, "begins": True, "own_count": 0}
        return deepcopy(state)

    def as_issued(self):
        """The same loader when it has fetched its batches ahead, as far as every rank has one."""
        then = self
        for _ in range(self.parts.prefetch):
            further = deepcopy(then)
            if any(reader.next() is None for reader in further.readers):
                break
            then = further
        return then

    @staticmethod
    def _unread(reader):
        ids = []
        for stream in reader.streams:
            parts = stream.parts
            if parts.buffer_kind == "window" or parts.buffer_saved:
                ids += stream.buffer + stream.ready
            for group, read in zip(stream.shards.groups, stream.shards.read, strict=True):
                ids += group[read:]
        return ids

    def come_back(self, state, ranks_before, restart):
        """Stand where a checkpoint of a job of `ranks_before` ranks lets it stand. Raises RefusedError."""
        parts = self.parts
        self.family = restart if parts.comes_back in ("reshuffle", "reshuffle-epoch") else 0
        if not state["steps"]:  # no checkpoint: the run begins anew
            self.begin(0)
            return
        if parts.comes_back == "remainder":
            self.family = restart
        other_layout = parts.on_layout_change == "refuse" and self.ranks != ranks_before
        if parts.comes_back == "refuse" or other_layout:
            raise RefusedError(f"saved with {ranks_before} ranks, {self.ranks} come back")
        alone = parts.partition != "global" and self.ranks > ranks_before  # a reader without a state of its own
        if alone and parts.missing_state == "refuse":
            raise RefusedError(f"{ranks_before} states for {self.ranks} ranks")
        self.steps = state["steps"]
        self.forgot_epoch = parts.order_epoch == "first"
        self.offset, self.first_ranks = state["offset"], state["first_ranks"]
        self.first_epoch = state["epoch"]
        if parts.comes_back == "restart-run" or parts.saves == "nothing":
            self.begin(0)
        elif parts.comes_back == "next-epoch":
            at_start = parts.saves == "samples" and state["begins"]  # an epoch number alone does not tell
            self.begin(state["epoch"] + (0 if at_start else 1))
        elif parts.comes_back in ("restart-epoch", "reshuffle-epoch") or parts.saves == "epoch":
            self.begin(state["epoch"])
            if parts.loop_counter == "kept":
                self.loop_steps = state["loop_steps"]
        elif state["ends"] and self._goes_to_the_next():
            self.forgot_epoch = False
            if parts.reshuffle_lasts == "epoch":
                self.family = 0
            self.begin(state["epoch"] + (2 if parts.epoch_edge == "finished" else 1))
        elif parts.saves == "steps" and parts.last_batch == "span":
            self.stand_at(state["steps"] * batch_of(parts.ramp, state["trained"], self.batch))
        elif parts.saves == "steps" and parts.rank_batch:
            self._skip_todays_steps(state)
        else:
            self.begin(state["epoch"])
            if state["readers"] is not None:
                self._go_on(state, ranks_before)

    def _goes_to_the_next(self):
        """Whether a state at the end of an epoch leads to the next one at once, which begins in its own order."""
        whole = self.parts.counted_in == 1 and not self.parts.taken_for and not self.parts.takes_back
        sound = self.parts.past_end == "end" and self.parts.miscount == "none" and whole
        return self.parts.epoch_edge == "finished" or (self.parts.partition == "global" and sound)

    def begin(self, epoch):
        """The start of an epoch, in the order that the loader comes back to."""
        self.epoch = epoch
        self.loop_steps = self.own_count = 0
        self.readers = self.fresh_readers()
        self.whole = self.steps_at_start()

    def stand_at(self, samples):
        """Behind so many samples of the endless sequence, those that are skipped not among them."""
        position = 0
        while samples:
            samples -= position not in self.parts.skip
            position += 1
        self.begin(position // self.corpus.samples)
        for _ in range(position % self.corpus.samples):
            self.readers[0].streams[0].next()
            self.loop_steps = 1

    def _skip_todays_steps(self, state):
        """The run's steps, counted in today's batches: so many epochs, so many steps of this one."""
        self.begin(state["steps"] // self.steps_per_epoch())
        for _ in range(state["steps"] % self.steps_per_epoch()):
            self.readers[0].next()
            self.loop_steps += 1

    def _go_on(self, state, ranks_before):
        parts, changed = self.parts, self.ranks != ranks_before
        state = deepcopy(state)
        for stream in [stream for its in state["readers"] for stream in its["streams"] or []]:
            stream["read"] = [max(0, k - parts.takes_back * state["batch"]) for k in stream["read"]]
        self.loop_steps, self.own_count = state["loop_steps"], state["own_count"]
        if parts.partition == "queue":
            self.left = state["left"]
            self.readers = self.fresh_readers()
        elif parts.comes_back == "remainder":
            self.corpus.random("remainder", self.family).shuffle(state["left"])
            self.left = state["left"]
            self.readers = self.fresh_readers()
        elif parts.miscount == "rank-as-global":
            self.readers[0].streams[0].shards.read = [state["own_count"]]
        elif parts.counted_in > 1 or parts.taken_for:
            self._go_on_in_units(state)
        elif parts.saves == "steps":
            self._fast_forward(state)
        elif changed and parts.on_layout_change == "redivide":
            self._redivide(state)
        elif changed and parts.on_layout_change == "reshard":
            self._keep_local(self._equal_shares(state["readers"]))
        else:
            if parts.on_layout_change == "redivide":
                self.order, self.dealt_from, self.dealt_anew = state["order"], state["dealt_from"], state["dealt_anew"]
                self.readers = self.fresh_readers()
            self._keep_local(self._states_for(state["readers"]))
        if parts.comes_back == "reapply":
            self.offset = max(self.offset, sum(state["readers"][0]["streams"][0]["read"]))

    def _states_for(self, states):
        """Whose state each reader takes, None for a reader that starts afresh."""
        spare = states[0] if self.parts.missing_state == "rank-0" else None
        return [states[r] if r < len(states) else spare for r in range(self.readers_count)]

    def _fast_forward(self, state):
        for reader, its in zip(self.readers, self._states_for(state["readers"]), strict=True):
            skipped = its["batches"] if its else 0
            for _ in range(skipped):
                if reader.next() is None and self.parts.past_end == "refuse":
                    raise RefusedError("the position lies behind the end of the part")
            reader.batches = {"doubled": 2, "last-leg": 0}.get(self.parts.miscount, 1) * skipped

    def _go_on_in_units(self, state):
        """The position (or the batches of the loop so far) in whole units, each taken for so many samples."""
        parts, its = self.parts, state["readers"][0]
        stream, length = its["streams"][0], self.readers[0].streams[0].shards.length
        counted = min(its["batches"] * self.batch if parts.saves == "steps" else stream["read"][0], length)
        stream["read"] = [counted // parts.counted_in * (parts.taken_for or parts.counted_in)]
        self._keep_local([its])

    def in_steps(self):
        """The samples of the epoch in the order in which the ranks that began it read them, step by step."""
        if self.order is not None:
            return self.order
        ids, readers = [], self.fresh_readers()
        while any(batches := [reader.next() or [] for reader in readers]):
            ids += [x for rows in batches for x in rows]
        return ids

    def _redivide(self, state):
        share = self.corpus.samples // self.readers_count
        count = max(sum(map(self._position, r["streams"])) for r in state["readers"])
        if count > share:
            raise RefusedError(f"{count} samples read of {share} that a reader has")
        order, step = state["order"], self.readers_count * self.batch
        position = state["dealt_from"] + sum(sum(one["read"]) for its in state["readers"] for one in its["streams"])
        if position >= len(order):
            return
        self.order, self.dealt_from = order, position // step * step
        left, streams = order[self.dealt_from :], self.readers_count * self.parts.workers
        if self.parts.last_batch == "drop":
            left = left[: len(left) // (streams * self.batch) * streams * self.batch]
        self.dealt_anew = [[] for _ in range(streams)]
        for k in range(0, len(left), self.batch):
            turn = k // self.batch % streams  # the first stream of every reader, then the second
            self.dealt_anew[turn] += left[k : k + self.batch]
        self.readers = self.fresh_readers()

    @staticmethod
    def _position(stream):
        """How far a saved stream has come: what it had yielded, if the state holds the rest of what it had read."""
        return stream["yielded"] if "buffer" in stream else sum(stream["read"]) + stream.get("used", 0)

    def _equal_shares(self, states):
        """A state for each reader: the global position, divided equally over all streams, and nothing in a buffer."""
        total = sum(self._position(stream) for its in states for stream in its["streams"] or [])
        each = -(-total // (self.readers_count * self.parts.workers))
        stream = {"read": [each], "turn": 0, "yielded": each}
        counts = {name: max(its[name] for its in states) for name in ("batches", "since")}
        one = {"streams": [stream] * self.parts.workers, "turn": 0, "ahead": []} | counts
        return [deepcopy(one) for _ in self.readers]

    def _keep_local(self, states):
        for reader, its in zip(self.readers, states, strict=True):
            if its is None:
                continue
            if its["streams"] is not None:
                read = [sum(stream["read"]) + stream.get("used", 0) for stream in its["streams"]]
                length = [stream.shards.length for stream in reader.streams]
                holds = any(stream.get("buffer") or stream.get("ready") for stream in its["streams"])
                if self.parts.past_end == "restart-epoch" and sum(read) >= sum(length) and not holds:
                    continue
                if self.parts.past_end == "refuse" and any(a > b for a, b in zip(read, length, strict=True)):
                    raise RefusedError(f"{sum(read)} samples read of {sum(length)} that the reader has")
            reader.load(its)
