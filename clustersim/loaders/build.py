"""The loader that a scenario composes."""

from clustersim.loaders.parts import Parts
from clustersim.loaders.sequence import SequenceLoader
from clustersim.scenario import Scenario


def loader_of(scenario: Scenario) -> SequenceLoader:
    """The scenario's loader; it has an end only if the run ends by epochs."""
    sizes, stated = scenario.sizes, scenario.loader
    parts = Parts(stated.saves, stated.comes_back, stated.reshuffle_lasts or "epoch")
    return SequenceLoader(sizes.samples, sizes.batch, parts, sizes.epochs)
