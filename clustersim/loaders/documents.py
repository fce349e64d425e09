"""Documents and tokens of a run: views in their units, and what packers held of documents at restarts and lost."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustersim.account import Counts, Ledger
from clustersim.data.carries import Carries, carry_law, cuts_of, lose_carries
from clustersim.data.packing import Seen, pack, seen_of
from clustersim.history import History
from clustersim.scenario import Scenario

_SPREAD = 10_000


def lost_in(history: History, scenario: Scenario, seed: int, replication: int) -> Carries | None:
    """What the restarts of a finished run lost of the documents that packers held; None where nothing can be lost."""
    sequence = scenario.model.sequence_length
    if scenario.loader.carry != "lost":
        return None
    assert sequence is not None  # samples are packed
    cuts = cuts_of(history, scenario.loader.readers_per_rank)
    return lose_carries(carry_law(scenario.data, sequence, seed, replication), cuts, seed, replication)


class Documents(NamedTuple):
    """Documents of which planned tokens were missed: some of them, or all."""

    seen_in_part: float
    never_seen: float


def knows_documents(scenario: Scenario) -> bool:
    """Whether it is known which tokens of which document a sample holds: `documents_of` can be asked."""
    data = scenario.data
    return data.document_lengths is not None and data.packing != "none" and scenario.loader.carry != "lost"


def documents_of(counts: Counts, scenario: Scenario) -> Documents:
    """What was missed of documents of given lengths."""
    data, sequence = scenario.data, scenario.model.sequence_length
    assert data.document_lengths is not None
    assert data.packing != "none"
    assert sequence is not None
    lengths, planned = np.array(data.document_lengths, dtype=np.int64), counts.planned > 0
    packed = pack(lengths, sequence, data.packing)
    wanted = seen_of(packed, lengths, planned.astype(np.int64)).tokens
    seen = seen_of(packed, wanted, (planned & (counts.seen > 0)).astype(np.int64))
    seen = Seen(wanted[wanted > 0], seen.tokens[wanted > 0], seen.samples)
    return Documents(seen.documents_partly, seen.documents_never)


def knows_their_law(scenario: Scenario) -> bool:
    """Whether missing samples are any of them alike, and documents have a law: `expected_documents` can be asked."""
    data, loader = scenario.data, scenario.loader
    any_alike = data.packing == "concat" and data.order in ("shuffle", "shuffle-once")
    return any_alike and data.document_sigma is not None and loader.carry != "lost"


def expected_documents(ledger: Ledger, scenario: Scenario) -> Documents:
    """What is missed of documents on average, where they are cut into samples and any sample may be missing alike.

    A share q of all samples is planned, and of them a share p is never seen. Of a document that lies in k samples no
    planned token is seen with probability (1 - q (1 - p))^k, none is missed with (1 - q p)^k, and none was planned with
    (1 - q)^k. With l - 1 = a L + b it lies in a + 2 samples with probability b / L, else in a + 1.
    """
    data, sequence, size = scenario.data, scenario.model.sequence_length, scenario.sizes.samples
    assert data.documents is not None
    assert data.tokens_per_document is not None
    assert sequence is not None
    table = ledger.table
    planned = int(table.samples[table.planned > 0].sum())
    q, p = planned / size, ledger.never / planned if planned else 0.0
    whole, rest = np.divmod(_spread_lengths(data.tokens_per_document, data.document_sigma or 0.0) - 1, sequence)
    more = rest / sequence

    def mean_power(base: float) -> float:
        powers = base ** (whole + 1.0)
        return float((powers * (1 - more + more * base)).mean())

    unseen, unmissed, unplanned = mean_power(1 - q * (1 - p)), mean_power(1 - q * p), mean_power(1 - q)
    return Documents(data.documents * (1 - unmissed - unseen + unplanned), data.documents * (unseen - unplanned))


@lru_cache(maxsize=8)
def _spread_lengths(mean: float, sigma: float) -> NDArray[np.float64]:
    """Lengths of 10,000 documents that are spread evenly over their law, float64[documents]."""
    from scipy.special import ndtri

    places = (np.arange(_SPREAD) + 0.5) / _SPREAD
    lengths: NDArray[np.float64] = np.maximum(1, np.rint(mean * np.exp(sigma * ndtri(places) - sigma**2 / 2)))
    return lengths


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
