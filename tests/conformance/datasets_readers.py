"""Hugging Face datasets: an IterableDataset of shards, split by node, with its own state."""

from itertools import islice

from datasets import IterableDataset
from datasets.distributed import split_dataset_by_node


def _read(shards):
    for shard in shards:
        yield from ({"sample": sample} for sample in shard)


class Unshuffled:
    """In the order of the files."""

    def __init__(self, seat, state):
        self.batch = seat.batch
        data = IterableDataset.from_generator(_read, gen_kwargs={"shards": seat.corpus.shard_samples})
        self.data = split_dataset_by_node(self.shuffled(data, seat.corpus.seed), rank=seat.rank, world_size=seat.ranks)
        if state is not None:
            self.data.load_state_dict(state)

    def shuffled(self, data, seed):
        return data

    def batches(self, epoch):
        self.data.set_epoch(epoch)
        rows = iter(self.data)
        while batch := [row["sample"] for row in islice(rows, self.batch)]:
            yield batch

    def state(self):
        return self.data.state_dict()


class ShardsShuffled(Unshuffled):
    """The shards are shuffled, with a buffer of one sample behind them."""

    def shuffled(self, data, seed):
        return data.shuffle(seed=seed, buffer_size=1)


class Buffered(Unshuffled):
    """The shards are shuffled, with a buffer of 64 samples behind them."""

    def shuffled(self, data, seed):
        return data.shuffle(seed=seed, buffer_size=64)


class BufferedOneShard(Unshuffled):
    """The buffer is fed from one shard at a time."""

    def shuffled(self, data, seed):
        return data.shuffle(seed=seed, buffer_size=64, max_buffer_input_shards=1)
