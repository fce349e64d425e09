"""A literal loader for every composition: plain iterators over sample ids, real state dictionaries. Slow and obvious.

`run(Parts(..), Corpus(..), [Attempt(..), ..], batch, epochs, steps)` is the lineage of a job. Its views of each sample:
`.counts(samples, epochs=E)` in a loop over E epochs, `.counts(samples, steps=T)` in T steps.
A composition with another word than `parts.CHOICES` has is refused.
"""

from literal.corpus import Corpus
from literal.job import Attempt, Lineage, run
from literal.mixture import Mixed
from literal.parts import Parts
from literal.streams import RefusedError

__all__ = ["Attempt", "Corpus", "Lineage", "Mixed", "Parts", "RefusedError", "run"]
