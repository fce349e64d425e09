"""torchdata: StatefulDataLoader over map-style and iterable data sets."""

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
