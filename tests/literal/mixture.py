"""A literal loader of several corpora: for each sample of a batch, one corpus has its turn and yields one sample."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

from literal.loader import Loader, batch_of


@dataclass(frozen=True)
class Mixed:
    """Corpora, and a whole weight for each: of positions, or where batches do not span epochs of every batch."""

    corpora: tuple
    weights: tuple
    ends: tuple = ()  # for each corpus the epochs after which it ends the run; None or nothing: it never does


class Mixture:
    """One process of a job that reads a mixture; a sample is (corpus, id)."""

    def __init__(self, parts, mixed, batch, epochs, ranks, attempt=0):
        self.parts, self.weights, self.batch, self.epochs, self.ranks = parts, mixed.weights, batch, epochs, ranks
        self.singly = parts.last_batch == "span"
        self.turns, self.places, self.had = [], [], [0] * len(mixed.weights)
        skips = [tuple(own for k, own in map(self.own, parts.skip) if k == corpus) for corpus in range(len(self.had))]
        shares = [1 if self.singly else batch * weight // sum(mixed.weights) for weight in mixed.weights]
        self.loaders = [
            Loader(replace(parts, ramp=(), skip=skip), corpus, share, epochs, ranks, attempt)
            for corpus, share, skip in zip(mixed.corpora, shares, skips, strict=True)
        ]
        self.epoch, self.steps, self.trained = 0, 0, 0
        self.ends = mixed.ends or (None,) * len(self.weights)

    def turn(self, position):
        """Whose turn it is: of those whose next turn may come already, the one whose turn has to come first."""
        while len(self.turns) <= position:
            whole, now = sum(self.weights), len(self.turns)

            def place(k, turns, whole=whole):
                return Fraction(turns * whole, self.weights[k])

            open_ones = [k for k, had in enumerate(self.had) if floor(place(k, had)) <= now]
            first = min(open_ones, key=lambda k: (ceil(place(k, self.had[k] + 1)), k))
            self.turns.append(first)
            self.had[first] += 1
        return self.turns[position]

    def own(self, position):
        """Whose turn a position of the mixture is, and which of that corpus's own positions."""
        corpus = self.turn(position)
        return corpus, self.turns[:position].count(corpus)

    def place(self, number):
        """The position of the mixture that is read as sample `number` of a run, from 0."""
        while len(self.places) <= number:
            position = self.places[-1] + 1 if self.places else 0
            while position in self.parts.skip:
                position += 1
            self.places.append(position)
        return self.places[number]

    def next_step(self):
        """The samples of one step, each with its corpus's epoch; None if a corpus is at its end."""
        if not self.singly:
            return self.next_shares()
        step, batch = [], batch_of(self.parts.ramp, self.trained, self.batch)
        turns = [self.turn(self.place(number)) for number in range(self.trained, self.trained + batch)]
        for corpus, (loader, end) in enumerate(zip(self.loaders, self.ends, strict=True)):
            left = range(loader.position(), (end or 0) * loader.corpus.samples)
            if end is not None and turns.count(corpus) > sum(own not in loader.parts.skip for own in left):
                return None
        for corpus in turns:
            ((epoch, sample),) = self.loaders[corpus].next_step()
            step.append((epoch, (corpus, sample)))
            self.trained += 1
        self.steps += 1
        return step

    def next_shares(self):
        """A batch of every corpus's own loader."""
        step = []
        for corpus, loader in enumerate(self.loaders):
            rows, tries = None if loader.epoch == self.ends[corpus] else loader.next_step(), 0
            while rows is None and self.parts.passes == "epoch" and tries < 3:
                if loader.epoch + 1 == self.ends[corpus]:
                    return None
                loader.begin_epoch(loader.epoch + 1)
                rows, tries = loader.next_step(), tries + 1
            if rows is None:
                return None
            step += [(epoch, (corpus, sample)) for epoch, sample in rows]
        self.trained += len(step)
        self.steps += 1
        return step

    def begin_epoch(self, epoch):
        """A mixture has none of its own: who asks for the next step again is told again that there is none."""

    def state_dict(self):
        states = [loader.state_dict() for loader in self.loaders]
        return {"corpora": states, "steps": self.steps, "trained": self.trained}

    def come_back(self, state, ranks_before, restart):
        """Each corpus for itself. Raises RefusedError."""
        for loader, its in zip(self.loaders, state["corpora"], strict=True):
            loader.come_back(its, ranks_before, restart)
        if self.singly and self.parts.saves == "steps" and state["steps"]:
            position = state["steps"] * batch_of(self.parts.ramp, state["trained"], self.batch)
            read = [self.turn(self.place(number)) for number in range(position)]
            for corpus, loader in enumerate(self.loaders):
                loader.stand_at(read.count(corpus))
