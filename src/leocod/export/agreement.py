"""Whether two detectors find the same, and by how much they differ: what an exported file has to pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leocod.errors import InvalidRun, LeocodError
from leocod.types import Detections

BOX_TOLERANCE = 0.1
"""Pixels of the image by which a corner may differ."""
SCORE_TOLERANCE = 1e-4
DISTINCT_SCORES = 20
"""Different scores above LOW_SCORE without which a comparison proves nothing."""
LOW_SCORE = 0.05


class ExportDiffers(LeocodError):
    """An exported file that does not find what the detector finds."""


@dataclass(frozen=True)
class Cut:
    """Where a detector stops reporting. Of what lies right there, two runtimes may report different things."""

    score: float = 0.0
    """Only better scores are reported."""
    most: int | None = None
    """Only so many are reported in an image, the best."""


@dataclass(frozen=True)
class Agreement:
    """How near two detectors are to each other."""

    images: int = 0
    detections: int = 0
    """Found by both: of one class, and each other's nearest."""
    distinct_scores: int = 0
    unmatched: int = 0
    """Found by one of them only."""
    at_the_cut: int = 0
    """Found by one of them only, but right at the cut; not among the unmatched."""
    box_difference: float = 0.0
    """The largest, in pixels, over all corners of the detections found by both."""
    score_difference: float = 0.0

    @property
    def is_close(self) -> bool:
        return not self.unmatched and self.box_difference <= BOX_TOLERANCE and self.score_difference <= SCORE_TOLERANCE

    @property
    def summary(self) -> str:
        """What was compared, and how near it is."""
        edge = f"; {self.at_the_cut} right at the lowest score are found by one only" if self.at_the_cut else ""
        return (
            f"Compared on {self.images} images: {self.detections} detections with {self.distinct_scores} different "
            f"scores are found by both{edge}. Boxes differ by up to {self.box_difference:.1g} px, "
            f"scores by up to {self.score_difference:.1g}."
        )

    def require(self, file: str) -> None:
        """Raise unless the two have been shown to find the same."""
        if not self.is_close:
            raise ExportDiffers(
                f"{file} would not find what the detector finds, and is not written: over {self.images} images "
                f"{self.detections} detections are found by both and {self.unmatched} by one only; boxes differ by up "
                f"to {self.box_difference:.2g} px (allowed: {BOX_TOLERANCE}), scores by up to "
                f"{self.score_difference:.2g} (allowed: {SCORE_TOLERANCE}). Try another --format."
            )
        if self.distinct_scores < DISTINCT_SCORES:
            raise InvalidRun(
                f"{file} cannot be checked, and is not written: {self.images} images give {self.distinct_scores} "
                f"different scores above {LOW_SCORE}, and {DISTINCT_SCORES} are needed to compare. Give more pictures "
                "with --images, or a run that has learnt more."
            )


def agreement(expected: Sequence[Detections], given: Sequence[Detections], cut: Cut) -> Agreement:
    """Compare what two detectors found in the same images, one to one.

    A detection found by one of them only counts against them, unless its score is within the tolerance of the cut: the
    other one has it a little lower, and so not at all. Nothing else hangs on it, because suppression goes from better
    to worse scores and at the cut there is nothing worse.
    """
    boxes, scores, alone, at_the_cut = [0.0], [0.0], 0, 0
    detections = 0
    for one, other in zip(expected, given, strict=True):
        pairs = _nearest(one, other)
        detections += len(pairs)
        boxes += [float(np.abs(one.boxes[left] - other.boxes[right]).max()) for left, right in pairs]
        scores += [float(abs(one.scores[left] - other.scores[right])) for left, right in pairs]
        for found, matched in ((one, {left for left, _ in pairs}), (other, {right for _, right in pairs})):
            lonely = [number for number in range(len(found)) if number not in matched]
            edge = _edge(found, cut)
            excused = sum(float(found.scores[number]) <= edge for number in lonely)
            at_the_cut += excused
            alone += len(lonely) - excused
    return Agreement(
        images=len(expected),
        detections=detections,
        distinct_scores=_distinct(expected),
        unmatched=alone,
        at_the_cut=at_the_cut,
        box_difference=max(boxes),
        score_difference=max(scores),
    )


def _nearest(one: Detections, other: Detections) -> list[tuple[int, int]]:
    """Pairs of one class that overlap, nearest first, each detection once.

    Detections of one class that are left after suppression are far from each other next to the tolerance, so that
    which belongs to which is no question where the two agree.
    """
    if not len(one) or not len(other):
        return []
    apart = np.abs(one.boxes[:, None] - other.boxes[None]).max(axis=2)
    corner = np.maximum(one.boxes[:, None, :2], other.boxes[None, :, :2])
    overlap = (np.minimum(one.boxes[:, None, 2:], other.boxes[None, :, 2:]) > corner).all(axis=2)
    apart[(one.classes[:, None] != other.classes[None]) | ~overlap] = np.inf
    pairs = []
    while np.isfinite(apart.min()):
        left, right = (int(place) for place in np.unravel_index(apart.argmin(), apart.shape))
        pairs.append((left, right))
        apart[left], apart[:, right] = np.inf, np.inf
    return pairs


def _edge(found: Detections, cut: Cut) -> float:
    """The score up to which a detection may be missing from the other side."""
    full = cut.most is not None and len(found) >= cut.most
    return (float(found.scores.min()) if full else cut.score) + SCORE_TOLERANCE


def _distinct(found: Sequence[Detections]) -> int:
    """Scores above LOW_SCORE that differ by more than the tolerance."""
    scores = np.concatenate([one.scores for one in found]) if found else np.zeros(0)
    return len(np.unique((scores[scores > LOW_SCORE] / SCORE_TOLERANCE).round()))
