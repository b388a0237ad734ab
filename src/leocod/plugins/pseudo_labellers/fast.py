"""The fast learner: it has learnt more of what is around, and forgotten more of the rest."""

from __future__ import annotations

from leocod.plugins.pseudo_labellers.base import PseudoLabeller, PseudoLabelRequest
from leocod.types import Detections


class Fast(PseudoLabeller):
    """The fast learner: it has learnt more of what is around, and forgotten more of the rest."""

    def detect(self, request: PseudoLabelRequest) -> list[Detections]:
        return request.fast(request.images)
