"""The job loop: a step from every rank, states saved, crashes, restarts with other ranks; what the final model saw."""

from collections import Counter, deque
from copy import deepcopy
from dataclasses import dataclass, field

from literal.loader import Loader
from literal.mixture import Mixed, Mixture
from literal.streams import RefusedError


@dataclass(frozen=True)
class Attempt:
    """A life of the job: it comes back from the checkpoint of step `start` (the first one starts afresh) and dies when
    it has trained to step `stop`, having read to step `read`. The last attempt's stop is None: it runs to the end.
    In place there is no checkpoint: it is what the survivors know of that step that the others come back from."""

    ranks: int
    start: int = 0
    stop: int | None = None
    read: int | None = None
    in_place: bool = False


@dataclass
class Lineage:
    """What the final model is made of: for each step its samples, each with the epoch of the loop that read it."""

    steps: list = field(default_factory=list)
    refused: str | None = None
    ended: bool = False  # a stream that holds all its epochs came to its end

    def counts(self, samples, epochs=None, steps=None):
        """Views of each sample, list[samples]: in a loop over `epochs` epochs, or in the first `steps` steps."""
        seen = Counter(x for rows in self.steps[:steps] for epoch, x in rows if epochs is None or epoch < epochs)
        return [seen[x] for x in range(samples)]


def run(parts, corpus, attempts, batch, epochs, steps):
    """Play the attempts; the last one goes on until `epochs` epochs are over and `steps` steps are done.

    So one lineage answers both ways of ending: `counts(epochs=..)` and `counts(steps=..)`.
    """
    line, checkpoints, known = Lineage(), {}, {}
    needed = {attempt.start for attempt in attempts[1:]}
    loader = None
    for life, attempt in enumerate(attempts):
        kind = Mixture if isinstance(corpus, Mixed) else Loader
        before, loader = loader, kind(parts, corpus, batch, epochs, attempt.ranks, life)
        if life:
            ranks, state = known[attempt.start] = (known if attempt.in_place else checkpoints)[attempt.start]
            try:
                if parts.comes_back == "continue":
                    loader = before
                else:
                    loader.come_back(state, ranks, life)
            except RefusedError as reason:
                line.refused = str(reason)
                return line
            del line.steps[attempt.start :]
        elif 0 in needed:
            checkpoints[0] = known[0] = attempt.ranks, loader.state_dict()
        _play(loader, attempt, line, checkpoints, known, needed, epochs, steps)
    return line


def _play(loader, attempt, line, checkpoints, known, needed, epochs, steps):
    step, idle = attempt.start, 0
    loader.trained = sum(map(len, line.steps))
    loader.steps = step  # it is the trainer that counts them, whatever step the loader's state is of
    behind = max(0, -loader.parts.state_ahead)
    earlier = deque(maxlen=behind)
    while True:
        if attempt.stop is None and loader.epoch >= epochs and step >= steps:
            return
        if attempt.stop is not None and step == (attempt.read or attempt.stop):
            return
        if behind and not idle:
            first = step == attempt.start and step in checkpoints  # it is what it came back from
            earlier.append(checkpoints[step] if first else (loader.ranks, loader.state_dict()))
        rows = loader.next_step()
        if rows is None:
            idle += 1
            if loader.parts.passes != "epoch" or idle > 2:
                line.ended = True
                return
            loader.begin_epoch(loader.epoch + 1)
            continue
        idle = 0
        step += 1
        if attempt.stop is None or step <= attempt.stop:
            line.steps.append(rows)
            if step in needed:
                known[step] = loader.ranks, loader.state_dict()
                checkpoints[step] = earlier[0] if behind else (loader.ranks, _later(loader).state_dict())


def _later(loader):
    """The loader when it has delivered the batches by which the state in a checkpoint is ahead."""
    if not loader.parts.state_ahead:
        return loader
    for _ in range(loader.parts.state_ahead):
        earlier, loader = loader, deepcopy(loader)
        if loader.next_step() is None:
            if loader.parts.passes != "epoch":
                return earlier  # no step was delivered, whatever some readers have fetched for it
            loader.begin_epoch(loader.epoch + 1)
            loader.next_step()
    return loader
