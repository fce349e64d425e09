"""Documents and tokens of a run: views in their units, and what packers held of documents at restarts and lost."""

import numpy as np

from clustersim.account import Counts, Ledger
from clustersim.data.carries import Carries, carry_law, cuts_of, lose_carries
from clustersim.data.packing import Seen, pack, seen_of
from clustersim.history import History
from clustersim.scenario import Scenario


def lost_in(history: History, scenario: Scenario, seed: int, replication: int) -> Carries | None:
    """What the restarts of a finished run lost of the documents that packers held; None where nothing can be lost."""
    sequence = scenario.model.sequence_length
    if scenario.loader.carry != "lost":
        return None
    assert sequence is not None  # samples are packed
    cuts = cuts_of(history, scenario.loader.readers_per_rank)
    return lose_carries(carry_law(scenario.data, sequence, seed, replication), cuts, seed, replication)


def has_documents(scenario: Scenario) -> bool:
    """Whether it is known which tokens of which document a sample holds: `documents_of` can be asked."""
    data = scenario.data
    return data.document_lengths is not None and data.packing != "none" and scenario.loader.carry != "lost"


def documents_of(counts: Counts, scenario: Scenario) -> Seen:
    """What was seen of each document of given length, of those tokens of it that were planned."""
    data, sequence = scenario.data, scenario.model.sequence_length
    assert data.document_lengths is not None
    assert data.packing != "none"
    assert sequence is not None
    lengths, planned = np.array(data.document_lengths, dtype=np.int64), counts.planned > 0
    packed = pack(lengths, sequence, data.packing)
    wanted = seen_of(packed, lengths, planned.astype(np.int64)).tokens
    seen = seen_of(packed, wanted, (planned & (counts.seen > 0)).astype(np.int64))
    return Seen(wanted[wanted > 0], seen.tokens[wanted > 0], seen.samples)


def views_in_units(ledger: Ledger, scenario: Scenario, lost: Carries | None) -> dict[str, int | float | None]:
    """Extra and missing views in documents, as many as hold so many tokens, and in tokens; None: nothing says it.

    What packers lost is missing, and as many tokens from further on were read instead.
    """
    sizes, mean = scenario.sizes, scenario.data.mean_document
    tokens = 0 if lost is None else int(lost.tokens.sum())
    documents = tokens / mean if tokens and mean else 0
    figures = {
        "extra_documents": _times(ledger.extra, sizes.documents_per_sample, documents),
        "missing_documents": _times(ledger.missing, sizes.documents_per_sample, documents),
        "extra_tokens": _times(ledger.extra, sizes.tokens_per_sample, tokens),
        "missing_tokens": _times(ledger.missing, sizes.tokens_per_sample, tokens),
    }
    if lost is not None:
        figures |= {
            "documents_seen_in_part": int(lost.partly.sum()),
            "documents_never_seen": int(lost.whole.sum()),
            "carry_tokens_lost": tokens,
        }
    return figures


def _times(views: int, per_view: float | None, more: float) -> int | float | None:
    """Views in another unit, and so many more of it; whole where the unit is."""
    if per_view is None:
        return None
    return more + (views * int(per_view) if float(per_view).is_integer() else views * per_view)
