"""Labelled frames in which the detector is least sure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from leocod.labelling.base import LabellerOptions, LearnerView, ScoringLabeller
from leocod.types import Detections, Frame


class UncertainOptions(LabellerOptions):
    """Options of asking where the detector is least sure."""

    score_above: float = Field(0.1, ge=0, lt=1)
    """Detections with a lower score do not count: a detector lists many things that it does not believe in."""


class UncertainLabeller(ScoringLabeller):
    """Asks for the frames whose detections are most doubtful, all together.

    The doubt of a detection is the entropy of its score, in bits: 1 at 0.5, 0 at 0 and 1. The score of a frame is the
    sum over its detections.

    Brust et al., Active Learning for Deep Object Detection, VISAPP 2019, compares sums, means and maxima.
    """

    Options: ClassVar[type[LabellerOptions]] = UncertainOptions
    options: UncertainOptions

    def score(self, frames: Sequence[Frame], learner: LearnerView) -> list[float]:
        return [_add_doubts(found.above(self.options.score_above)) for found in learner.predict(frames)]


def _add_doubts(found: Detections) -> float:
    chance = np.clip(found.scores.astype(np.float64), 1e-9, 1 - 1e-9)
    return float(-(chance * np.log2(chance) + (1 - chance) * np.log2(1 - chance)).sum())
