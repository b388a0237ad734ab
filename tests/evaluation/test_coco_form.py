"""COCO's forms, there and back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from leocod.evaluation.ap import average_precision
from leocod.evaluation.coco_form import (
    from_coco_results,
    from_coco_truth,
    to_coco_boxes,
    to_coco_results,
    to_coco_truth,
)
from leocod.report.schemas import StoredBox
from leocod.types import Detections, Frame, Labels


def stored(rows: list[dict[str, Any]]) -> list[StoredBox]:
    """As a file would give them back."""
    return [StoredBox.model_validate(row) for row in json.loads(json.dumps(rows))]


def test_truth_has_every_frame_also_empty_ones() -> None:
    pixels = np.zeros((6, 8, 3), np.uint8)
    frames = [Frame(number, "walk", number, (6, 8), pixels) for number in (0, 1)]
    pairs = [(frames[0], Labels(np.array([[1, 1, 4, 3]]), np.array([1]))), (frames[1], Labels.none())]

    truth = to_coco_truth(pairs, ("mug", "chair"))

    assert [image["id"] for image in truth["images"]] == [0, 1]
    assert truth["images"][0] == {"id": 0, "file_name": "walk/0", "height": 6, "width": 8}
    assert truth["annotations"] == [
        {"id": 1, "image_id": 0, "category_id": 2, "bbox": [1.0, 1.0, 3.0, 2.0], "area": 6.0, "iscrowd": 0}
    ]
    assert truth["categories"] == [{"id": 1, "name": "mug"}, {"id": 2, "name": "chair"}]


@pytest.fixture
def truth() -> dict[int, Labels]:
    random = np.random.default_rng(0)
    corners = random.uniform(0, 50, (40, 2))
    return {0: Labels(np.hstack([corners, corners + 20]), random.integers(0, 2, 40)), 3: Labels.none()}


@pytest.fixture
def found(truth: dict[int, Labels]) -> Detections:
    random = np.random.default_rng(1)
    boxes = (truth[0].boxes + random.normal(0, 4, (40, 4))).astype(np.float32)
    return Detections(boxes, truth[0].classes, np.sort(random.random(40).astype(np.float32))[::-1])


def test_a_metric_recomputed_from_the_file_is_the_same_to_the_last_digit(
    truth: dict[int, Labels], found: Detections
) -> None:
    again = from_coco_results(stored(to_coco_results({0: found})), truth)
    true_boxes = from_coco_truth(stored(to_coco_boxes(truth)), truth)

    np.testing.assert_array_equal(again[0].boxes, found.boxes)
    np.testing.assert_array_equal(again[0].scores, found.scores)
    np.testing.assert_array_equal(average_precision(again, true_boxes, 2), average_precision({0: found}, truth, 2))


def test_frames_without_a_box_come_back_empty(truth: dict[int, Labels], found: Detections) -> None:
    assert len(from_coco_results(stored(to_coco_results({0: found})), truth)[3]) == 0
    assert len(from_coco_truth(stored(to_coco_boxes(truth)), truth)[3]) == 0


def test_a_box_in_an_unknown_frame_is_not_dropped_in_silence(found: Detections) -> None:
    assert set(from_coco_results(stored(to_coco_results({0: found})), [5])) == {0, 5}
