"""Detections and true boxes -> average precision of each class."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from faster_coco_eval import COCO, COCOeval_faster
from numpy.typing import NDArray

from leocod.errors import InvalidData
from leocod.types import Detections, Labels

logger = logging.getLogger(__name__)

Style = Literal["coco", "voc"]

NAMES: dict[Style, str] = {"coco": "AP50", "voc": "VOC AP50"}
"""What the figure is called where it is shown: a reader takes AP50 for COCO's."""

MOST_DETECTIONS = 100
"""COCO counts this many detections of a class in a frame, the best ones."""


def average_precision(
    detections: Mapping[int, Detections],
    truth: Mapping[int, Labels],
    classes: int,
    *,
    iou: float = 0.5,
    style: Style = "coco",
) -> NDArray[np.float64]:
    """Average precision of each class, 0 to 1; a detection counts as right from this IoU on.

    `coco`: mean precision at 101 recall levels, the best 100 detections of a class in a frame, as pycocotools has it.
    `voc`: area under the precision-recall curve made monotone, all detections, each tried on its best true box only.
    Classes without a true box get NaN, so that a mean over classes must decide about them openly.

    >>> here = np.array([[0, 0, 10, 10]], np.float32)
    >>> found = Detections(here, np.array([0]), np.array([0.9], np.float32))
    >>> average_precision({5: found}, {5: Labels(here, np.array([0]))}, classes=2).tolist()
    [1.0, nan]
    """
    return Scorer(truth, classes, iou=iou, style=style).score(detections)


class Scorer:
    """The true boxes of a test set, prepared once and compared with detections many times."""

    def __init__(self, truth: Mapping[int, Labels], classes: int, *, iou: float = 0.5, style: Style = "coco") -> None:
        self.truth = {frame: truth[frame] for frame in sorted(truth)}
        self.classes = classes
        self.iou = iou
        self.style = style
        for frame, labels in self.truth.items():
            if len(labels) and labels.classes.max() >= classes:
                raise InvalidData(f"Frame {frame}: true class {labels.classes.max()}, but there are {classes} classes.")
        self._counts = np.zeros(classes, np.int64)
        for labels in self.truth.values():
            self._counts += np.bincount(labels.classes, minlength=classes)
        self._coco_truth = self._coco_of(self.truth) if style == "coco" else None

    def score(self, detections: Mapping[int, Detections]) -> NDArray[np.float64]:
        """Average precision of each class. A frame that is left out is a frame without detections."""
        self._check(detections)
        if self.style == "voc":
            return np.array([self._voc_precision(detections, category) for category in range(self.classes)])
        return self._coco_precision(detections)

    def _check(self, detections: Mapping[int, Detections]) -> None:
        strangers = sorted(set(detections) - set(self.truth))
        if strangers:
            raise InvalidData(f"Detections for frames {strangers[:5]}, which are not among the true labels.")
        for frame, found in detections.items():
            if len(found) and not (found.classes.min() >= 0 and found.classes.max() < self.classes):
                raise InvalidData(f"Frame {frame}: a detection of a class outside 0..{self.classes - 1}.")

    def _coco_precision(self, detections: Mapping[int, Detections]) -> NDArray[np.float64]:
        if not self.truth or not self._counts.any():
            return np.full(self.classes, np.nan)
        evaluation = COCOeval_faster(self._coco_truth, self._coco_of(detections), "bbox", print_function=logger.debug)
        evaluation.params.iouThrs = np.array([self.iou])
        evaluation.params.maxDets = [MOST_DETECTIONS]
        # One area range instead of COCO's four: sizes are not told apart here, and each range costs the same again.
        evaluation.params.areaRng = [[0, 1e10]]
        evaluation.params.areaRngLbl = ["all"]
        evaluation.evaluate()
        evaluation.accumulate()
        precision: NDArray[np.float64] = evaluation.eval["precision"][0, :, :, 0, 0]
        return np.where(self._counts > 0, precision.mean(axis=0), np.nan)

    def _coco_of(self, found: Mapping[int, Labels] | Mapping[int, Detections]) -> Any:
        """The library's own form. Its ids begin at 1, since it reads 0 as 'not matched'."""
        annotations: list[dict[str, Any]] = []
        for frame, marked in found.items():
            corners = marked.boxes.astype(np.float64)
            sides = corners[:, 2:] - corners[:, :2]
            scores = marked.scores.tolist() if isinstance(marked, Detections) else [1.0] * len(marked)
            for corner, side, category, score in zip(
                corners[:, :2].tolist(), sides.tolist(), marked.classes.tolist(), scores, strict=True
            ):
                annotations.append(
                    {
                        "id": len(annotations) + 1,
                        "image_id": frame,
                        "category_id": category + 1,
                        "bbox": corner + side,
                        "area": side[0] * side[1],
                        "iscrowd": 0,
                        "score": score,
                    }
                )
        images = [{"id": frame} for frame in self.truth]
        categories = [{"id": category + 1} for category in range(self.classes)]
        return COCO({"images": images, "annotations": annotations, "categories": categories})

    def _voc_precision(self, detections: Mapping[int, Detections], category: int) -> float:
        if not self._counts[category]:
            return float("nan")
        scores, right = [np.zeros(0, np.float32)], [np.zeros(0, np.bool_)]
        for frame, labels in self.truth.items():
            if frame in detections:
                frame_scores, frame_right = self._first_hits(detections[frame], labels, category)
                scores.append(frame_scores)
                right.append(frame_right)
        best_first = np.argsort(-np.concatenate(scores), kind="stable")
        return area_under_curve(np.concatenate(right)[best_first], int(self._counts[category]))

    def _first_hits(
        self, found: Detections, labels: Labels, category: int
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Scores of one class in one frame, best first, and which of them are the first to hit their best true box."""
        boxes, scores = found.boxes[found.classes == category], found.scores[found.classes == category]
        best_first = np.argsort(-scores, kind="stable")
        boxes, scores = boxes[best_first], scores[best_first]
        true_boxes = labels.boxes[labels.classes == category]
        right = np.zeros(len(boxes), np.bool_)
        if len(boxes) and len(true_boxes):
            overlap = pairwise_iou(boxes, true_boxes)
            hits = np.flatnonzero(overlap.max(axis=1) >= self.iou)
            _, first = np.unique(overlap.argmax(axis=1)[hits], return_index=True)
            right[hits[first]] = True
        return scores, right


def area_under_curve(right: NDArray[np.bool_], objects: int) -> float:
    """Area under the precision-recall curve of detections in order of score, precision made monotone from the right."""
    true_positives = np.cumsum(right)
    precision = true_positives / np.arange(1, len(right) + 1)
    monotone = np.maximum.accumulate(precision[::-1])[::-1]
    return float(np.sum(monotone[right]) / objects)


def pairwise_iou(boxes: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float64]:
    """Intersection over union of every box with every other box: len(boxes) x len(others)."""
    first, second = boxes.astype(np.float64)[:, None], others.astype(np.float64)[None]
    sides = np.minimum(first[..., 2:], second[..., 2:]) - np.maximum(first[..., :2], second[..., :2])
    shared: NDArray[np.float64] = np.clip(sides, 0, None).prod(axis=-1)
    areas = [(corners[..., 2:] - corners[..., :2]).prod(axis=-1) for corners in (first, second)]
    union = areas[0] + areas[1] - shared
    ratio: NDArray[np.float64] = np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)
    return ratio
