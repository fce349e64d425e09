"""Who saw what: from intervals that were read to a table of how many samples were planned and seen how often."""

from clustersim.account.apart import count_apart
from clustersim.account.count import count
from clustersim.account.damage import Damage, damage, damage_identity
from clustersim.account.dealt import Dealt, count_dealt, damage_dealt
from clustersim.account.draws import Draws
from clustersim.account.identity import Counts, count_identity, expand, same_batches
from clustersim.account.ledger import ByCell, Ledger, Table
from clustersim.account.spaces import BlockSpaces, Spaces
from clustersim.account.sparse import Sparse, count_sparse
from clustersim.account.story import Story, story

__all__ = [
    "BlockSpaces",
    "ByCell",
    "Counts",
    "Damage",
    "Dealt",
    "Draws",
    "Ledger",
    "Spaces",
    "Sparse",
    "Story",
    "Table",
    "count",
    "count_apart",
    "count_dealt",
    "count_identity",
    "count_sparse",
    "damage",
    "damage_dealt",
    "damage_identity",
    "expand",
    "same_batches",
    "story",
]
