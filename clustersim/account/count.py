"""The ledger of a run, at a cost that does not depend on the number of samples."""

from __future__ import annotations

import numpy as np

from clustersim.account.blocks import count_blocks
from clustersim.account.draws import Draws
from clustersim.account.ledger import Ledger
from clustersim.account.overlay import overlay
from clustersim.account.residues import plain
from clustersim.account.spaces import Spaces, in_blocks
from clustersim.account.sweep import sweep


def count(spaces: Spaces, planned: Draws, seen: Draws, rng: np.random.Generator) -> Ledger:
    """How many samples were planned and seen how often.

    The result is exact under the law "blocks", and under "uniform" where no more than one permutation was read
    unevenly. Otherwise it is one draw, by `rng`, from the law of the permutations; `exact` says which of the two.

    Args:
        spaces: the orders that were read.
        planned: reads of the run without failures.
        seen: reads of the lineage, which is what the final model saw.
        rng: the stream of random numbers; it is left alone where the result is exact.

    Raises:
        ValueError: a read leaves [0, N), a row of several epochs does not read them whole, or residues of too many
            moduli meet (`plain`).
    """
    spaces, planned, seen = plain(spaces, planned, seen)
    pieces = sweep(spaces, planned, seen)
    if in_blocks(spaces):
        return Ledger.of(*count_blocks(spaces, pieces), "identity")
    table, _ = overlay(rng, pieces)
    cell = np.zeros_like(table.samples)
    return Ledger.of(cell, *table, "identity" if len(pieces.family) <= 1 else "distribution")
