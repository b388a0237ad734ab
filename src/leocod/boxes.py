"""Box arithmetic in numpy. A box is x1, y1, x2, y2 (pixel corners) unless a name says otherwise; a row each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def to_xywh(corners: NDArray[Any]) -> Floats:
    """Corners -> x, y, width and height.

    >>> to_xywh(np.array([[1, 2, 4, 8]])).tolist()
    [[1.0, 2.0, 3.0, 6.0]]
    """
    boxes: Floats = corners.astype(np.float64).reshape(-1, 4)
    boxes[:, 2:] -= boxes[:, :2]
    return boxes


def to_corners(xywh: NDArray[Any]) -> Floats:
    """x, y, width and height -> corners.

    >>> to_corners(np.array([[1, 2, 3, 6]])).tolist()
    [[1.0, 2.0, 4.0, 8.0]]
    """
    boxes: Floats = xywh.astype(np.float64).reshape(-1, 4)
    boxes[:, 2:] += boxes[:, :2]
    return boxes


def pairwise_iou(boxes: NDArray[Any], others: NDArray[Any]) -> Floats:
    """Intersection over union of every box with every other box: len(boxes) x len(others).

    >>> pairwise_iou(np.array([[0, 0, 2, 2]]), np.array([[0, 0, 2, 2], [1, 0, 3, 2], [5, 5, 6, 6]])).round(3).tolist()
    [[1.0, 0.333, 0.0]]
    """
    first, second = boxes.astype(np.float64).T[:, :, None], others.astype(np.float64).T[:, None, :]
    areas = [(corners[2:] - corners[:2]).prod(axis=0) for corners in (first, second)]
    return iou(first, second, areas[0], areas[1])


def iou(first: Floats, second: Floats, first_areas: Floats, second_areas: Floats) -> Floats:
    """Intersection over union of boxes that stand at the same place; x1, y1, x2, y2 along the first axis.

    Whoever knows widths and heights hands over the areas that they give: corners lose a last digit. The order of
    operations is that of pycocotools, so that an overlap that is just enough there is just enough here.
    """
    sides = np.minimum(first[2:], second[2:]) - np.maximum(first[:2], second[:2])
    shared = sides.clip(0).prod(axis=0)
    union = first_areas + second_areas - shared
    ratio: Floats = np.divide(shared, union, out=np.zeros_like(shared), where=shared > 0)
    return ratio
