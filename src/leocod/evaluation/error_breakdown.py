"""What is wrong with detections: missed, wrong class, badly placed, duplicate, background."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from leocod.boxes import pairwise_iou
from leocod.types import Detections, Labels

LOWEST_SCORE = 0.3
"""Detections below it are not counted: a detector lists many that it hardly believes in."""
RIGHT, NEAR = 0.5, 0.1
"""IoU from which a box is well placed, and from which it is near an object at all."""

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ErrorCounts:
    """Counts of each class. Objects and missed ones count for the true class, detections for the class they say.

    After TIDE (Bolya et al., 2020). In each frame, detections of score 0.3 or more take true boxes in order of score:
    each takes the free true box of its class with the highest IoU, if that is at least 0.5, and is right. Every other
    detection is one error, of the first of these kinds that fits: badly placed, wrong class, duplicate, background.
    """

    objects: Numbers
    """True boxes."""
    right: Numbers
    missed: Numbers
    """True boxes that no detection is right about, and none would be with another class or a better box: neither taken,
    nor the true box that a badly placed detection or one of the wrong class overlaps most."""
    wrong_class: Numbers
    """Its highest IoU with a true box of another class is at least 0.5."""
    badly_placed: Numbers
    """Its highest IoU with a true box of its class is from 0.1 to below 0.5."""
    duplicate: Numbers
    """Its highest IoU with a true box of its class is at least 0.5, but better detections have taken all of these."""
    background: Numbers
    """All others: no object is there, or one of another class that the box is far off (TIDE's `Bkg` and `Both`)."""

    @property
    def total(self) -> dict[str, int]:
        """Over all classes, by kind."""
        return {field.name: int(getattr(self, field.name).sum()) for field in fields(self)}

    def of_class(self, category: int) -> dict[str, int]:
        """By kind."""
        return {field.name: int(getattr(self, field.name)[category]) for field in fields(self)}


def count_errors(detections: Mapping[int, Detections], truth: Mapping[int, Labels], classes: int) -> ErrorCounts:
    """Over all frames of `truth`; a frame without detections has missed objects only."""
    counts = ErrorCounts(*(np.zeros(classes, np.int64) for _ in fields(ErrorCounts)))
    for frame, labels in truth.items():
        np.add.at(counts.objects, labels.classes, 1)
        in_frame = detections.get(frame)
        if in_frame is None or not len(in_frame):
            np.add.at(counts.missed, labels.classes, 1)
        else:
            _count_frame(_select_sure(in_frame), labels, counts)
    return counts


def _select_sure(detections: Detections) -> Detections:
    """Those that count, best first."""
    order = np.argsort(-detections.scores, kind="stable")
    order = order[detections.scores[order] >= LOWEST_SCORE]
    return Detections(detections.boxes[order], detections.classes[order], detections.scores[order])


def _count_frame(detections: Detections, labels: Labels, counts: ErrorCounts) -> None:
    overlap = pairwise_iou(detections.boxes, labels.boxes)
    same_class = detections.classes[:, None] == labels.classes[None]
    taken = np.zeros(len(labels), np.bool_)
    explained = np.zeros(len(labels), np.bool_)
    """True boxes that a badly placed or wrongly named detection shows."""
    wrong = []
    for number, category in enumerate(detections.classes.tolist()):
        free = np.where(same_class[number] & ~taken, overlap[number], 0.0)
        if free.max(initial=0.0) >= RIGHT:
            taken[free.argmax()] = True
            counts.right[category] += 1
        else:
            wrong.append(number)
    for number in wrong:
        own, others = (np.where(which, overlap[number], 0.0) for which in (same_class[number], ~same_class[number]))
        category = detections.classes[number]
        if NEAR <= own.max(initial=0.0) < RIGHT:
            counts.badly_placed[category] += 1
            explained[own.argmax()] = True
        elif others.max(initial=0.0) >= RIGHT:
            counts.wrong_class[category] += 1
            explained[others.argmax()] = True
        elif own.max(initial=0.0) >= RIGHT:
            counts.duplicate[category] += 1
        else:
            counts.background[category] += 1
    np.add.at(counts.missed, labels.classes[~taken & ~explained], 1)
