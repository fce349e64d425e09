"""grain: a pipeline sliced for each rank, the DataLoader with an IndexSampler, and the ElasticIterator."""

import grain
from grain.experimental import ElasticIterator


class Sliced:
    """Shuffled, sliced and repeated; the state is how many samples the rank took of all epochs."""

    def __init__(self, seat, state):
        self.seat = seat
        self.rows = iter(self.pipeline())
        if state is not None:
            self.rows.set_state(state)

    def pipeline(self):
        corpus = self.seat.corpus
        samples = grain.MapDataset.source(range(corpus.samples)).seed(corpus.seed).shuffle()
        part = samples[self.seat.rank :: self.seat.ranks].repeat(corpus.epochs)
        return part.to_iter_dataset().batch(self.seat.batch, drop_remainder=False)

    def batches(self, epoch):
        yield from (batch.tolist() for batch in self.rows)

    def state(self):
        return self.rows.get_state()


class Indexed(Sliced):
    """The DataLoader with an IndexSampler."""

    def pipeline(self):
        corpus = self.seat.corpus
        shards = grain.sharding.ShardOptions(shard_index=self.seat.rank, shard_count=self.seat.ranks)
        sampler = grain.samplers.IndexSampler(
            corpus.samples, shard_options=shards, shuffle=True, num_epochs=corpus.epochs, seed=corpus.seed
        )
        return grain.DataLoader(
            data_source=range(corpus.samples),
            sampler=sampler,
            operations=[grain.transforms.Batch(self.seat.batch)],
            worker_count=0,
            shard_options=shards,
        )


class Elastic(Sliced):
    """The ElasticIterator, whose state any number of ranks can use."""

    def pipeline(self):
        corpus = self.seat.corpus
        samples = grain.MapDataset.source(range(corpus.samples)).seed(corpus.seed).shuffle().repeat(corpus.epochs)
        shards = grain.sharding.ShardOptions(shard_index=self.seat.rank, shard_count=self.seat.ranks)
        return ElasticIterator(samples, corpus.batch, shards)
