"""The loader that a scenario composes."""

from clustersim.data.orders import Order
from clustersim.loaders.parts import Parts
from clustersim.loaders.sequence import SequenceLoader
from clustersim.scenario import Scenario


def loader_of(scenario: Scenario, order: Order) -> SequenceLoader:
    """The scenario's loader over an order of its samples; it has an end only if the run ends by epochs."""
    sizes, stated = scenario.sizes, scenario.loader
    parts = Parts(
        stated.saves,
        stated.comes_back,
        stated.reshuffle_lasts or "epoch",
        stated.epoch_edge,
        stated.counted_at,
        stated.prefetch,
        stated.order_epoch,
        stated.on_layout_change,
    )
    return SequenceLoader(order, sizes.batch, parts, sizes.epochs)
