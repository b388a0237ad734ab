"""Detections become pseudo labels: those that the labeller is sure of, each object once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torchvision.ops import batched_nms

from leocod.types import Detections, Labels


def discount(found: Detections, around: Sequence[int], factor: float) -> Detections:
    """With scores times the factor for classes other than those around."""
    if factor == 1:
        return found
    scores = found.scores * np.where(np.isin(found.classes, around), 1.0, factor).astype(np.float32)
    best = np.argsort(-scores, kind="stable")
    return Detections(found.boxes[best], found.classes[best], scores[best])


def select_confident(
    found: Detections, *, above: float, unsure_above: float | None, nms_threshold: float, most: int
) -> Labels:
    """Labels of what has a score above `above`; what lies between the two scores is neither label nor background."""
    sure = suppress(found.above(above), nms_threshold, most)
    if unsure_above is None:
        return Labels(sure.boxes, sure.classes)
    possible = found.above(unsure_above)
    return Labels(sure.boxes, sure.classes, unsure=possible.boxes[possible.scores <= above])


def suppress(found: Detections, threshold: float, most: int) -> Detections:
    """The best ones, at most so many: of two of a class that overlap more than the threshold, the better one stays."""
    if len(found) < 2:
        return found
    best = batched_nms(
        torch.from_numpy(found.boxes), torch.from_numpy(found.scores), torch.from_numpy(found.classes), threshold
    ).numpy()[:most]
    return Detections(found.boxes[best], found.classes[best], found.scores[best])
