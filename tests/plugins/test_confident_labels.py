"""Which detections become pseudo labels. tests/properties/test_nms.py has what holds for all of them."""

from __future__ import annotations

import numpy as np

from leocod.plugins.confident_labels import discount, select_confident, suppress
from leocod.types import Detections


def found(*rows: tuple[float, int, float]) -> Detections:
    """Of each its left side, class and score; boxes are ten pixels wide."""
    boxes = np.array([[left, 0, left + 10, 10] for left, _, _ in rows], np.float32).reshape(-1, 4)
    return Detections(
        boxes, np.array([row[1] for row in rows], np.int64), np.array([row[2] for row in rows], np.float32)
    )


def test_classes_that_are_not_around_count_less_and_come_later() -> None:
    counted = discount(found((0, 0, 0.9), (20, 1, 0.8)), around=(1,), factor=0.5)

    assert counted.classes.tolist() == [1, 0]
    np.testing.assert_allclose(counted.scores, [0.8, 0.45])


def test_a_factor_of_one_changes_nothing() -> None:
    detections = found((0, 0, 0.9))

    assert discount(detections, around=(), factor=1) is detections


def test_of_two_of_a_class_that_overlap_the_better_one_stays() -> None:
    kept = suppress(found((0, 0, 0.6), (1, 0, 0.9), (1, 1, 0.5)), threshold=0.5, most=100)

    assert kept.boxes[:, 0].tolist() == [1, 1]
    assert kept.classes.tolist() == [0, 1]


def test_a_label_is_above_the_threshold_and_what_is_below_is_unsure() -> None:
    labels = select_confident(
        found((0, 0, 0.9), (20, 0, 0.7), (40, 0, 0.2)), above=0.7, unsure_above=0.3, nms_threshold=0.5, most=100
    )

    assert labels.boxes[:, 0].tolist() == [0]
    assert labels.unsure[:, 0].tolist() == [20]
