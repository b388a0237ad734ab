"""Detections and true boxes -> average precision of each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from leocod.errors import InvalidData
from leocod.types import Detections, Labels

Style = Literal["coco", "voc"]

NAMES: dict[Style, str] = {"coco": "AP50", "voc": "VOC AP50"}
"""What the figure is called where it is shown: a reader takes AP50 for COCO's."""

MOST_DETECTIONS = 100
"""COCO counts this many detections of a class in a frame, the best ones."""

RECALL_LEVELS = np.linspace(0, 1, 101)
"""COCO asks for the precision from each of these on."""

PAIRS_AT_ONCE = 1 << 16
"""Detections are compared with true boxes in pieces, so that memory does not grow with the crowd in a frame."""

Numbers = NDArray[np.int64]
Boxes = NDArray[np.float64]
"""x, y, width and height, a row each: 4 x boxes."""


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
    >>> average_precision({5: found}, {5: Labels(here, np.array([0]))}, classes=2).round(9).tolist()
    [1.0, nan]
    """
    return Scorer(truth, classes, iou=iou, style=style).score(detections)


class Scorer:
    """The true boxes of a test set, prepared once and compared with detections many times.

    A box belongs to a place, which is a class in a frame: boxes meet the boxes of their place only. Places are numbered
    class by class, and in a class by frame id.
    """

    def __init__(self, truth: Mapping[int, Labels], classes: int, *, iou: float = 0.5, style: Style = "coco") -> None:
        self.classes = classes
        self.iou = iou
        self.style = style
        self._positions = {frame: position for position, frame in enumerate(sorted(truth))}
        for frame in self._positions:
            if len(truth[frame]) and truth[frame].classes.max() >= classes:
                raise InvalidData(
                    f"Frame {frame}: true class {truth[frame].classes.max()}, but there are {classes} classes."
                )
        boxes, places = self._placed(truth)
        by_place = np.argsort(places, kind="stable")
        self._boxes, self._places = boxes[:, by_place], places[by_place]
        self._counts = np.diff(self._ends_of_classes(self._places))

    @np.errstate(invalid="ignore")  # A detector that has diverged may give boxes that are not finite. They hit nothing.
    def score(self, detections: Mapping[int, Detections]) -> NDArray[np.float64]:
        """Average precision of each class. A frame that is left out is a frame without detections."""
        self._check(detections)
        boxes, places = self._placed(detections)
        badness = -_joined([detections[frame].scores for frame in self._positions if frame in detections], np.float64)
        best_first = np.lexsort((badness, places))
        if self.style == "coco":
            best_first = best_first[_first_of_each(places[best_first], MOST_DETECTIONS)]
        boxes, places, badness = boxes[:, best_first], places[best_first], badness[best_first]
        right = self._which_are_right(boxes, places)
        ends = self._ends_of_classes(places)
        average = mean_at_levels if self.style == "coco" else area_under_curve
        result = np.full(self.classes, np.nan)
        for category in np.flatnonzero(self._counts).tolist():
            own = slice(ends[category], ends[category + 1])
            over_frames = np.argsort(badness[own], kind="stable")
            result[category] = average(right[own][over_frames], int(self._counts[category]))
        return result

    def _check(self, detections: Mapping[int, Detections]) -> None:
        strangers = sorted(set(detections) - set(self._positions))
        if strangers:
            raise InvalidData(f"Detections for frames {strangers[:5]}, which are not among the true labels.")
        for frame, found in detections.items():
            if len(found) and not (found.classes.min() >= 0 and found.classes.max() < self.classes):
                raise InvalidData(f"Frame {frame}: a detection of a class outside 0..{self.classes - 1}.")

    def _placed(self, marked: Mapping[int, Labels] | Mapping[int, Detections]) -> tuple[Boxes, Numbers]:
        """All boxes, by frame id, and the place of each."""
        chosen = [(position, marked[frame]) for frame, position in self._positions.items() if frame in marked]
        corners = _joined([one.boxes for _, one in chosen], np.float64).reshape(-1, 4)
        boxes = np.ascontiguousarray(corners.T)
        boxes[2:] -= boxes[:2]
        classes = _joined([one.classes for _, one in chosen], np.int64)
        positions = _joined([np.full(len(one), position) for position, one in chosen], np.int64)
        return boxes, classes * len(self._positions) + positions

    def _ends_of_classes(self, places: Numbers) -> Numbers:
        """Where in sorted places each class begins, and where the last one ends."""
        return np.searchsorted(places, np.arange(self.classes + 1) * len(self._positions))

    def _which_are_right(self, boxes: Boxes, places: Numbers) -> NDArray[np.bool_]:
        """Which detections hit a true box; they come place by place, best first."""
        right = np.zeros(len(places), np.bool_)
        detection, true_box, overlap = self._hits(boxes, places)
        if self.style == "voc":
            # Each is tried on its best true box only, the first of equally good ones; the first to hit it is right.
            order = np.lexsort((true_box, -overlap, detection))
            order = order[_first_of_each(detection[order], 1)]
            _, first = np.unique(true_box[order], return_index=True)
            right[detection[order][first]] = True
            return right
        # Each takes the best true box that is still free, the last of equally good ones. There are not many more hits
        # than detections, so one by one is quick enough.
        order = np.lexsort((-true_box, -overlap, detection))
        taken: set[int] = set()
        matched = -1
        for one, box in zip(detection[order].tolist(), true_box[order].tolist(), strict=True):
            if one != matched and box not in taken:
                right[one] = True
                taken.add(box)
                matched = one
        return right

    def _hits(self, boxes: Boxes, places: Numbers) -> tuple[Numbers, Numbers, NDArray[np.float64]]:
        """Pairs of a detection and a true box of its place that overlap enough: their numbers, and their IoU."""
        # COCO's own threshold: a box is equal to itself also when its IoU is a rounding error below 1.
        threshold = min(self.iou, 1 - 1e-10) if self.style == "coco" else self.iou
        begins = np.searchsorted(self._places, places, side="left")
        counts = np.searchsorted(self._places, places, side="right") - begins
        pieces = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        for piece in _pieces(counts, PAIRS_AT_ONCE):
            detection = np.repeat(piece, counts[piece])
            skipped = np.cumsum(counts[piece]) - counts[piece]
            true_box = np.arange(len(detection)) + np.repeat(begins[piece] - skipped, counts[piece])
            overlap = _iou_of_pairs(boxes[:, detection], self._boxes[:, true_box])
            enough = overlap >= threshold
            pieces.append((detection[enough], true_box[enough], overlap[enough]))
        detection, true_box, overlap = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
        return detection, true_box, overlap


def _joined(parts: Sequence[NDArray[Any]], kind: type[Any]) -> NDArray[Any]:
    """One array of all, also of none."""
    return np.concatenate(parts, dtype=kind) if parts else np.zeros(0, kind)


def _first_of_each(groups: Numbers, most: int) -> NDArray[np.bool_]:
    """Which are among the first so many of their group; groups come one after the other."""
    among = np.ones(len(groups), np.bool_)
    among[most:] = groups[most:] != groups[:-most]
    return among


def _pieces(counts: Numbers, most: int) -> list[Numbers]:
    """The numbers of those with a count, in runs whose counts add up to about `most`."""
    counted = np.flatnonzero(counts)
    run = np.cumsum(counts[counted]) // most
    return np.split(counted, np.flatnonzero(np.diff(run)) + 1)


def _iou_of_pairs(first: Boxes, second: Boxes) -> NDArray[np.float64]:
    """Intersection over union of each box with its partner.

    In the order of operations of pycocotools, so that what is just enough there is so here.
    """
    sides = np.minimum(first[:2] + first[2:], second[:2] + second[2:]) - np.maximum(first[:2], second[:2])
    shared = sides.clip(0).prod(axis=0)
    union = first[2] * first[3] + second[2] * second[3] - shared
    ratio: NDArray[np.float64] = np.divide(shared, union, out=np.zeros_like(shared), where=shared > 0)
    return ratio


def mean_at_levels(right: NDArray[np.bool_], objects: int) -> float:
    """Mean of the best precision from each recall level on, 0 where none gets so far; detections in order of score."""
    true_positives = np.cumsum(right)
    # The spacing is pycocotools': a first detection that is right has a precision of 1 less a rounding error.
    precision = true_positives / (np.arange(1, len(right) + 1) + np.spacing(1))
    monotone = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0.0)
    return float(monotone[np.searchsorted(true_positives / objects, RECALL_LEVELS)].mean())


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
