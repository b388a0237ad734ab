"""Compares the detections of two detectors. An exported file is written only if they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leocod.errors import InvalidRun, LeocodError
from leocod.networks.base import ReportingLimits
from leocod.text import pluralize
from leocod.types import Detections

BOX_TOLERANCE = 0.1
"""Pixels of the image by which a coordinate may differ."""
SCORE_TOLERANCE = 1e-4
DISTINCT_SCORES = 20
"""Different scores above LOW_SCORE that a comparison needs."""
LOW_SCORE = 0.05


class ExportDiffers(LeocodError):
    """An exported file does not detect what the detector detects."""


@dataclass(frozen=True)
class Comparison:
    """How close two detectors are to each other."""

    images: int = 0
    detections: int = 0
    """Found by both: of the same class, and nearest to each other."""
    distinct_scores: int = 0
    unmatched: int = 0
    """Found by one of them only."""
    at_the_limit: int = 0
    """Found by one of them only, but right at a reporting limit; not counted as unmatched."""
    box_difference: float = 0.0
    """The largest difference of a coordinate, in pixels, over the detections found by both."""
    score_difference: float = 0.0

    @property
    def is_close(self) -> bool:
        return not self.unmatched and self.box_difference <= BOX_TOLERANCE and self.score_difference <= SCORE_TOLERANCE

    @property
    def summary(self) -> str:
        """What was compared, and how close it is."""
        edge = f"; only one of them finds {self.at_the_limit} right at the lowest score" if self.at_the_limit else ""
        return (
            f"Compared on {pluralize(self.images, 'image')}: both find {pluralize(self.detections, 'detection')} with "
            f"{pluralize(self.distinct_scores, 'different score')}{edge}. Boxes differ by up to "
            f"{self.box_difference:.1g} px, scores by up to {self.score_difference:.1g}."
        )

    def require(self, file: str) -> None:
        """Raise unless the comparison shows that both detect the same."""
        if not self.is_close:
            raise ExportDiffers(
                f"{file} is not written: it does not detect what the detector detects. Over "
                f"{pluralize(self.images, 'image')} both find {pluralize(self.detections, 'detection')}, and only one "
                f"finds {self.unmatched} more; boxes differ by up "
                f"to {self.box_difference:.2g} px (allowed: {BOX_TOLERANCE}), scores by up to "
                f"{self.score_difference:.2g} (allowed: {SCORE_TOLERANCE}). Try another --format."
            )
        if self.distinct_scores < DISTINCT_SCORES:
            raise InvalidRun(
                f"{file} cannot be checked and is not written: {pluralize(self.images, 'image')} with "
                f"{pluralize(self.distinct_scores, 'different score')} above {LOW_SCORE}, and {DISTINCT_SCORES} are "
                "needed to compare. Give more pictures with --images, or a run that has learnt more."
            )


def compare_detections(
    expected: Sequence[Detections], actual: Sequence[Detections], limits: ReportingLimits
) -> Comparison:
    """Compare, one to one, what two detectors found in the same images. The order of detections does not matter.

    A detection found by one of them only counts as unmatched, unless its score is within the tolerance of a reporting
    limit: the other detector may have it just below. Nothing else depends on it, because suppression goes from better
    to worse scores, and at the limit there is nothing worse.
    """
    boxes, scores, unmatched, at_the_limit = [0.0], [0.0], 0, 0
    detections = 0
    for first, second in zip(expected, actual, strict=True):
        pairs = _match(first, second)
        detections += len(pairs)
        boxes += [float(np.abs(first.boxes[left] - second.boxes[right]).max()) for left, right in pairs]
        scores += [float(abs(first.scores[left] - second.scores[right])) for left, right in pairs]
        for found, matched in ((first, {left for left, _ in pairs}), (second, {right for _, right in pairs})):
            alone = [number for number in range(len(found)) if number not in matched]
            lowest = _lowest_score(found, limits)
            excused = sum(float(found.scores[number]) <= lowest for number in alone)
            at_the_limit += excused
            unmatched += len(alone) - excused
    return Comparison(
        images=len(expected),
        detections=detections,
        distinct_scores=_count_distinct_scores(expected),
        unmatched=unmatched,
        at_the_limit=at_the_limit,
        box_difference=max(boxes),
        score_difference=max(scores),
    )


def _match(first: Detections, second: Detections) -> list[tuple[int, int]]:
    """Pairs of the same class that overlap, nearest first, each detection once.

    After suppression, detections of one class are much farther from each other than the tolerance. Where two detectors
    agree, there is no doubt which detections belong together.
    """
    if not len(first) or not len(second):
        return []
    distance = np.abs(first.boxes[:, None] - second.boxes[None]).max(axis=2)
    corner = np.maximum(first.boxes[:, None, :2], second.boxes[None, :, :2])
    overlap = (np.minimum(first.boxes[:, None, 2:], second.boxes[None, :, 2:]) > corner).all(axis=2)
    distance[(first.classes[:, None] != second.classes[None]) | ~overlap] = np.inf
    pairs = []
    while np.isfinite(distance.min()):
        left, right = (int(place) for place in np.unravel_index(distance.argmin(), distance.shape))
        pairs.append((left, right))
        distance[left], distance[:, right] = np.inf, np.inf
    return pairs


def _lowest_score(found: Detections, limits: ReportingLimits) -> float:
    """The score up to which a detection may be missing from the other side."""
    is_full = limits.most is not None and len(found) >= limits.most
    return (float(found.scores.min()) if is_full else limits.score) + SCORE_TOLERANCE


def _count_distinct_scores(found: Sequence[Detections]) -> int:
    """Scores above LOW_SCORE that differ by more than the tolerance."""
    scores = np.concatenate([detections.scores for detections in found]) if found else np.zeros(0)
    return len(np.unique((scores[scores > LOW_SCORE] / SCORE_TOLERANCE).round()))
