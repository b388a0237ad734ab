import numpy as np
import pytest

from leocod.evaluation.history import History
from leocod.evaluation.metrics.cap import CAP


def test_it_is_the_mean_over_evaluations_of_the_mean_over_classes() -> None:
    table = np.array([[10.0, np.nan, 30.0], [30.0, np.nan, 50.0]])
    nowhere = np.zeros((2, 3), bool)

    assert CAP().compute(History(("a", "b", "c"), (0, 1), table, nowhere, nowhere)) == pytest.approx(30.0)
