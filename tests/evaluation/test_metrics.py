"""Each choice of a metric reaches its formula and its name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from leocod.evaluation.continual import presence_table
from leocod.evaluation.metrics import Metrics


def test_the_usual_figures_have_their_usual_names() -> None:
    metrics = Metrics()

    assert (metrics.ap_name, metrics.forgetting_name) == ("AP50", "forgetfulness")
    assert metrics.last_seen == "in the training stream"


def test_a_second_choice_is_in_the_name() -> None:
    metrics = Metrics(ap="voc", forgetting_bins=4, forgetting_weights="oak", presence="labelled")

    assert metrics.ap_name == "VOC AP50"
    assert metrics.forgetting_name == "forgetfulness (4 bins, OAK weights, labelled presence)"
    assert metrics.last_seen == "in a label"


def test_presence_is_of_the_frames_or_of_the_labels() -> None:
    assert Metrics().seen((0, 1), (1,)) == (0, 1)
    assert Metrics(presence="labelled").seen((0, 1), (1,)) == (1,)


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        # Last seen at step 0, evaluated after steps 1, 2, 4 and 5: k = 1, 2, 4, 5, and as much lost since k = 1:
        # 0, 2, 3, 5. Paper weights: 0, 1/8, 3/8, 4/8. OAK: 1/12, 2/12, 4/12, 5/12.
        ({}, (2 * 1 + 3 * 3 + 5 * 4) / 8),
        ({"forgetting_weights": "oak"}, (2 * 2 + 3 * 4 + 5 * 5) / 12),
        # Two bins of width 2, centres 2 and 4, which have lost 1 and 4: 3 between them.
        ({"forgetting_bins": 2}, 3.0),
        ({"forgetting_bins": 2, "forgetting_weights": "oak"}, 3 * 4 / 6),
    ],
)
def test_bins_and_weights_reach_the_formula(choices: dict[str, Any], expected: float) -> None:
    table = np.array([[9.0], [7.0], [6.0], [4.0]])
    presence = presence_table({0: [0]}, steps=6, classes=1)

    result = Metrics(**choices).forgetting_by_class(table, [1, 2, 4, 5], presence)

    assert result.tolist() == pytest.approx([expected])


def test_a_single_bin_is_refused_since_nothing_could_be_compared() -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 2"):
        Metrics(forgetting_bins=1)
