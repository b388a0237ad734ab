"""Detections and true boxes -> average precision of each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from leocod.boxes import iou
from leocod.errors import InvalidData
from leocod.text import pluralize
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


@dataclass(frozen=True)
class Matches:
    """Which detections are right, and how many true boxes there are: all that average precision depends on.

    Matching one frame does not depend on the others. So frames can be matched in parts, and the matches joined.
    """

    classes: Numbers
    """Of each detection; in rising order."""
    badness: NDArray[np.float64]
    """Of each detection: its score, negative."""
    right: NDArray[np.bool_]
    objects: Numbers
    """True boxes of each class."""

    @staticmethod
    def join(parts: Sequence[Matches]) -> Matches:
        """Of several sets of frames; at least one. Detections with equal scores keep the order of the parts."""
        classes = np.concatenate([part.classes for part in parts])
        order = np.argsort(classes, kind="stable")
        return Matches(
            classes[order],
            np.concatenate([part.badness for part in parts])[order],
            np.concatenate([part.right for part in parts])[order],
            np.sum([part.objects for part in parts], axis=0, dtype=np.int64),
        )

    def average_precision(self, style: Style = "coco") -> NDArray[np.float64]:
        """Of each class, 0 to 1; NaN for a class without a true box."""
        average = mean_at_levels if style == "coco" else area_under_curve
        ends = np.searchsorted(self.classes, np.arange(len(self.objects) + 1))
        result = np.full(len(self.objects), np.nan)
        for category in np.flatnonzero(self.objects).tolist():
            of_class = slice(ends[category], ends[category + 1])
            best_first = np.argsort(self.badness[of_class], kind="stable")
            result[category] = average(self.right[of_class][best_first], int(self.objects[category]))
        return result


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
                    f"Frame {frame}: true class {truth[frame].classes.max()}, of {pluralize(classes, 'class')}."
                )
        boxes, places = self._gather(truth)
        by_place = np.argsort(places, kind="stable")
        self._boxes, self._places = boxes.select(by_place), places[by_place]
        ends = np.searchsorted(self._places, np.arange(classes + 1) * len(self._positions))
        self._objects = np.diff(ends)

    def score(self, detections: Mapping[int, Detections]) -> NDArray[np.float64]:
        """Average precision of each class. A frame that is left out is a frame without detections."""
        return self.match(detections).average_precision(self.style)

    @np.errstate(invalid="ignore")  # A detector that has diverged may give boxes that are not finite. They hit nothing.
    def match(self, detections: Mapping[int, Detections]) -> Matches:
        """Which detections are right."""
        self._check(detections)
        boxes, places = self._gather(detections)
        scores = [detections[frame].scores for frame in self._positions if frame in detections]
        badness = -_concatenate(scores, np.float64)
        best_first = np.lexsort((badness, places))
        if self.style == "coco":
            best_first = best_first[_mark_first(places[best_first], MOST_DETECTIONS)]
        places = places[best_first]
        right = self._find_right(boxes.select(best_first), places)
        return Matches(places // max(len(self._positions), 1), badness[best_first], right, self._objects)

    def _check(self, detections: Mapping[int, Detections]) -> None:
        strangers = sorted(set(detections) - set(self._positions))
        if strangers:
            raise InvalidData(f"Detections for frames {strangers[:5]}, which are not among the true labels.")
        for frame, found in detections.items():
            if len(found) and not (found.classes.min() >= 0 and found.classes.max() < self.classes):
                raise InvalidData(f"Frame {frame}: a detection of a class outside 0..{self.classes - 1}.")

    def _gather(self, marked: Mapping[int, Labels] | Mapping[int, Detections]) -> tuple[_Boxes, Numbers]:
        """All boxes, by frame id, and the place of each."""
        chosen = [(position, marked[frame]) for frame, position in self._positions.items() if frame in marked]
        corners = _concatenate([one.boxes for _, one in chosen], np.float64).reshape(-1, 4)
        classes = _concatenate([one.classes for _, one in chosen], np.int64)
        positions = _concatenate([np.full(len(one), position) for position, one in chosen], np.int64)
        return _Boxes.of(corners), classes * len(self._positions) + positions

    def _find_right(self, boxes: _Boxes, places: Numbers) -> NDArray[np.bool_]:
        """Which detections hit a true box; they come place by place, best first."""
        right = np.zeros(len(places), np.bool_)
        detection, true_box, overlap = self._find_hits(boxes, places)
        if self.style == "voc":
            # Each is tried on its best true box only, the first of equally good ones; the first to hit it is right.
            order = np.lexsort((true_box, -overlap, detection))
            order = order[_mark_first(detection[order], 1)]
            _, first = np.unique(true_box[order], return_index=True)
            right[detection[order][first]] = True
            return right
        # Each takes the best true box that is still free, the last of equally good ones. There are not many more hits
        # than detections, so one by one is quick enough.
        order = np.lexsort((-true_box, -overlap, detection))
        taken: set[int] = set()
        matched = -1
        for number, box in zip(detection[order].tolist(), true_box[order].tolist(), strict=True):
            if number != matched and box not in taken:
                right[number] = True
                taken.add(box)
                matched = number
        return right

    def _find_hits(self, boxes: _Boxes, places: Numbers) -> tuple[Numbers, Numbers, NDArray[np.float64]]:
        """Pairs of a detection and a true box of its place that overlap enough: their numbers, and their IoU."""
        # COCO's own threshold: a box is equal to itself also when its IoU is a rounding error below 1.
        threshold = min(self.iou, 1 - 1e-10) if self.style == "coco" else self.iou
        begins = np.searchsorted(self._places, places, side="left")
        counts = np.searchsorted(self._places, places, side="right") - begins
        pieces = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        for piece in _split(counts, PAIRS_AT_ONCE):
            detection = np.repeat(piece, counts[piece])
            skipped = np.cumsum(counts[piece]) - counts[piece]
            true_box = np.arange(len(detection)) + np.repeat(begins[piece] - skipped, counts[piece])
            overlap = boxes.select(detection).iou(self._boxes.select(true_box))
            enough = overlap >= threshold
            pieces.append((detection[enough], true_box[enough], overlap[enough]))
        detection, true_box, overlap = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
        return detection, true_box, overlap


@dataclass(frozen=True)
class _Boxes:
    """Many boxes, a column each."""

    corners: NDArray[np.float64]
    areas: NDArray[np.float64]

    @classmethod
    def of(cls, corners: NDArray[np.float64]) -> _Boxes:
        """By way of width and height, as COCO's files have them: the last digits are those of pycocotools."""
        boxes = np.ascontiguousarray(corners.T)
        sides = boxes[2:] - boxes[:2]
        boxes[2:] = boxes[:2] + sides
        return cls(boxes, sides[0] * sides[1])

    def select(self, numbers: Numbers) -> _Boxes:
        return _Boxes(self.corners[:, numbers], self.areas[numbers])

    def iou(self, others: _Boxes) -> NDArray[np.float64]:
        """Of each box with its partner."""
        return iou(self.corners, others.corners, self.areas, others.areas)


def _concatenate(parts: Sequence[NDArray[Any]], kind: type[Any]) -> NDArray[Any]:
    """One array of all, also of none."""
    return np.concatenate(parts, dtype=kind) if parts else np.zeros(0, kind)


def _mark_first(groups: Numbers, most: int) -> NDArray[np.bool_]:
    """Which are among the first so many of their group; groups come one after the other."""
    among = np.ones(len(groups), np.bool_)
    among[most:] = groups[most:] != groups[:-most]
    return among


def _split(counts: Numbers, most: int) -> list[Numbers]:
    """The numbers of those with a count, in runs whose counts add up to about `most`."""
    counted = np.flatnonzero(counts)
    run = np.cumsum(counts[counted]) // most
    return np.split(counted, np.flatnonzero(np.diff(run)) + 1)


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
