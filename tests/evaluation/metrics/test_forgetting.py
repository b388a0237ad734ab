"""Each choice of a definition reaches the formula. The formula itself: test_continual.py."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from leocod.evaluation.continual import presence_table
from leocod.evaluation.definitions import Definitions
from leocod.evaluation.history import History
from leocod.evaluation.metrics.forgetting import Forgetting, compute_by_class

# Last seen at step 0, evaluated after steps 1, 2, 4 and 5: k = 1, 2, 4, 5, and as much lost since k = 1: 0, 2, 3, 5.
AT_FIRST = presence_table({0: [0]}, steps=6, classes=1)
HISTORY = History(("mug",), (1, 2, 4, 5), np.array([[9.0], [7.0], [6.0], [4.0]]), AT_FIRST, AT_FIRST)


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        # Paper weights: 0, 1/8, 3/8, 4/8. OAK: 1/12, 2/12, 4/12, 5/12.
        ({}, (2 * 1 + 3 * 3 + 5 * 4) / 8),
        ({"forgetting_weights": "oak"}, (2 * 2 + 3 * 4 + 5 * 5) / 12),
        # Two bins of width 2, centres 2 and 4, which have lost 1 and 4: 3 between them.
        ({"forgetting_bins": 2}, 3.0),
        ({"forgetting_bins": 2, "forgetting_weights": "oak"}, 3 * 4 / 6),
    ],
)
def test_bins_and_weights_reach_the_formula(choices: dict[str, Any], expected: float) -> None:
    history = replace(HISTORY, definitions=Definitions(**choices))

    assert compute_by_class(history).tolist() == pytest.approx([expected])
    assert Forgetting().compute(history) == pytest.approx(expected)


def test_presence_reaches_the_formula() -> None:
    # In a label at step 3 again: k = 1, 2, 1, 2, means 7.5 and 5.5.
    labels = presence_table({0: [0], 3: [0]}, steps=6, classes=1)
    history = replace(HISTORY, in_labels=labels, definitions=Definitions(presence="labelled"))

    assert Forgetting().compute(history) == pytest.approx(2.0)


def test_without_a_single_pass_nothing_can_be_forgotten() -> None:
    again = replace(HISTORY, single_pass=False)

    assert Forgetting().compute(again) is None
    assert np.isnan(compute_by_class(again)).all()
