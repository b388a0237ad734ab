"""How right pseudo labels were, compared with the hidden truth. No learner gets to see this."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from leocod.boxes import pairwise_iou
from leocod.events import PseudoLabelAudit
from leocod.types import Labels


def audit_pseudo_labels(
    pseudo: Mapping[int, Labels], truth: Mapping[int, Labels], iou: float = 0.5
) -> PseudoLabelAudit:
    """Counts over the pseudo-labelled frames: labels given, right ones, and objects that were there to find.

    precision = right / labels, recall = right / objects. Frames that are not in `truth` are not counted: nobody can
    tell how right their labels are.
    """
    known = {frame: labels for frame, labels in pseudo.items() if frame in truth}
    return PseudoLabelAudit(
        frames=len(known),
        labels=sum(len(labels) for labels in known.values()),
        right=sum(int(match_labels(labels, truth[frame], iou).sum()) for frame, labels in known.items()),
        objects=sum(len(truth[frame]) for frame in known),
    )


def match_labels(labels: Labels, truth: Labels, iou: float = 0.5) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """For each label: is there a true box of its class, IoU at least this, that no earlier label has taken?

    Greedy in the given order; each label takes the free true box it overlaps most.
    """
    right = np.zeros(len(labels), np.bool_)
    if not len(labels) or not len(truth):
        return right
    overlap = pairwise_iou(labels.boxes, truth.boxes)
    overlap[labels.classes[:, None] != truth.classes[None]] = -1.0
    for number in range(len(labels)):
        best = int(overlap[number].argmax())
        if overlap[number, best] >= iou:
            right[number] = True
            overlap[:, best] = -1.0
    return right
