"""Labelled frames in which the detector is least sure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from leocod.labelling.base import LabellerOptions, LearnerView, ScoringLabeller
from leocod.types import Detections, Frame


class UncertainOptions(LabellerOptions):
    """Options of asking where the detector is least sure."""


class UncertainLabeller(ScoringLabeller):
    """Asks for the frames whose most doubtful detection is most doubtful: its score is nearest to 0.5.

    The score of a frame is the highest entropy of a detection's score, in bits: 1 at 0.5, 0 at 0 and 1. In a frame in
    which nothing is found it is 0.

    The sum would ask for crowded frames, which take a person longer.

    Brust et al., Active Learning for Deep Object Detection, VISAPP 2019, compares maximum, sum and mean.
    """

    Options: ClassVar[type[LabellerOptions]] = UncertainOptions

    def score(self, frames: Sequence[Frame], learner: LearnerView) -> list[float]:
        return [_find_most_doubtful(found) for found in learner.predict(frames)]


def _find_most_doubtful(found: Detections) -> float:
    chance = np.clip(found.scores.astype(np.float64), 1e-9, 1 - 1e-9)
    entropies = -(chance * np.log2(chance) + (1 - chance) * np.log2(1 - chance))
    return float(entropies.max(initial=0.0))
