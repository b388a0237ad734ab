"""Labels and detections in COCO's forms, there and back: classes count from 1, a box is x, y, width and height."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from leocod.boxes import to_corners, to_xywh
from leocod.types import Detections, LabelledFrame, Labels


class CocoBox(Protocol):
    """A box as it was read; a true one has no score."""

    @property
    def image_id(self) -> int: ...
    @property
    def category_id(self) -> int: ...
    @property
    def bbox(self) -> Sequence[float]: ...
    @property
    def score(self) -> float: ...


def to_coco_results(detections: Mapping[int, Detections]) -> list[dict[str, Any]]:
    """COCO results form.

    Not rounded: a box right at the IoU threshold must stay on its side of it when a metric is computed again.
    """
    return [
        {"image_id": frame, "category_id": category + 1, "bbox": box, "score": score}
        for frame, one in detections.items()
        for box, category, score in zip(
            to_xywh(one.boxes).tolist(), one.classes.tolist(), one.scores.tolist(), strict=True
        )
    ]


def to_coco_boxes(truth: Mapping[int, Labels]) -> list[dict[str, Any]]:
    """The true boxes, without what only COCO's own tools ask for."""
    return [
        {"image_id": frame, "category_id": category + 1, "bbox": box}
        for frame, labels in truth.items()
        for box, category in zip(to_xywh(labels.boxes).tolist(), labels.classes.tolist(), strict=True)
    ]


def to_coco_truth(pairs: Sequence[LabelledFrame], classes: Sequence[str]) -> dict[str, Any]:
    """COCO ground truth of labelled frames. A frame without a file of its own gets its video and number for a name."""
    boxes = to_coco_boxes({frame.id: labels for frame, labels in pairs})
    return {
        "images": [
            {
                "id": frame.id,
                "file_name": str(frame.content) if isinstance(frame.content, Path) else f"{frame.video}/{frame.index}",
                "height": frame.size[0],
                "width": frame.size[1],
            }
            for frame, _ in pairs
        ],
        "annotations": [
            {"id": number, **box, "area": box["bbox"][2] * box["bbox"][3], "iscrowd": 0}
            for number, box in enumerate(boxes, start=1)
        ],
        "categories": [{"id": number, "name": name} for number, name in enumerate(classes, start=1)],
    }


def from_coco_results(boxes: Iterable[CocoBox], frames: Iterable[int]) -> dict[int, Detections]:
    """Frame id -> detections, of each of these frames, in the order of the file."""
    return {
        frame: Detections(_corners(in_frame), _classes(in_frame), np.array([box.score for box in in_frame], np.float32))
        for frame, in_frame in _group(boxes, frames).items()
    }


def from_coco_truth(boxes: Iterable[CocoBox], frames: Iterable[int]) -> dict[int, Labels]:
    """Frame id -> true boxes, of each of these frames."""
    return {frame: Labels(_corners(in_frame), _classes(in_frame)) for frame, in_frame in _group(boxes, frames).items()}


def _group(boxes: Iterable[CocoBox], frames: Iterable[int]) -> dict[int, list[CocoBox]]:
    """By frame. A box in a frame that is not among these is kept, so that whoever compares them can complain."""
    groups: dict[int, list[CocoBox]] = {frame: [] for frame in frames}
    for box in boxes:
        groups.setdefault(box.image_id, []).append(box)
    return groups


def _corners(boxes: Sequence[CocoBox]) -> NDArray[np.float32]:
    return to_corners(np.array([box.bbox for box in boxes], np.float64).reshape(-1, 4)).astype(np.float32)


def _classes(boxes: Sequence[CocoBox]) -> NDArray[np.int64]:
    return np.array([box.category_id - 1 for box in boxes], np.int64)
