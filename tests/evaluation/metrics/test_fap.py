import numpy as np
import pytest

from leocod.evaluation.history import History
from leocod.evaluation.metrics.fap import FAP


def test_it_is_the_mean_of_the_last_evaluation_over_classes_with_a_test_box() -> None:
    table = np.array([[10.0, np.nan, 30.0], [30.0, np.nan, 50.0]])
    nowhere = np.zeros((2, 3), bool)

    assert FAP().compute(History(("a", "b", "c"), (0, 1), table, nowhere, nowhere)) == pytest.approx(40.0)
