"""Box arithmetic, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from leocod.boxes import pairwise_iou, to_corners, to_xywh


def test_pairwise_iou_by_hand() -> None:
    one = np.array([[0, 0, 2, 2]], np.float32)
    others = np.array([[0, 0, 2, 2], [1, 0, 3, 2], [5, 5, 6, 6]], np.float32)

    assert pairwise_iou(one, others).tolist() == [[1.0, pytest.approx(1 / 3), 0.0]]


def test_boxes_without_an_area_overlap_nothing() -> None:
    line = np.array([[1, 1, 1, 5]], np.float32)

    assert pairwise_iou(line, line).tolist() == [[0.0]]


def test_no_boxes_have_no_overlaps() -> None:
    none, one = np.zeros((0, 4), np.float32), np.array([[0, 0, 1, 1]], np.float32)

    assert pairwise_iou(none, one).shape == (0, 1)
    assert pairwise_iou(one, none).shape == (1, 0)


def test_boxes_of_32_bits_come_back_from_width_and_height_as_they_were() -> None:
    random = np.random.default_rng(0)
    corners = np.sort(random.uniform(0, 640, (1000, 2, 2)), axis=1).reshape(-1, 4).astype(np.float32)

    again = to_corners(to_xywh(corners)).astype(np.float32)

    np.testing.assert_array_equal(again, corners)


def test_what_is_given_is_not_changed() -> None:
    boxes = np.array([[1.0, 2.0, 4.0, 8.0]])

    to_xywh(boxes)
    to_corners(boxes)

    assert boxes.tolist() == [[1.0, 2.0, 4.0, 8.0]]
