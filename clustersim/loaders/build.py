"""The loader that a scenario composes."""

from dataclasses import replace

from clustersim.data.orders import Order
from clustersim.data.skips import Skips
from clustersim.loaders.mixture import SingleLoader, shares_of
from clustersim.loaders.parts import Loader, Parts
from clustersim.loaders.returning import ReaderLoader
from clustersim.loaders.sequence import SequenceLoader
from clustersim.scenario import Scenario
from clustersim.scenario.blend import Blend
from clustersim.scenario.corpora import ending, shares


def loader_of(scenario: Scenario, *orders: Order) -> Loader:
    """The scenario's loader over the order of each of its corpora; it has an end only if the run ends by epochs."""
    sizes, stated, corpora = scenario.sizes, scenario.loader, scenario.data.corpora or ()
    parts = Parts(**stated.model_dump(exclude={"preset", "reshuffle_lasts", "last_batch", "carry"}))
    parts = replace(
        parts,
        reshuffle_lasts=stated.reshuffle_lasts or "epoch",
        last_batch=stated.last_batch or ("span" if stated.partition == "global" else "short"),
    )
    of_corpora = ending(corpora, scenario.run.epochs_of) if corpora else [True]
    epochs = [sizes.epochs if ends_it else None for ends_it in of_corpora]
    skips = Skips(scenario.data.skipped)
    if parts.last_batch == "span" and (corpora or sizes.batches.ramp or parts.saves == "steps"):
        blend = Blend([corpus.weight for corpus in corpora] or [1])
        return SingleLoader(orders, parts, blend, sizes.batches, epochs, skips)
    if corpora:
        return shares_of(orders, parts, shares(corpora, sizes.batch), epochs, sizes.data)
    (order,) = orders
    if parts.last_batch == "span":
        return SequenceLoader(order, sizes.batch, parts, sizes.epochs, skips)
    return ReaderLoader(order, sizes.batch, parts, sizes.epochs, sizes.data)
