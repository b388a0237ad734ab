"""How right pseudo labels are: by the hidden truth, which no learner gets to see, or by what a person has labelled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from leocod.boxes import pairwise_iou
from leocod.events import ClassCounts, PseudoLabelAudit, PseudoLabelCheck
from leocod.types import Detections, Labels


def audit_pseudo_labels(
    pseudo: Mapping[int, Labels], truth: Mapping[int, Labels], iou: float = 0.5
) -> PseudoLabelAudit:
    """Counts over all frames that the pseudo-labeller looked at: labels written, right ones, and objects there.

    precision = right / labels, recall = right / objects. Frames that are not in `truth` are not counted: nobody can
    tell how right their labels are.
    """
    known = [(labels, truth[frame]) for frame, labels in pseudo.items() if frame in truth]
    labels = Counter(number for one, _ in known for number in one.classes.tolist())
    right = Counter(number for one, true in known for number in one.classes[match_labels(one, true, iou)].tolist())
    objects = Counter(number for _, true in known for number in true.classes.tolist())
    return PseudoLabelAudit(
        frames=len(known),
        labels=labels.total(),
        right=right.total(),
        objects=objects.total(),
        by_class={
            number: ClassCounts(labels[number], right[number], objects[number]) for number in sorted(labels | objects)
        },
    )


def check_labels(found: Labels, given: Labels) -> PseudoLabelCheck:
    """What was found in a frame, by what a person says is there."""
    return PseudoLabelCheck(len(found), int(match_labels(found, given).sum()))


def match_labels(
    labels: Labels | Detections, truth: Labels | Detections, iou: float = 0.5
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
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
