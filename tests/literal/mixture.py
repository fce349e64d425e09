"""A literal loader of several corpora: for each sample of a batch, one corpus has its turn and yields one sample."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

from literal.loader import Loader, batch_of


@dataclass(frozen=True)
class Mixed:
    """Corpora, and a whole weight for each."""

    corpora: tuple
    weights: tuple


class Mixture:
    """One process of a job that reads a mixture; a sample is (corpus, id)."""

    def __init__(self, parts, mixed, batch, epochs, ranks, attempt=0):
        self.parts, self.weights, self.batch, self.epochs, self.ranks = parts, mixed.weights, batch, epochs, ranks
        alone = replace(parts, ramp=())
        self.loaders = [Loader(alone, corpus, 1, epochs, ranks, attempt) for corpus in mixed.corpora]
        self.epoch, self.steps, self.trained = 0, 0, 0
        self.turns, self.had = [], [0] * len(self.weights)

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

    def next_step(self):
        """The samples of one step, each with its corpus's epoch."""
        step = []
        for _ in range(batch_of(self.parts.ramp, self.trained, self.batch)):
            corpus = self.turn(self.trained)
            ((epoch, sample),) = self.loaders[corpus].next_step()
            step.append((epoch, (corpus, sample)))
            self.trained += 1
        self.steps += 1
        return step

    def state_dict(self):
        return {"corpora": [loader.state_dict() for loader in self.loaders], "steps": self.steps}

    def come_back(self, state, ranks_before, restart):
        """Each corpus for itself. Raises RefusedError."""
        for loader, its in zip(self.loaders, state["corpora"], strict=True):
            loader.come_back(its, ranks_before, restart)
