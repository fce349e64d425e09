"""Our word on loaders that have no preset yet: each a few plain lines that yield sample ids. Slow and obvious."""

import random


def shuffled(corpus, epoch):
    """An epoch's samples in a random order."""
    samples = list(range(corpus.samples))
    random.Random(f"{corpus.seed} {epoch}").shuffle(samples)
    return samples


class PerRank:
    """Each rank reads every R-th sample of one permutation, padded to equal parts from its beginning.

    The checkpoint keeps how many samples the rank took of its part.
    """

    ahead = 0  # batches that are fetched before they are asked for, and count as taken

    def __init__(self, seat, state):
        self.seat, self.skip, self.taken = seat, state or 0, 0

    def part(self, epoch):
        order, ranks = shuffled(self.seat.corpus, epoch), self.seat.ranks
        order += order[: -len(order) % ranks]
        return order[self.seat.rank :: ranks]

    def batches(self, epoch):
        part = self.part(epoch)
        self.taken, self.skip = min(self.skip, len(part)), 0
        while self.taken < len(part):
            batch = part[self.taken : self.taken + self.seat.batch]
            self.taken += len(batch)
            yield batch

    def state(self):
        fetched = self.taken + self.ahead * self.seat.batch
        return min(fetched, len(self.part(0)))


class PerRankFetched(PerRank):
    """Two workers fetch two batches each ahead."""

    ahead = 4
