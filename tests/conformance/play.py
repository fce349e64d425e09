"""Plays a training job through a real library's loader: it crashes, comes back from a checkpoint, and ends.

All ranks live in this process, each with a loader of its own. A crash throws the loaders away, after some steps whose
batches the final model forgets; the restart builds new ones from what the checkpoint kept.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Protocol

LOST_STEPS = 3
"""Steps trained after a checkpoint and rolled back by the crash."""


@dataclass(frozen=True)
class Corpus:
    """`samples` in `shards`, as even as they go, read `epochs` times in global batches of `batch`."""

    samples: int
    shards: int
    batch: int
    epochs: int
    seed: int = 7

    @property
    def shard_samples(self) -> list[range]:
        """The samples of each shard; the first ones are longer where the samples do not divide."""
        size, longer = divmod(self.samples, self.shards)
        starts = [index * size + min(index, longer) for index in range(self.shards + 1)]
        return [range(start, stop) for start, stop in pairwise(starts)]

    @property
    def steps(self) -> int:
        """Whole global batches in all epochs: a run that ends after its steps takes so many."""
        return self.epochs * self.samples // self.batch


@dataclass(frozen=True)
class History:
    """The ranks of each leg, and the step of the checkpoint that each leg but the first comes back from."""

    name: str
    ranks: tuple[int, ...]
    checkpoints: tuple[int, ...] = ()


@dataclass(frozen=True)
class Job:
    """A corpus that is read, and what happens meanwhile."""

    corpus: Corpus
    history: History

    @property
    def plan(self) -> "Job":
        """The same without a crash: the first layout throughout."""
        return Job(self.corpus, History("plan", self.history.ranks[:1]))

    def __str__(self) -> str:
        return f"{self.corpus.samples} samples, {self.history.name}"


@dataclass(frozen=True)
class Seat:
    """Where a loader is built: which rank of how many, in which life of the job, with files under `folder`."""

    corpus: Corpus
    folder: Path
    rank: int
    ranks: int
    life: int

    @property
    def batch(self) -> int:
        """Samples that the rank reads a step."""
        return self.corpus.batch // self.ranks


class Reader(Protocol):
    """One rank's loader in one life of the job."""

    def batches(self, epoch: int) -> Iterator[Sequence[int]]:
        """The sample ids of the rank's batches in an epoch, from where the loader stands."""

    def state(self) -> Any:
        """What a checkpoint keeps of the loader after the batch that was delivered last."""


Opens = Callable[[Seat, Any], Reader]
"""Builds a rank's loader; with the state that the rank saved, or None if it has none."""


Ends = Literal["epochs", "steps"]
"""A run ends when the loop over its epochs does, or after its steps."""


class Usage(Protocol):
    """What the user's own loop does."""

    ends: tuple[Ends, ...]
    saves_epoch: bool  # or counts its epochs from 0 after each restart
    rank_0_for_new: bool  # ranks that saved no state take rank 0's, or start the epoch fresh
    refusals: tuple[type[Exception], ...]  # the exceptions by which the loader refuses a restart


@dataclass(frozen=True)
class Saved:
    """A job's checkpoint: the epoch that its loop is in, and the state of each rank's loader."""

    epoch: int = 0
    states: tuple[Any, ...] = ()


@dataclass
class Played:
    """The batches that the final model is made of, a list of sample ids by step, beyond both ends of the run."""

    batches: list[list[int]] = field(default_factory=list)
    epochs_end: int = 0  # the step at which the loop over the epochs ended
    refused: str | None = None  # why a restart was refused


def play(usage: Usage, opens: Opens, job: Job, folder: Path) -> Played:
    """Play a job until its loop over the epochs has ended and it has trained the corpus' steps."""
    corpus, history, played, saved = job.corpus, job.history, Played(), Saved()
    for life, ranks in enumerate(history.ranks):
        if not usage.saves_epoch:
            saved = Saved(0, saved.states)
        new_rank = saved.states[0] if usage.rank_0_for_new and saved.states else None
        states = saved.states + (new_rank,) * ranks
        try:
            readers = [opens(Seat(corpus, folder, rank, ranks, life), states[rank]) for rank in range(ranks)]
            if life < len(history.checkpoints):
                saved = _train_and_crash(readers, saved.epoch, history.checkpoints[life], played)
            else:
                _train_to_the_end(readers, saved.epoch, corpus, played)
        except usage.refusals as refusal:
            if life == 0:
                raise
            played.refused = f"{type(refusal).__name__}: {refusal}"
            break
    return played


def _steps(readers: list[Reader], epoch: int) -> Iterator[list[int]]:
    """An epoch's global batches; a step exists only while every rank delivers."""
    ranks = [reader.batches(epoch) for reader in readers]
    while all(parts := [next(rank, ()) for rank in ranks]):
        yield [int(sample) for part in parts for sample in part]


def _train_and_crash(readers: list[Reader], epoch: int, checkpoint: int, played: Played) -> Saved:
    """Train beyond the checkpoint, then lose what came after it."""
    saved = None
    while True:
        delivered = len(played.batches)
        for batch in _steps(readers, epoch):
            played.batches.append(batch)
            if len(played.batches) == checkpoint:
                saved = Saved(epoch, tuple(reader.state() for reader in readers))
            if len(played.batches) == checkpoint + LOST_STEPS:
                del played.batches[checkpoint:]
                assert saved is not None
                return saved
        assert len(played.batches) > delivered, f"epoch {epoch} delivers nothing, and the checkpoint is not reached"
        epoch += 1


def _train_to_the_end(readers: list[Reader], epoch: int, corpus: Corpus, played: Played) -> None:
    """Train through the last epoch, and then on, in further epochs, to as many steps as were planned."""
    while epoch < corpus.epochs:
        played.batches.extend(_steps(readers, epoch))
        epoch += 1
    played.epochs_end = len(played.batches)
    while len(played.batches) < corpus.steps:
        delivered = len(played.batches)
        played.batches.extend(_steps(readers, epoch))
        epoch += 1
        if len(played.batches) == delivered:
            break
