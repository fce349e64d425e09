"""The literal loader, composed as `compositions.py` says, playing a measured row."""

from collections import Counter

import literal
from measured.compositions import composition


def key(row):
    """What the outcome depends on, so that rows that are alike are played once; None if nothing composes it."""
    parts = composition(row.loader, row.version)
    return None if parts is None else (*parts, row.samples, row.shards, row.batch, row.epochs, row.attempts)


def play(row, seed):
    """Histograms {ending: {times seen: samples}}, None if the loader refuses to come back."""
    parts, order = composition(row.loader, row.version)
    corpus = literal.Corpus(row.samples, row.shards, order, seed)
    starts = [0, *(checkpoint for _, checkpoint, _ in row.attempts[:-1])]
    lives = [
        literal.Attempt(ranks, start, crash) for start, (ranks, _, crash) in zip(starts, row.attempts, strict=True)
    ]
    line = literal.run(parts, corpus, lives, row.batch, row.epochs, row.steps)
    if line.refused:
        return None
    counts = {"E": line.counts(row.samples, epochs=row.epochs), "T": line.counts(row.samples, steps=row.steps)}
    return {ending: dict(Counter(seen)) for ending, seen in counts.items()}
