"""The test frames of an earlier stream, tried again."""

from __future__ import annotations

import pytest

from leocod.evaluation.evaluator import Evaluator
from leocod.evaluation.retest import Retest
from leocod.types import Detections


def test_it_is_scored_by_the_classes_of_the_earlier_run(a_frame) -> None:
    frame, labels = a_frame(1, (0, 2))
    perfect = Detections(labels.boxes, labels.classes, labels.boxes[:, 0] * 0 + 0.9)

    retest = Retest("first", Evaluator([(frame, labels)], ("mug", "book", "car"), every=1), lambda images: [perfect])

    found = retest.evaluate()
    assert found.pop("book") is None
    assert found == pytest.approx({"mug": 1.0, "car": 1.0})
