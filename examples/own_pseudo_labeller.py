"""A pseudo-labeller of one's own: it looks at each frame twice, and is sure of what it sees both times.

PYTHONPATH=examples leocod run --set efficient_cls.labeller=own_pseudo_labeller:Mirrored
"""

import numpy as np

from leocod import Detections, PseudoLabeller, PseudoLabelRequest, pairwise_iou

SAME = 0.5
"""Boxes of one object overlap by more than this IoU."""


class Mirrored(PseudoLabeller):
    """The slow learner looks at a frame and at its mirror image. A score is the mean of both looks."""

    def detect(self, request: PseudoLabelRequest) -> list[Detections]:
        mirrored = request.slow([np.ascontiguousarray(image[:, ::-1]) for image in request.images])
        looks = zip(request.images, request.slow(request.images), mirrored, strict=True)
        return [agree(found, mirror(again, image.shape[1])) for image, found, again in looks]


def mirror(found: Detections, width: int) -> Detections:
    """What was found in the mirror image, where it is in the frame."""
    left, top, right, bottom = found.boxes.T
    return Detections(np.stack([width - right, top, width - left, bottom], axis=1), found.classes, found.scores)


def agree(found: Detections, again: Detections) -> Detections:
    """The first look, each score averaged with the best score of its class that the second look has over it."""
    same = (pairwise_iou(found.boxes, again.boxes) > SAME) & (found.classes[:, None] == again.classes)
    second = np.where(same, again.scores, 0).max(axis=1, initial=0)
    scores = ((found.scores + second) / 2).astype(np.float32)
    best = np.argsort(-scores, kind="stable")
    return Detections(found.boxes[best], found.classes[best], scores[best])
