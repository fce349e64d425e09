"""litdata: a StreamingDataLoader over chunks on disk."""

from dataclasses import replace

from conformance import torchrun
from litdata import StreamingDataLoader, StreamingDataset
from litdata.streaming.cache import Cache


def chunks(seat):
    """The corpus as chunks of a shard's samples, written by whoever comes first."""
    folder = seat.folder / f"chunks-{seat.corpus.samples}"
    if not folder.exists():
        torchrun.become(replace(seat, rank=0, ranks=1))
        cache = Cache(str(folder), chunk_size=-(-seat.corpus.samples // seat.corpus.shards))
        for sample in range(seat.corpus.samples):
            cache[sample] = sample
        cache.done()
        cache.merge()
    return folder


class Shuffled:
    """Chunks and the samples in them are shuffled; the checkpoint keeps the loader's state."""

    drop_last = True

    def __init__(self, seat, state):
        self.seat = seat
        folder = chunks(seat)
        torchrun.become(seat)
        data = StreamingDataset(str(folder), shuffle=True, seed=seat.corpus.seed, drop_last=self.drop_last)
        self.loader = StreamingDataLoader(data, batch_size=seat.batch, num_workers=0)
        if state is not None:
            self.loader.load_state_dict(state)

    def batches(self, epoch):
        torchrun.become(self.seat)
        yield from (batch.tolist() for batch in torchrun.each_as(self.seat, iter(self.loader)))

    def state(self):
        torchrun.become(self.seat)
        return self.loader.state_dict()
