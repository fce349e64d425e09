"""The workshop's picture shows every document and every count."""

import numpy as np
import pandas as pd

from analysis.workshop import figure


def test_every_document_and_every_count_is_drawn():
    seen = {"restore": np.full(240, 2), "epoch": np.repeat([1, 2, 3], 80)}
    counts = pd.concat(
        [pd.DataFrame({"loader": name, "document": range(240), "seen": views}) for name, views in seen.items()]
    )
    drawn = figure(counts, "title", planned=2)
    for (bars, grid), views in zip(np.reshape(drawn.axes, (2, 2)), seen.values(), strict=True):
        assert [bar.get_height() for bar in bars.patches] == np.bincount(views, minlength=5).tolist()
        assert [text.get_text() for text in grid.texts] == [str(each) for each in views]
        colors = [patch.get_facecolor() for patch in grid.patches]
        assert [colors[at] == bars.patches[views[at]].get_facecolor() for at in range(240)] == [True] * 240
