from dataclasses import replace

import numpy as np
import pytest

from leocod.evaluation.history import History
from leocod.evaluation.metrics.prequential import Prequential

NOWHERE = np.zeros((0, 3), bool)
HISTORY = History(("a", "b", "c"), (), np.zeros((0, 3)), NOWHERE, NOWHERE, prequential=np.array([20.0, np.nan, 60.0]))


def test_it_is_the_mean_over_the_classes_that_were_there() -> None:
    assert Prequential().compute(HISTORY) == pytest.approx(40.0)


def test_unless_it_was_measured_and_every_frame_came_once_there_is_none() -> None:
    assert Prequential().compute(replace(HISTORY, prequential=None)) is None
    assert Prequential().compute(replace(HISTORY, single_pass=False)) is None
