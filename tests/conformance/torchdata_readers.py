"""torchdata: StatefulDataLoader over map-style and iterable data sets."""

from random import Random

from torch.utils.data import IterableDataset, get_worker_info
from torchdata.stateful_dataloader import StatefulDataLoader
from torchdata.stateful_dataloader.sampler import StatefulDistributedSampler


class MapStyle:
    """A StatefulDistributedSampler; the checkpoint keeps the loader's state."""

    workers = 0
    snapshot_every = 1

    def __init__(self, seat, state):
        samples = range(seat.corpus.samples)
        self.sampler = StatefulDistributedSampler(samples, seat.ranks, seat.rank, seed=seat.corpus.seed)
        self.loader = StatefulDataLoader(
            samples,
            batch_size=seat.batch,
            sampler=self.sampler,
            num_workers=self.workers,
            snapshot_every_n_steps=self.snapshot_every,
        )
        if state is not None:
            self.loader.load_state_dict(state)

    def batches(self, epoch):
        self.sampler.set_epoch(epoch)
        yield from (batch.tolist() for batch in self.loader)

    def state(self):
        return self.loader.state_dict()


class MapStyleSnapshots(MapStyle):
    """Two workers, whose states are taken every 7 batches."""

    workers = 2
    snapshot_every = 7


class Stream(IterableDataset):
    """A rank's shards, in an order of the epoch's own, divided among its workers. It has no state of its own."""

    def __init__(self, seat):
        self.seat, self.epoch = seat, 0

    def samples(self):
        """The samples of this process, in order."""
        shards = list(self.seat.corpus.shard_samples)
        Random(f"{self.seat.corpus.seed} {self.epoch}").shuffle(shards)
        worker = get_worker_info()
        mine = shards[self.seat.rank :: self.seat.ranks]
        return [sample for shard in (mine[worker.id :: worker.num_workers] if worker else mine) for sample in shard]

    def __iter__(self):
        yield from self.samples()


class StreamWithPosition(Stream):
    """Its state is how many samples it took of its shards."""

    def __init__(self, seat):
        super().__init__(seat)
        self.taken, self.saved = 0, None

    def pull(self):
        samples = self.samples()
        resumes = self.saved is not None and self.saved["epoch"] == self.epoch
        self.taken = self.saved["taken"] if resumes else 0
        while self.taken < len(samples):
            self.taken += 1
            yield samples[self.taken - 1]

    def __iter__(self):
        yield from self.pull()

    def state_dict(self):
        return {"epoch": self.epoch, "taken": self.taken}

    def load_state_dict(self, state):
        self.saved = state


class StreamBehindBuffer(StreamWithPosition):
    """A shuffle buffer of 64 behind it, which the state leaves out."""

    def __init__(self, seat):
        super().__init__(seat)
        self.buffer, self.random = [], Random()

    def __iter__(self):
        self.refill()
        for sample in self.pull():
            if len(self.buffer) < 64:
                self.buffer.append(sample)
                continue
            index = self.random.randrange(64)
            out, self.buffer[index] = self.buffer[index], sample
            yield out
        while self.buffer:
            yield self.buffer.pop(self.random.randrange(len(self.buffer)))

    def refill(self):
        worker = get_worker_info()
        seeds = self.seat.corpus.seed, self.epoch, self.seat.rank, worker and worker.id
        self.buffer, self.random = [], Random(str(seeds))


class StreamWithBuffer(StreamBehindBuffer):
    """The state holds the buffer and its random stream."""

    def refill(self):
        super().refill()
        if self.saved is not None and self.saved["epoch"] == self.epoch:
            self.buffer = list(self.saved["buffer"])
            self.random.setstate(self.saved["random"])

    def state_dict(self):
        return super().state_dict() | {"buffer": list(self.buffer), "random": self.random.getstate()}


class _Iterable:
    """A StatefulDataLoader over one of the streams."""

    stream = Stream
    workers = 0

    def __init__(self, seat, state):
        self.data = self.stream(seat)
        self.loader = StatefulDataLoader(self.data, batch_size=seat.batch, num_workers=self.workers)
        if state is not None:
            self.loader.load_state_dict(state)

    def batches(self, epoch):
        self.data.epoch = epoch
        yield from (batch.tolist() for batch in self.loader)

    def state(self):
        return self.loader.state_dict()


class Stateless(_Iterable):
    pass


class WithPosition(_Iterable):
    stream = StreamWithPosition


class WithPosition2(WithPosition):
    workers = 2


class BehindBuffer(_Iterable):
    stream = StreamBehindBuffer


class BehindBuffer2(BehindBuffer):
    workers = 2


class WithBuffer(_Iterable):
    stream = StreamWithBuffer
