"""The slow learner, as in the paper."""

from __future__ import annotations

from leocod.plugins.pseudo_labellers.base import PseudoLabeller, PseudoLabelRequest
from leocod.types import Detections


class Slow(PseudoLabeller):
    """The slow learner, as in the paper."""

    def detect(self, request: PseudoLabelRequest) -> list[Detections]:
        return request.slow(request.images)
