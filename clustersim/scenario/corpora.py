"""Corpora that the batches of a run are mixed of."""

import math
from collections.abc import Sequence

import numpy as np

from clustersim.scenario.blend import Blend
from clustersim.scenario.errors import closest, wrong
from clustersim.scenario.part import Part
from clustersim.scenario.quantities import LIMIT
from clustersim.scenario.units import Name, PositiveCount

_MOST_CORPORA = 100
# The turns of a period are held in memory, once a corpus.
_LONGEST_PERIOD = 10_000


class Corpus(Part):
    """One of the corpora, with its own position, order and epochs: when it is read through it begins anew."""

    name: Name
    """Its name, unique among the corpora."""
    samples: PositiveCount
    """Samples of the corpus."""
    weight: PositiveCount
    """Its share of what is read, as a part of the sum of all weights: in percent, say. Of the first P samples of a run
    it has P times its share, rounded down or up, whatever P is; with a loader that counts batches, of each."""
    shards: PositiveCount = 1
    """Files of samples."""


def check_corpora(corpora: Sequence[Corpus]) -> None:
    """Raise the error of a validator, with its key, where corpora do not go together."""
    if not 1 < len(corpora) <= _MOST_CORPORA:
        raise wrong(f"2 to {_MOST_CORPORA} corpora", str(len(corpora)), key="corpora")
    names = [corpus.name for corpus in corpora]
    for number, corpus in enumerate(corpora):
        if corpus.name in names[:number]:
            raise wrong("a name that no other corpus has", f'"{corpus.name}"', key=f"corpora.{number}.name")
        if corpus.shards > corpus.samples:
            expected = f"at most {corpus.samples}, the samples of the corpus"
            raise wrong(expected, str(corpus.shards), key=f"corpora.{number}.shards")
    weights = [corpus.weight for corpus in corpora]
    period = sum(weights) // math.gcd(*weights)
    if period > _LONGEST_PERIOD:
        expected = f"weights of at most {_LONGEST_PERIOD} together, in lowest terms: hundredths of a percent"
        raise wrong(expected, str(period), key="corpora")


def ending(corpora: Sequence[Corpus], name: str | None) -> list[bool]:
    """Whether the epochs of each corpus end the run: those of the one with that name, or of all.

    Raises the error of a validator, with its key, where there is none of that name.
    """
    names = [corpus.name for corpus in corpora]
    if name is not None and name not in names:
        raise wrong("the name of one of data.corpora", f'"{name}"', key="run.epochs_of", nearest=closest(name, names))
    return [name in (None, each) for each in names]


def positions_until(corpora: Sequence[Corpus], epochs: int, name: str | None) -> int:
    """Positions of the mixture before the first one that would begin another epoch of a corpus that ends the run.

    Raises the error of a validator, with its key, where they are too many, or there is no corpus of that name.
    """
    blend = Blend([corpus.weight for corpus in corpora])
    ends = []
    for number, (corpus, ends_it) in enumerate(zip(corpora, ending(corpora, name), strict=True)):
        if epochs * corpus.samples * blend.period >= LIMIT:
            raise wrong(f"epochs of fewer than {LIMIT // blend.period:.3g} samples", str(epochs), key="run.epochs")
        if ends_it:
            ends.append(int(blend.position_of(number, np.array([epochs * corpus.samples]))[0]))
    return min(ends)


def shares(corpora: Sequence[Corpus], batch: int) -> list[int]:
    """The samples that each corpus has of every batch, rounded down."""
    whole = sum(corpus.weight for corpus in corpora)
    return [batch * corpus.weight // whole for corpus in corpora]


def check_shares(corpora: Sequence[Corpus], batch: int, ranks: int, constant: bool, workers: int) -> None:
    """Raise the error of a validator where a loader that counts batches cannot take the same share of every one.

    Args:
        corpora: the corpora.
        batch: samples of a batch.
        ranks: at full layout.
        constant: each rank takes as much with other ranks, so that they have to divide the share.
        workers: of a rank, each of which needs a shard; 0 where shards are not dealt out.
    """
    if sum(shares(corpora, batch)) != batch:
        expected = "a batch that the weights of data.corpora divide, with a loader whose batches do not span epochs"
        raise wrong(expected, str(batch), key="model.global_batch")
    for number, (corpus, share) in enumerate(zip(corpora, shares(corpora, batch), strict=True)):
        if share < ranks or (constant and share % ranks):
            least = f"a multiple of {ranks}" if constant else f"at least {ranks}"
            expected = f"a share of {least} samples of a batch, for {ranks} ranks, with batches that do not span epochs"
            raise wrong(expected, str(share), key=f"data.corpora.{number}.weight")
        if corpus.samples < share:
            expected = f"at least {share} samples, the corpus's share of a batch that does not span epochs"
            raise wrong(expected, str(corpus.samples), key=f"data.corpora.{number}.samples")
        if corpus.shards < ranks * workers:
            expected = f"at least {ranks * workers} shards, one for each of {ranks} ranks x {workers} workers"
            raise wrong(expected, str(corpus.shards), key=f"data.corpora.{number}.shards")
