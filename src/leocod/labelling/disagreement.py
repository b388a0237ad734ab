"""Labelled frames about which the fast and the slow learner disagree most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from leocod.evaluation.audit import match_labels
from leocod.labelling.base import LabellerOptions, LearnerView, ScoringLabeller
from leocod.types import Detections, Frame


class DisagreementOptions(LabellerOptions):
    """Options of asking where the two learners disagree."""

    score_above: float = Field(0.3, ge=0, lt=1)
    """Detections with a lower score do not count."""


class DisagreementLabeller(ScoringLabeller):
    """Asks for the frames in which the fast and the slow learner see different things.

    The score is 1 - F1: 1 - 2 x detections that both have / detections of both together. Both have a detection if the
    class is the same and the IoU at least 0.5. A frame in which neither finds anything scores 0.

    Query by committee: Seung et al., COLT 1992. The two learners are a committee that is there anyway.
    """

    Options: ClassVar[type[LabellerOptions]] = DisagreementOptions
    options: DisagreementOptions

    def score(self, frames: Sequence[Frame], learner: LearnerView) -> list[float]:
        least = self.options.score_above
        pairs = zip(learner.predict_fast(frames), learner.predict(frames), strict=True)
        return [_compare(fast.above(least), slow.above(least)) for fast, slow in pairs]


def _compare(fast: Detections, slow: Detections) -> float:
    """From 0, all the same, to 1, nothing the same."""
    found = len(fast) + len(slow)
    return 1 - 2 * float(match_labels(fast, slow).sum()) / found if found else 0.0
