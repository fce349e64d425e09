"""What there is to read: for each epoch the shards in reading order, each a list of sample ids."""

from itertools import pairwise
from random import Random


class Corpus:
    """`samples` ids in `shards` runs as even as they go, read in an order of its own (seed) or one that is handed in.

    order: sequential; shuffle (every epoch a permutation, one shard); shard-shuffle (shards permuted);
    samples-in-shards (shards permuted, and the samples in each of them, these afresh for each layout);
    with-replacement (shards drawn for each stream); sequential-once, shuffle-once (whatever is permuted is permuted the
    same way in every epoch). Or a function (family, epoch) -> list of shards; what is drawn may be handed in too, as a
    function (family, epoch, stream) -> shards.
    """

    def __init__(self, samples, shards=1, order="shuffle", seed=0, draws=None):
        size, longer = divmod(samples, shards)
        starts = [k * size + min(k, longer) for k in range(shards + 1)]
        self.shards = [list(range(a, b)) for a, b in pairwise(starts)]
        self.samples, self.order, self.seed, self._made = samples, order, seed, {}
        self.draws = draws or self._draws

    def random(self, *about):
        """A random stream of its own for whatever it is about."""
        return Random(f"{self.seed} {about}")

    def part_random(self, family, epoch, *reader):
        """The random stream by which a reader (r of n) permutes its own part, or that with which all begin."""
        return self.random("part", family, 0 if self.order == "sequential-once" else epoch, *reader)

    def _draws(self, family, epoch, stream):
        """Shards without end, each one of all."""
        random = self.random("order", family, epoch, stream)
        while True:
            yield random.choice(self.shards)

    def epoch(self, family, epoch, layout=0):
        """The epoch's shards in reading order. Only some orders depend on the layout."""
        if callable(self.order):
            return self.order(family, epoch)
        epoch = 0 if self.order.endswith("-once") else epoch
        about = (family, epoch, layout)
        if self.order != "samples-in-shards":
            about = (family, epoch)
        if about not in self._made:
            self._made[about] = self._make(*about)
        return self._made[about]

    def _make(self, family, epoch, layout=0):
        random = self.random("order", family, epoch)
        if self.order in ("sequential", "sequential-once"):
            return self.shards
        if self.order in ("shuffle", "shuffle-once"):
            ids = list(range(self.samples))
            random.shuffle(ids)
            return [ids]
        shards = list(self.shards)
        random.shuffle(shards)
        if self.order == "samples-in-shards":
            inner = self.random("inner", family, epoch, layout)
            shards = [inner.sample(shard, len(shard)) for shard in shards]
        return shards


def picked(values, random):
    """The values in random order, each taken out of its place, which the last one then fills."""
    left, out = list(values), []
    while left:
        place = random.randrange(len(left))
        left[place], left[-1] = left[-1], left[place]
        out.append(left.pop())
    return out
