"""torch: DistributedSampler and DataLoader, as people use them."""

from itertools import islice

from torch.utils.data import DataLoader, DistributedSampler
from torchdata.stateful_dataloader.sampler import StatefulDistributedSampler


class Restarting:
    """set_epoch is called; the checkpoint keeps the epoch, and its first batch comes first again."""

    def __init__(self, seat, state):
        self.sampler = self.sampler_of(seat)
        self.loader = DataLoader(range(seat.corpus.samples), batch_size=seat.batch, sampler=self.sampler)

    def sampler_of(self, seat):
        return DistributedSampler(range(seat.corpus.samples), seat.ranks, seat.rank, seed=seat.corpus.seed)

    def batches(self, epoch):
        self.sampler.set_epoch(epoch)
        yield from (batch.tolist() for batch in self.loader)

    def state(self):
        return None


class WithoutSetEpoch(Restarting):
    """Every epoch is read in one order."""

    def batches(self, epoch):
        yield from (batch.tolist() for batch in self.loader)


class Skipping(Restarting):
    """Each rank skips the batches that were trained of the epoch."""

    def __init__(self, seat, state):
        super().__init__(seat, state)
        self.skip, self.trained = state or 0, 0

    def batches(self, epoch):
        self.trained, self.skip = self.skip, 0
        for batch in islice(super().batches(epoch), self.trained, None):
            self.trained += 1
            yield batch

    def state(self):
        return self.trained


class SkippingDropLast(Skipping):
    """drop_last for the sampler and for the loader."""

    def __init__(self, seat, state):
        super().__init__(seat, state)
        self.loader = DataLoader(
            range(seat.corpus.samples), batch_size=seat.batch, sampler=self.sampler, drop_last=True
        )

    def sampler_of(self, seat):
        return DistributedSampler(
            range(seat.corpus.samples), seat.ranks, seat.rank, seed=seat.corpus.seed, drop_last=True
        )


class NewPermutation(Skipping):
    """The batches are skipped, but every life of the job draws a seed of its own."""

    def sampler_of(self, seat):
        seed = seat.corpus.seed + 1000 * seat.life
        return DistributedSampler(range(seat.corpus.samples), seat.ranks, seat.rank, seed=seed)


class SamplerState(Restarting):
    """Two workers fetch two batches each ahead, and the checkpoint keeps the sampler's state."""

    def __init__(self, seat, state):
        super().__init__(seat, state)
        if state is not None:
            self.sampler.load_state_dict(state)
        self.loader = DataLoader(
            range(seat.corpus.samples),
            batch_size=seat.batch,
            sampler=self.sampler,
            num_workers=2,
            prefetch_factor=2,
        )

    def sampler_of(self, seat):
        return StatefulDistributedSampler(range(seat.corpus.samples), seat.ranks, seat.rank, seed=seat.corpus.seed)

    def state(self):
        return self.sampler.state_dict()
