"""accelerate: a prepared DataLoader, as its Accelerator and transformers' Trainer make it."""

from accelerate import skip_first_batches
from accelerate.data_loader import prepare_data_loader
from accelerate.state import PartialState
from torch.utils.data import DataLoader, IterableDataset


class Skipping:
    """A seedable sampler; the trained batches of the epoch are skipped."""

    stateful = False

    def __init__(self, seat, state):
        PartialState(cpu=True)
        self.seat, self.skip, self.trained = seat, state or 0, 0
        self.loader = prepare_data_loader(
            self.plain_loader(),
            num_processes=seat.ranks,
            process_index=seat.rank,
            put_on_device=False,
            rng_types=[],
            use_seedable_sampler=True,
            data_seed=seat.corpus.seed,
            use_stateful_dataloader=self.stateful,
            dispatch_batches=False,
        )

    def plain_loader(self):
        return DataLoader(list(range(self.seat.corpus.samples)), batch_size=self.seat.batch, shuffle=True)

    def batches(self, epoch):
        self.loader.set_epoch(epoch)
        self.trained, self.skip = self.skip, 0
        loader = skip_first_batches(self.loader, self.trained) if self.trained else self.loader
        for batch in loader:
            self.trained += 1
            yield batch.tolist()

    def state(self):
        return self.trained


class NotSkipping(Skipping):
    """The epoch starts anew."""

    def state(self):
        return 0


class Stateful(Skipping):
    """torchdata's loader inside; the checkpoint keeps its state."""

    stateful = True

    def __init__(self, seat, state):
        super().__init__(seat, None)
        if state is not None:
            self.loader.load_state_dict(state)

    def state(self):
        return self.loader.state_dict()


class _Samples(IterableDataset):
    def __init__(self, samples):
        self.samples = samples

    def __iter__(self):
        yield from range(self.samples)


class SkippingIterable(Skipping):
    """An iterable data set, of which every rank reads everything and keeps its part."""

    def plain_loader(self):
        return DataLoader(_Samples(self.seat.corpus.samples), batch_size=self.seat.batch)
